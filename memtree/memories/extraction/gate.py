"""What keeps a sentence from being a memory, whatever else it says."""

from __future__ import annotations

import re

from memtree.memories.extraction.candidates import SkipReason
from memtree.text import persona_card

LONGEST = 300  # characters of a sentence: as much as is shown of a memory
SHORTEST = 3  # words

_QUESTION = re.compile(
    r"[?？؟]\W*$"
    r"|^(?:what|why|how|who|whom|whose|which|where|when (?:is|are|do|does|did|will|can|should)|is"
    r"|are|am i"
    r"|was|were|do|does|did|can|could|would|will|should|shall|may i|have (?:you|i|we)|has"
    r"|any (?:idea"
    r"|ideas|tips|advice|suggestions?|thoughts))\b"
    r"|^(?:was|wie|warum|wer|wo|wann|welche\w*|kannst|könntest|est-ce|pourquoi|comment|qu'est"
    r"|quel\w*|qué"
    r"|cómo|cuál|cuándo|dónde|perché|come (?:si|posso|faccio)|o que|como (?:posso|faço)|hoe|waarom"
    r"|wat)\b"
)
_HYPOTHETICAL = re.compile(
    r"^(?:if|imagine|suppose|supposing|assume|assuming|say i|let's (?:say|pretend|imagine|suppose)"
    r"|what if"
    r"|pretend|in case|unless|wenn ich|falls|angenommen|stell dir|si (?:yo|j'|je)|imagina|supón"
    r"|se (?:io|eu)"
    r"|stel)\b|\b(?:hypothetically|theoretically|for the sake of argument)\b|\bif i (?:were|was"
    r"|had)\b"
    r"|\bi (?:wish|guess|suppose|might|may|could|would have|should have)\b|^(?:maybe|perhaps"
    r"|vielleicht"
    r"|peut-être|quizás|forse|talvez|misschien)\b|\bas if\b|\bpretend(?:ing)?\b"
)
_TRANSIENT = re.compile(
    r"\b(?:right now|at the moment|for now|in a (?:minute|moment|second|sec|hurry|rush)"
    r"|a (?:minute|moment"
    r"|second|few minutes) ago|brb|so far|this time|yet|again|gerade eben|en ce moment"
    r"|ahora mismo)\b"
)
_TROUBLE = re.compile(
    r"\b(?:errors?|exceptions?|traceback|crash(?:es|ed|ing)?|fail(?:s|ed|ing|ure)?|broken|breaks"
    r"|(?:doesn't"
    r"|does not|don't|isn't|not|won't|stopped) work\w*|bugs?|stuck|undefined|null|nan|segfault\w*"
    r"|warnings?"
    r"|stack ?trace|issues?|won't (?:start|run|compile|build|load)|(?:doesn't|won't) (?:compile"
    r"|build|load"
    r"|start|run)|returns?|timeouts?|times? out|hangs?|weird|exit code|line \d+|fehler|erreur"
    r"|fallo)\b"
)
_CODE = re.compile(
    r"[{}<>;=]|\w\(\)|\b\w+\.(?:py|js|ts|tsx|jsx|go|rs|java|cpp|rb|php|css|html|json|ya?ml|toml"
    r"|sql|sh|vue"
    r"|kt|cs|c|h)\b|\b(?:function|method|variable|class|regex|param(?:eter)?s?|argument|loop|array"
    r"|div|tuple"
    r"|dataframe|column|enum|struct|import|const|let|async|await|useeffect|usestate|stdout"
    r"|stderr)\b"
)
_VAGUE = re.compile(
    r"^(?:it|this|that|these|those|they|he|she|there|here|them|one|es|das|dies|c'est|ça|eso|esto"
    r"|isso|isto"
    r"|questo|quello|dat|dit|het)\b"
)
_REQUEST = re.compile(
    r"^(?:please|pls|plz|kindly|can you|could you|let's|lets|let us|help|i (?:need|want|would like"
    r"|'d like)"
    r" (?:you|help|to|a|an|the|some)|i'd (?:like|love) (?:you|to|a|an|the|some)|bitte|kannst|s'il"
    r"|por favor)\b"
    r"|^(?:add|fix|write|create|make|change|update|remove|delete|show|give|tell|explain|generate"
    r"|run|check"
    r"|find|list|summari[sz]e|translate|rewrite|implement|refactor|rename|move|use|try|look|read"
    r"|open|build"
    r"|test|debug|review|continue|go|do|describe|compare|convert|suggest|recommend|draft|plan"
    r"|design|set"
    r"|install|search|send|start|stop|put|turn|keep|take|provide|improve|optimi[sz]e|merge|commit"
    r"|push)\b"
)
_OTHERS = re.compile(
    r"^(?:my|our|the|a|some) (?:[\w-]+ ){1,3}(?:said|says|told|asked|asks|thinks|wants|keeps"
    r"|claims|believes"
    r"|suggested|mentioned|complained|insists)\b|^(?:he|she|they|people|everyone|somebody"
    r"|someone) \w+"
)
_MATERIAL = re.compile(
    r"\b(?:translate|summari[sz]e|proofread|proof-read|paraphrase|rewrite|rephrase|re-?word"
    r"|correct|edit|polish"
    r"|shorten|improve|analy[sz]e|review|grade|critique|check|fix the grammar|reply to|respond to"
    r"|answer"
    r"|classify|extract|continue|übersetze?|korrigiere?|fasse?|traduis|résume|corrige|traduce"
    r"|resume|traduci"
    r"|riassumi|correggi|traduza|resuma|vertaal|verbeter)\b[^\n]{0,120}(?::|\.\.\.)?[ ]{0,9}\n"
    r"|\b(?:here(?:'s| is| are)|below is|this is|following is) (?:my|the|an?|what|some)"
    r" [^\n]{0,60}(?:essay|draft|letter|e-?mail|text|article|paragraph|story|bio|post|message"
    r"|speech|review"
    r"|transcript|notes?|cv|resume|dialogue|conversation|poem|code|log|output|description|so far"
    r"|wrote|prompt"
    r"|rules|guidelines|instructions|spec|document|chat|passage|abstract)\b[^\n]{0,60}(?::|\n)"
    r"|\b(?:translate|übersetze?|traduis|traduce|traduci|traduza|vertaal|rephrase|proofread"
    r"|paraphrase|correct)"
    r"\b[^\n:]{0,60}:"
)
_SYSTEM = re.compile(
    r"^\W{0,4}(?:you are (?:an?|the|now) |you're an? |act as |your (?:task|role|job|goal|name) is"
    r"|system(?: prompt)?:|instructions?:|<\w|#{1,3} |du bist (?:ein|der|die)|tu es une? "
    r"|eres una? "
    r"|as an ai |respond only|output only|\[system)",
)
_STAGE = re.compile(
    r"(?:^|\s)\*[^*\n]{6,}\*(?=\s|$)|^[A-Z][\w .]{0,20}: \S[^\n]*\n+[A-Z][\w .]{0,20}: ", re.M
)
_PLAY = re.compile(
    r"\b(?:role-?play|in character|let's play (?:a|the)|dungeon master|once upon a time"
    r"|write (?:me )?(?:a|an"
    r"|the) (?:[\w-]+ ){0,4}(?:story|scene|dialogue|screenplay|novel|chapter|monologue|fanfic\w*)"
    r"|rollenspiel|schreib\w* (?:mir )?eine geschichte|you play|you'll play|i play (?:a|an|the)"
    r" (?:character|role)|your character|my character|pretend (?:you|to be|that))\b",
    re.I,
)
_BEGINNING = 2_000  # characters that tell what kind of message it is


def message_reason(text: str) -> SkipReason | None:
    """Why nothing of a message is the user's own word about themselves; None where it may be."""
    head = text[:_BEGINNING]
    if persona_card.is_card(text) or _PLAY.search(head) or _STAGE.search(head):
        return SkipReason.FICTION
    if _SYSTEM.match(head.lower()):
        return SkipReason.SYSTEM_TEXT
    return None


def own_words_end(text: str) -> int:
    """Where the user begins to hand over material: "Translate this:", and then somebody's text."""
    match = _MATERIAL.search(text.lower()) if len(text.lower()) == len(text) else None
    return match.end() if match else len(text)


def statement_reason(lower: str) -> SkipReason | None:
    """Why a sentence in lower case is no statement that lasts; None where it may be one."""
    if len(lower) > LONGEST:
        return SkipReason.LONG
    if _QUESTION.search(lower):
        return SkipReason.QUESTION
    if _HYPOTHETICAL.search(lower):
        return SkipReason.HYPOTHETICAL
    if _VAGUE.match(lower) or lower.count(" ") + 1 < SHORTEST:
        return SkipReason.VAGUE
    if _TRANSIENT.search(lower):
        return SkipReason.TRANSIENT
    if _TROUBLE.search(lower) or _CODE.search(lower):
        return SkipReason.CODE
    return None


def other_reason(lower: str) -> SkipReason:
    """What a sentence is that no rule takes for a memory."""
    if _REQUEST.match(lower):
        return SkipReason.REQUEST
    if _OTHERS.match(lower):
        return SkipReason.OTHERS
    return SkipReason.NOT_ABOUT_USER

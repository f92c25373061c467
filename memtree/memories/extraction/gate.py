"""Gate that keeps a sentence from being a memory, whatever else it says."""

from __future__ import annotations

import re

from memtree.memories.extraction import fiction
from memtree.memories.extraction.candidates import SkipReason
from memtree.memories.extraction.statements import other_languages
from memtree.text.lazy_patterns import lazily
from memtree.text.requests import asks

LONGEST = 300  # characters of a sentence: as much as is shown of a memory
SHORTEST = 3  # words

_QUESTION = lazily(
    r"[?？؟]\W*$|^(?:what|why|how|who|whom|whose|which|where|when (?:is|are|do|does|did|will|can"
    r"|should)|is|are|am i|was|were|do|does|did|can|could|would|will|should|shall|may i"
    r"|have (?:you|i|we)|has|any (?:idea|ideas|tips|advice|suggestions?|thoughts))\b"
)
_HYPOTHETICAL = lazily(
    r"^(?:if|imagine|suppose|supposing|assume|assuming|say i|let's (?:say|pretend|imagine"
    r"|suppose)|what if|pretend|in case|unless)\b|\b(?:hypothetically|theoretically"
    r"|for the sake of argument)\b|\bif (?:i (?:were|was|had)|that's|it's|that is|possible)\b"
    r"|\bi (?:wish|guess|suppose|might|may|could|would have|should have)\b|^(?:maybe|perhaps)\b"
    r"|\bas if\b|\bpretend(?:ing)?\b"
)
_TRANSIENT = lazily(
    r"\b(?:right now|at the moment|for now|in a (?:minute|moment|second|sec|hurry|rush)"
    r"|a (?:minute|moment|second|few minutes) ago|brb|so far|this time|today|tonight"
    r"|this (?:morning|afternoon|evening)|in \d+ (?:minutes?|mins?|seconds?|hours?)|yet|again"
    r"|gerade eben|en ce moment|ahora mismo)\b"
)
_MOOD = lazily(
    r"\b(?:stressed|exhausted|overwhelmed|no idea|im stress|keine ahnung)\b|^(?:i'm|i am|im|i was"
    r"|i've been|we're|we are) (?:(?:kinda|kind of|really|a bit|also|just|still|so|very|pretty"
    r"|currently|now|always|getting|feeling) )*(?:worried|struggling|having (?:trouble"
    r"|a hard time|problems|issues|difficulty)|feeling|thinking (?:of|about)|wondering|trying"
    r"|curious|unsure|not sure|confused|anxious|nervous|excited|happy|sad|glad|sorry|tired|sick"
    r"|ill|busy|stuck|hungry|thirsty|bored|cold|hot|late|early|back|here|home|lost|ready|done"
    r"|off to"
    r"|about to|on my way|in (?:a meeting|the car|traffic|bed)|running late|at the (?:airport"
    r"|station"
    r"|office|gym|doctor\S*|hospital|store|shop|moment)|getting|seeing|waiting|looking (?:forward"
    r"|at|into))\b|^looking forward"
    r"|^my (?:\w+ )?(?:head|back|feet|stomach|throat|tooth|eyes) (?:is|are|hurts?|aches?|itch\w*)\b"
    r"|^i (?:just )?(?:had|ate|finished|made|skipped) (?:my )?(?:lunch|dinner|breakfast|coffee"
    r"|a coffee)"
    r"|^i just (?:woke|got (?:back|home)|arrived|landed|came)|^my [\w ]{2,20} is at \d+ ?(?:%"
    r"|percent)"
)
_JOINT = lazily(r",? (?:and|but|so) |, |; ")
_TROUBLE = lazily(
    r"\b(?:\w*errors?|\w*exceptions?|traceback|crash(?:es|ed|ing)?|fail(?:s|ed|ing|ure)?|broken"
    r"|breaks"
    r"|(?:doesn't|does not|don't|isn't|not|won't|stopped) work\w*|bugs?|stuck|undefined|null|nan"
    r"|segfault\w*|warnings?|stack ?trace|issues?|won't (?:start|run|compile|build|load)"
    r"|(?:doesn't|won't) (?:compile|build|load|start|run)|returns?|timeouts?|times? out|hangs?"
    r"|weird|exit code|line \d+|fehler|erreur|fallo)\b"
)
_CODE = lazily(
    r"[{}<>;=]|\w\(\)|\b\w+\.(?:py|js|ts|tsx|jsx|go|rs|java|cpp|rb|php|css|html|json|ya?ml|toml"
    r"|sql|sh|vue|kt|cs|c|h)\b|\b(?:function|variable|regex|param(?:eter)?s?|argument|loop|array"
    r"|div|tuple|dataframe|column|enum|struct|import|const|async|await|useeffect|usestate|stdout"
    r"|stderr)\b"
)
_VAGUE = lazily(
    r"^(?:the (?:one|ones|other|others|rest|same)|it|this|that|these|those|they|he|she|there|here"
    r"|them|one|es|das|dies|c'est|ça|eso|esto|isso|isto|questo|quello|dat|dit|het)\b"
)
# "I moved there": where it stands early, nothing before it says what is meant.
_DANGLING = lazily(
    r"(?:[^\s,.;]+ ){1,4}(?:this|it|them|him|there|these|those|that (?:off|on|out|up|down|away"
    r"|last|yesterday))(?![\w'-]| (?:is|are|'s|days)\b)"
)
_VAGUELY = lazily(
    r"\b(?:about|on|with|of|for|to|from|in|at|handle|by|write|use) (?:this|that)\b(?! (?:year"
    r"|month|week|spring|summer|autumn|fall|winter|weekend|project|repo|company|team))"
    r"|\b(?:for a while|(?:\d+|one|two|some|many) more|of (?:those|these|them|it)"
    r"|a lot of (?:things|stuff)|some (?:things|stuff))\b|\bor something\b|\bthis (?:file|test"
    r"|code|function|page|script|bug|error|issue|repo|branch|one|way|message|list|table|text"
    r"|chapter|problem|step|example|command|line)\b|^(?:[^\s,.;]+ ){1,6}(?:with|to|for|from|of"
    r"|about|by) (?:them|him|it)\b"
)
# A character of a script without spaces counts as a word.
_WORD = lazily(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]+|\d+|[\u3040-\u30ff\u3400-\u9fff]")
_TO_SOMEBODY = lazily(r"\b(?:you|your|yours|you're|u|ur)\b")
_REQUEST = lazily(
    r"^(?:please|pls|plz|kindly|can you|could you|let's|lets|let us|help|i (?:need|want"
    r"|would like|'d like) (?:you|help|to|a|an|the|some)|i'd (?:like|love) (?:you|to|a|an|the"
    r"|some))\b|^(?:add|fix|write|create|make|change|update|remove"
    r"|delete|show|give|tell|explain|generate|run|check|find|list|summari[sz]e|translate|rewrite"
    r"|implement|refactor|rename|move|use|try|look|read|open|build|test|debug|review|continue|go"
    r"|do|describe|compare|convert|suggest|recommend|draft|plan|design|set|install|search|send"
    r"|start|stop|put|turn|keep|take|provide|improve|optimi[sz]e|merge|commit|push)\b"
)
_OTHERS = lazily(
    r"^(?:my|our|the|a|some) (?:[\w-]+ ){1,3}(?:said|says|told|asked|asks|thinks|wants|keeps"
    r"|claims|believes|wrote|writes|emailed|texted|messaged|reminded|warned|suggested|mentioned"
    r"|complained|insists|wrote|writes|emailed|texted|messaged|reminded|warned)\b|^(?:he|she|they"
    r"|people|everyone"
    r"|somebody|someone) \w+"
)
_SYSTEM = lazily(
    r"^\W{0,4}(?:you are (?:an?|the|now) |you're an? |(?:i want you to |please )?act as "
    r"|(?:i want you to |please )(?:be|play) (?:a|an|the|my) |your (?:task|role|job|goal|name) is"
    r"|system(?: prompt)?:|instructions?:|du bist (?:ein|der|die)|tu es une? |eres una? "
    r"|as an ai |(?:please )?(?:summari[sz]e|create a (?:\w+ )?summary of) (?:this|the"
    r"|our) (?:session|conversation|chat|thread|above)|(?:generate|write|create"
    r"|suggest) a (?:\w+ )?title\b|respond only|output only|\[system)",
)
_HANDS_OVER = lazily(
    r"(?:(?:please|pls|can you|could you|help me|now|ok|hi|hey),? ){0,3}(?:rewrite|rephrase"
    r"|reword|paraphrase|edit|polish|shorten|translate|proof-?read|summari[sz]e|correct|critique"
    r"|classify|tl;?dr)\b[^\n]{0,120}$"
)
_PRIVATE = lazily(
    r"\b\d(?:[ -]?\d){12,18}\b|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}\b|\b(?:cvv|cvc|ssn"
    r"|social security|pin(?: code)? (?:is|:)|pass(?:word|code|phrase)s?|passwort|kennwort"
    r"|mot de passe|contraseña|senha|wachtwoord|card number|passport number)\b",
    re.IGNORECASE,
)
_PASSING = frozenset(
    {SkipReason.HYPOTHETICAL, SkipReason.FICTION, SkipReason.TRANSIENT, SkipReason.CODE}
)


def handed_over(own: str, spans: int) -> int:
    """How many spans of a message are the user's: the first alone where it asks to do something
    with a text, which follows it."""
    return 1 if _HANDS_OVER.match(own.lower()) else spans


def is_private(sentence: str) -> bool:
    """Return True if it holds what is nobody else's business in any prompt: numbers of cards and
    accounts, passwords, PINs."""
    return _PRIVATE.search(sentence) is not None


def message_reason(text: str, own: str = "") -> SkipReason | None:
    """Why nothing of a message is the user's own word about themselves; None where it may be.
    `own`: where the user's own words begin, behind what clients put in front of them."""
    head = text[: fiction.BEGINNING]
    # A persona card has no own words, and to look for one takes a tenth of the time.
    play = fiction.sets_up_play(head) if own else fiction.is_role_play(text)
    if play or fiction.is_made_up(head):
        return SkipReason.FICTION
    if _SYSTEM.match((own or head)[: fiction.BEGINNING].lower()):
        return SkipReason.SYSTEM_TEXT
    return None


def refused(lower: str) -> SkipReason | None:
    """Why a sentence in lower case is no statement of its own; None where it may be one."""
    if len(lower) > LONGEST:
        return SkipReason.LONG
    if _QUESTION.search(lower):
        return SkipReason.QUESTION
    if _HYPOTHETICAL.search(lower):
        return SkipReason.HYPOTHETICAL
    if fiction.is_fictional(lower):
        return SkipReason.FICTION
    if _VAGUE.match(lower):
        return SkipReason.VAGUE
    if _MOOD.search(lower):
        return SkipReason.TRANSIENT
    if _DANGLING.match(lower) or _VAGUELY.search(lower) or _TO_SOMEBODY.search(lower):
        return SkipReason.VAGUE
    if _TROUBLE.search(lower) or _CODE.search(lower):
        return SkipReason.CODE
    return other_languages.refused(lower)


def lasting(lower: str) -> str:
    """A statement without what holds for now only; empty where nothing of it lasts.

    >>> lasting("i teach maths in leeds and my class is loud right now")
    'i teach maths in leeds'
    """
    match = _TRANSIENT.search(lower)
    if match is None:
        return lower
    joints = [joint.start() for joint in _JOINT.finditer(lower, 0, match.start())]
    return lower[: joints[-1]] if joints and lower.count(" ", 0, joints[-1]) + 1 >= SHORTEST else ""


def passing(lower: str) -> SkipReason | None:
    """Return why a statement in lower case is passing, where it is a task, a guess or a step of the
    work at hand: what models note as well. Looser than `refused`, since a model may know what "it"
    is.

    >>> str(passing("rename the variable and run the tests")), passing("i teach maths in leeds")
    ('request', None)
    """
    if _REQUEST.match(lower):
        return SkipReason.REQUEST
    reason = refused(lower)
    if reason in _PASSING:
        return reason
    return None if lasting(lower) else SkipReason.TRANSIENT


def is_own(lower: str) -> bool:
    """Return False if a sentence in lower case asks for something or is about somebody else."""
    return not (_REQUEST.match(lower) or _OTHERS.match(lower))


def other_reason(lower: str) -> SkipReason:
    """Return what a sentence is that no rule takes for a memory."""
    if _REQUEST.match(lower):
        return SkipReason.REQUEST
    if _OTHERS.match(lower):
        return SkipReason.OTHERS
    if len(_WORD.findall(lower)) < SHORTEST:
        return SkipReason.VAGUE
    beginning = " ".join(lower.split(maxsplit=2)[:2])
    return SkipReason.REQUEST if asks(beginning) else SkipReason.NOT_ABOUT_USER

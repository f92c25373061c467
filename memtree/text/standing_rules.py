"""Standing rules: sentences of a user's message that say how every later answer should be.

A sentence outside code counts when it starts with always / never + a verb of answering, or holds
"from now on", "going forward", "whenever I ask", "I want you to always", "you must always" and
the like (DESIGN section 8). Such a sentence is pinned, so precision comes before recall.
What this file does not do: find preferences ("I prefer") or imperatives about code.

    >>> text = "Thanks! Always include units when I ask about sizes. Now, the list."
    >>> [text[start:end] for start, end in standing_rules(text)]
    ['Always include units when I ask about sizes.']
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_RULE = 600  # characters; a longer "sentence" is pasted text

_VERBS = (
    "answer|respond|reply|include|use|format|provide|explain|show|give|mention|write|confirm|"
    "highlight|add|ask|avoid|begin|call|check|cite|clarify|compare|convert|describe|display|"
    "document|emphasi[sz]e|end|ensure|follow|generate|indicate|insert|keep|label|limit|link|"
    "list|make|mask|note|offer|omit|output|point|prefer|present|print|prioriti[sz]e|quote|recommend|"
    "refer|reference|remember|remind|repeat|return|round|say|sign|skip|specify|speak|spell|start|"
    "state|suggest|summari[sz]e|talk|tell|translate|verify|warn"
)
_LEAD = (
    r"(?:(?:and|also|but|so|ok(?:ay)?|oh|please|kindly|remember|important|note|rule)\b"
    r"[\s,:!-]*){0,3}"
)
_RULE = re.compile(
    rf"^{_LEAD}(?:to\s+)?(?:always|never)\s+(?:please\s+)?(?:{_VERBS})\b"
    rf"|^{_LEAD}(?:make sure|be sure|ensure|remember)\s+(?:that\s+you\s+|you\s+|to\s+)?"
    r"(?:always|never)\b"
    r"|\b(?:i(?:'d|’d| would)? (?:want|need|like|expect|ask|prefer)(?: that)? you (?:to )?"
    r"(?:always|never)"
    r"|you (?:must|should|shall|have to|need to|are to|will) (?:always|never)"
    r"|(?:can|could|would|will) you (?:please )?always)\b"
    r"|\b(?:from now on(?:wards?)?|from here on(?: out)?|going forward|"
    r"(?:whenever|every time|each time|any time|anytime) i "
    r"(?:ask|say|mention|request|type|write))\b"
    r"|\bwhen(?:ever)? i ask\b.{0,80}\b(?:always|never)\b"
    r"|\b(?:always|never)\b.{0,80}\bwhen(?:ever)? i ask\b"
    r"|^(?:ab sofort|ab jetzt|von nun an|à partir de maintenant|dorénavant|a partir de ahora|"
    r"de ahora en adelante|a partir de agora|впредь|отныне)\b"
    r"|从现在(?:开始|起)|今後は|これからは|앞으로는",
    re.IGNORECASE,
)
# About the user's own doings, or a plan, or a quoted rule: not a rule for the answers.
_NOT_RULE = re.compile(
    r"\b(?:i(?:'ve|’ve| have| had)? (?:been )?(?:told|instructed|decided|agreed|promised|planned)"
    r"|(?:the|this|that|your|an?) (?:user )?(?:instruction|rule|requirement|advice)s? to\b"
    r"|how (?:can|do|should|would|could|might) (?:i|we)\b"
    r"|(?:improve|handle|plan|approach|proceed|manage|apply|adjust|maintain|do|use|avoid|prevent) "
    r"(?:\w+ ){0,6}going forward\b"
    r"|(?:i|we|he|she|they)"
    r"(?:'ll|’ll| will|'m going to|’m going to| should| can| could| need to| want to) "
    r"(?!you\b)(?:\w+ ){0,12}(?:from now on|going forward))",
    re.IGNORECASE,
)
_ADDRESSED = re.compile(
    r"\b(?:you|your|please|me|always|never|don'?t|don’t)\b"
    rf"|^(?:{_LEAD})(?:from now on|going forward)"
    rf"[,:]?\s+(?:{_VERBS})\b|^(?:{_VERBS})\b|[^\x00-\x7f]{{3}}",
    re.IGNORECASE,
)
_LOOSE = re.compile(r"from now on|from here on|going forward", re.IGNORECASE)
_MARKERS = (
    "always", "never", "from now on", "from here on", "going forward", "i ask", "time i ",
    "whenever i ",
    "ab sofort", "ab jetzt", "von nun an", "partir de", "dorénavant", "ahora en adelante",
    "впредь", "отныне", "从现在", "今後は", "これからは", "앞으로는",
)  # fmt: skip
_CODE = re.compile(r"```[\s\S]*?(?:```|\Z)|~~~[\s\S]*?(?:~~~|\Z)|`[^`\n]*`")
_BLOCK = re.compile(r"(?:\A|\n)(?:[ ]{4,}|\t|[ ]{0,3}>|[ ]{0,3}#{4,})[^\n]*")
_LOG = re.compile(
    r"^\W{0,3}(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d"
    r"|(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE)\b|at \S+\()"
)
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)]|#{1,3})\s+|\s+")
# Possessive, so that a run of marks is read twice at most, however it goes on.
_SENTENCE = re.compile(
    r"[^\n](?:[^\n.!?。！？]++|[.!?]++[\"'”’)*_]*+(?!\s|$))*+"
    r"(?:[.!?]++[\"'”’)*_]*+|[。！？]+|(?=\n)|$)",
    re.MULTILINE,
)


def standing_rules(text: str) -> tuple[tuple[int, int], ...]:
    """(start, end) in characters of every standing rule in a user's message, in order."""
    lower = text.lower()
    if not any(marker in lower for marker in _MARKERS):
        return ()
    plain = _BLOCK.sub(_blank, _CODE.sub(_blank, text))
    return tuple(span for span in _sentences(plain) if _is_rule(plain[span[0] : span[1]]))


def _sentences(plain: str) -> Iterator[tuple[int, int]]:
    for match in _SENTENCE.finditer(plain):
        start, end = match.span()
        item = _ITEM.match(plain, start, end)
        start = item.end() if item else start
        while end > start and plain[end - 1].isspace():
            end -= 1
        while start < end and plain[start] in "\"'“‘*_( ":
            start += 1
        if start < end:
            yield start, end


def _is_rule(sentence: str) -> bool:
    if len(sentence) > MAX_RULE or not (rule := _RULE.search(sentence)):
        return False
    if _LOG.match(sentence) or _NOT_RULE.search(sentence):
        return False
    if _LOOSE.fullmatch(rule.group()):  # says when, not yet to whom
        return _ADDRESSED.search(sentence) is not None and not sentence.endswith("?")
    return True


def _blank(match: re.Match[str]) -> str:
    """Spaces instead of code, so that positions stay; line breaks stay line breaks."""
    return "".join("\n" if char == "\n" else " " for char in match.group())

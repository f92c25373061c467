"""Keep a sentence from being a memory, whatever else it says, and name the reason."""

from __future__ import annotations

import re

from memtree.language.word_file import WordFile, lazily
from memtree.statements import fiction, grammar
from memtree.statements.grammar import SkipReason
from memtree.text.request_words import asks

_DATA = WordFile("all", "memory_gate")

LONGEST = 300  # characters of a sentence: as much as is shown of a memory
SHORTEST = 3  # words

_QUESTION = _DATA.pattern("question")
_HYPOTHETICAL = _DATA.pattern("hypothetical")
_TRANSIENT = _DATA.pattern("transient")
_MOOD = _DATA.pattern("mood")
_JOINT = lazily(r",? (?:and|but|so) |, |; ")
# "..., but not right now": it denies the statement before it.
_DENIES = lazily(r"[,;]? (?:(?:and|but|so|just|well,?) )*(?:not|never|no longer)\b")
_TROUBLE = _DATA.pattern("trouble")
_CODE = _DATA.pattern("code")
_VAGUE = _DATA.pattern("vague")
# "I moved there": where it stands early, nothing before it says what is meant.
_DANGLING = _DATA.pattern("dangling")
_VAGUELY = _DATA.pattern("vaguely")
# A character of a script without spaces counts as a word.
_WORD = lazily(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]+|\d+|[\u3040-\u30ff\u3400-\u9fff]")
_TO_SOMEBODY = lazily(r"\b(?:you|your|yours|you're|u|ur)\b")
_REQUEST = _DATA.pattern("request")
_OTHERS = _DATA.pattern("others")
_SYSTEM = _DATA.pattern("system")
_PRIVATE = _DATA.pattern("private", re.IGNORECASE)
_PASSING = frozenset(
    {SkipReason.HYPOTHETICAL, SkipReason.FICTION, SkipReason.TRANSIENT, SkipReason.CODE}
)


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
    return grammar.refused(lower)


def lasting(lower: str) -> str:
    """A statement without what holds for now only; empty where nothing of it lasts.

    >>> lasting("i teach maths in leeds and my class is loud right now")
    'i teach maths in leeds'
    >>> lasting("i live in leeds, but not right now")
    ''
    """
    match = _TRANSIENT.search(lower)
    if match is None:
        return lower
    joints = [joint.start() for joint in _JOINT.finditer(lower, 0, match.start())]
    if not joints or lower.count(" ", 0, joints[-1]) + 1 < SHORTEST:
        return ""
    return "" if _DENIES.match(lower, joints[-1]) else lower[: joints[-1]]


def passing(lower: str) -> SkipReason | None:
    """Return the reason why a statement in lower case will not last: it is a task, a guess or a
    step of the work at hand, as models note them, too. None where it may last. Looser than
    `refused`, since a model may know what "it" is.

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

"""Tell which statements of people about themselves are worth keeping, and where they stand.

In English these are facts about who the user is and how they live, what they like and decided on,
goals, and what is to be kept in mind by the user's own word. The patterns know an English sentence
in one form (`plain`): "I" is who speaks, also where it is "my wife Ingrid and I" or "we", and
nothing is denied.

    >>> plain("me and my partner jo don't have a car")
    'i have a car'
    >>> plain("my flat doesn't have a balcony")
    'my flat has a balcony'

Other languages have a grammar each, the data file `memory_statements`, with patterns for statements
that are kept, by their category, and for sentences that are none, by their reason. A pattern is for
the beginning of a sentence in lower case.

    >>> category_of("ich habe zwei katzen"), str(refused("ich bin so müde"))
    ('fact', 'transient')

A statement may be a part of a sentence: `heads`, `later` and `spliced` find where it begins and
ends.

    >>> next(heads("i'm allergic to nuts, so what can i bake?"))
    "i'm allergic to nuts"
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from itertools import islice

from memtree.language.word_file import WordFile, WordFiles, languages_with, lazily


class SkipReason(StrEnum):
    """Why a sentence of a message is no memory."""

    QUESTION = "question"
    REQUEST = "request"  # one task for the assistant
    HYPOTHETICAL = "hypothetical"
    QUOTED = "quoted"  # text that the user hands over: to be translated, summarised, corrected
    CODE = "code"  # about code under discussion
    OTHERS = "about_others"  # what others say or do
    FICTION = "fiction"  # stories and role-play
    TRANSIENT = "transient"  # true today: a mood, a step of a session
    LONG = "too_long"
    VAGUE = "too_vague"  # it, this, they: nobody knows later what was meant
    SECRET = "secret"
    DUPLICATE = "duplicate"  # said twice in this message
    CAP = "cap"  # one message gives so many memories and no more
    NOT_ABOUT_USER = "not_about_user"
    OFF_RECORD = "off_record"  # of a message that says that nothing of it is to be kept
    SYSTEM_TEXT = "system_text"  # a system prompt or rules file that a client put into the message


@dataclass(frozen=True, slots=True)
class Skip:
    start: int
    end: int
    reason: SkipReason


UNSPACED = ("ja", "zh")
CATEGORIES = ("preference", "fact", "general")
REASONS = (
    SkipReason.HYPOTHETICAL, SkipReason.QUESTION, SkipReason.CODE, SkipReason.REQUEST,
    SkipReason.TRANSIENT, SkipReason.OTHERS, SkipReason.VAGUE,
)  # fmt: skip
_UNSPACED_LETTER = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_EVERYWHERE = WordFiles("memory_statements", without=("en",))
# What passes, what is at hand, and what is somebody else's, in any of them.
_PASSING = _EVERYWHERE.pattern("passes", shaped=lambda words: rf"\b(?:{words})\b")

_CONDITIONAL = _EVERYWHERE.pattern("conditional", shaped=lambda words: rf"\s?(?:{words})\b")


def lead(lower: str) -> int:
    """Return where the sentence begins behind a greeting or a joint of its own language, 0 where it
    has none. What opens a sentence in one language may be a part of it in another: French "non" is
    the Italian "not". So the grammar of the opener's language has to know what follows it.

    >>> lead("non, je mange de la viande"), lead("non mangio carne")
    (5, 0)
    """
    for opener, grammar in _openers():
        match = opener.match(lower)
        if match and grammar.match(lower, match.end()):
            return match.end()
    return 0


def refused(lower: str) -> SkipReason | None:
    """Return why a sentence in lower case is no statement of its own; None where it may be one."""
    reason = _first(lower, REASONS)
    return SkipReason(reason) if reason else None


def category_of(lower: str) -> str:
    """Return `fact`, `preference` or `general`; empty where the sentence is none of them."""
    return "" if _PASSING.search(lower) else _first(lower, CATEGORIES)


def is_unspaced(text: str) -> bool:
    """Return True if a text has letters of a script that is written without spaces."""
    return not text.isascii() and _UNSPACED_LETTER.search(text) is not None


def _first(lower: str, names: Sequence[str]) -> str:
    patterns = _patterns(is_unspaced(lower))
    return next((str(name) for name in names if patterns[name].match(lower)), "")


@cache
def _openers() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """For each language with openers, the pattern of these and that of its whole grammar."""
    files = [WordFile(each, "memory_statements") for each in languages_with("memory_statements")]
    return tuple(
        (file.pattern("lead", shaped=_repeated), lazily(partial(_grammar, file)))
        for file in files
        if "lead" in file.names()
    )


def _repeated(words: str) -> str:
    return rf"(?:(?:{words})\b[\s,:;.!–—-]*+)++"


def _grammar(file: WordFile) -> str:
    return "|".join(file.part(name) for name in (*CATEGORIES, *REASONS))


@cache
def _patterns(unspaced: bool) -> dict[str, re.Pattern[str]]:
    """One pattern for each name, for all languages of these scripts."""
    known = languages_with("memory_statements")
    kept = tuple(each for each in known if (each in UNSPACED) == unspaced)
    grammars = WordFiles("memory_statements", kept, without=("all", "en"))
    return {name: grammars.pattern(name) for name in (*CATEGORIES, *REASONS)}


# -- facts -------------------------------------------------------------------------------------

_FACTS = WordFile("en", "memory_facts")
_WE, _PROJECT = _FACTS.pattern("we"), _FACTS.pattern("project")
_NAMES = """
    never abstains habit terse limits we_are body
    self people traits life we project tools owned
""".split()
_PATTERNS = tuple(map(_FACTS.pattern, _NAMES))


def is_fact(lower: str) -> bool:
    """Return True if a sentence in lower case begins as a lasting fact about the user."""
    return any(pattern.match(lower) for pattern in _PATTERNS)


def is_practice(lower: str) -> bool:
    """Return True if it tells how a team works or what a project is made of: "we deploy on Fridays"
    is no appointment."""
    return _WE.match(lower) is not None or _PROJECT.match(lower) is not None


# -- preferences -------------------------------------------------------------------------------

_PREFERENCES = WordFile("en", "memory_preferences")
# What is liked in a chat is often the last answer, which nobody sees later.
_LIKES = _PREFERENCES.pattern("likes")
_DECIDED = _PREFERENCES.pattern("decided")


def is_preference(lower: str) -> bool:
    return _LIKES.match(lower) is not None


def is_decision(lower: str) -> bool:
    return _DECIDED.match(lower) is not None


# -- goals and events --------------------------------------------------------------------------

_DATA = WordFile("en", "memory_goals")
_GOALS = _DATA.pattern("goals")
_KEEP = _DATA.pattern("keep")
_KEPT_NOT = _DATA.pattern("kept_not")

_AT_ONCE = _DATA.pattern("at_once")
# What happened to the user, where it is more than a step of the day.
_MILESTONES = _DATA.pattern("milestones")
_OUTINGS = _DATA.pattern("outings")
_OUTINGS_NOT = _DATA.pattern("outings_not")
_DATED = _DATA.pattern("dated")


def is_event(lower: str) -> bool:
    """Return True if a sentence in lower case tells what happened to the user, beyond this day."""
    if _MILESTONES.match(lower):
        return True
    if not _OUTINGS.match(lower) or _OUTINGS_NOT.search(lower):
        return False
    return _DATED.search(lower) is not None


def is_goal(lower: str) -> bool:
    return _GOALS.match(lower) is not None and not _AT_ONCE.search(lower)


def kept_in_mind(lower: str) -> int:
    """Where the statement begins in "remember that ..."; 0 where the sentence is none."""
    match = _KEEP.match(lower)
    if not match or _KEPT_NOT.match(lower, match.end()):
        return 0
    return match.end()


_PLAIN = WordFile("en", "memory_plain_form")

# Group `name` is the relative's.
WITH_MINE = _PLAIN.pattern("with_mine", re.IGNORECASE)
_MINE_BOTH = _PLAIN.pattern("mine_both")
_WE_DO = _PLAIN.pattern("we")
_SHARE = re.compile(r"^(?:neither|none|both|one|two|some|all) of (?=(?:my|our)\b)")
_SINGULAR = re.compile(r"^(use|eat|speak|drink)s\b")  # "nobody eats pork"
_MORE = r"(?:(?:really|actually|currently|still|also|personally|just|ever|even|at all) )*"
_OWN = r"((?:my|our) (?:[\w'-]+ ){1,3}?)"
_DENIED = (
    (re.compile(r"i(?:'ve| have)? never had (?=\w)"), "i have "),
    (re.compile(r"i(?: haven't| have not| havent)(?= got\b)"), "i have"),
    (re.compile(rf"i (?:don't|dont|do not|can't|cannot|no longer|never) {_MORE}(?=\w)"), "i "),
    (re.compile(rf"(i(?:'m|m| am)) {_MORE}(?:not|no longer|never) {_MORE}(?=\w)"), r"\1 "),
    (re.compile(rf"{_OWN}(?:doesn't|does not|doesnt) have\b"), r"\1has"),
    (re.compile(rf"{_OWN}(?:isn't|is not|isnt)\b"), r"\1is"),
    (re.compile(rf"{_OWN}(?:aren't|are not|arent)\b"), r"\1are"),
)


def plain(lower: str) -> str:
    """Return the sentence, in lower case, as one about "i" that denies nothing. The rest of its
    words stay as they are."""
    lower = _SHARE.sub("", lower, count=1)
    joint = WITH_MINE.match(lower) or _MINE_BOTH.match(lower)
    if joint:
        lower = f"we {lower[joint.end() :]}"
    we = _WE_DO.match(lower)
    if we:
        be = "am" if we["be"] else ""
        have = "have" if we["have"] else ""
        rest = _SINGULAR.sub(r"\1", lower[we.end() :].strip())
        lower = " ".join(filter(None, ("i", be, have, rest)))
    for pattern, affirmed in _DENIED:
        if match := pattern.match(lower):
            return match.expand(affirmed) + lower[match.end() :]
    return lower


_CLAUSE_DATA = WordFile("all", "memory_clauses")

LEAST = 2  # spaces in a statement
_CLAUSES = 3
_LEAD = _CLAUSE_DATA.pattern("lead", re.IGNORECASE)
# "..., so what can I cook?": the statement before the question or the request.
_TAIL = _CLAUSE_DATA.pattern("tail", re.IGNORECASE)
# "..., but I'm not sure how": what the user thinks about it today.
_AFTERTHOUGHT = _CLAUSE_DATA.pattern("afterthought")
_COMMA = re.compile(r"[,;:] | [-–—] ")
# "After a long discussion we agreed to ..."
_INTRO = _CLAUSE_DATA.pattern("intro")
# Where a statement of the user may begin within a sentence.
_CLAUSE = _CLAUSE_DATA.pattern("clause")
_SPOKEN_FOR = _CLAUSE_DATA.pattern("spoken_for")
# "I'm Mara, I live in Ghent": two statements in one sentence.
_SPLICE = _CLAUSE_DATA.pattern("splice")

# "... and we spend every summer there": only what stands before says where.
REFERS_BACK = _CLAUSE_DATA.pattern("refers_back", re.IGNORECASE)
_ENDS_REFERRING = _CLAUSE_DATA.pattern("ends_referring")


def without_lead(text: str, start: int, end: int) -> int:
    """Where a sentence begins behind "by the way", "ok" and the like."""
    lead = _LEAD.match(text, start, end)
    return lead.end() if lead else start


def heads(lower: str) -> Iterator[str]:
    """Yield the beginnings of a sentence that may be a statement: without a question or request at
    its end."""
    after = _AFTERTHOUGHT.search(lower)
    if after and lower.count(" ", 0, after.start()) >= LEAST:
        lower = lower[: after.start()]
    tail = _TAIL.search(lower)
    if tail and lower.count(" ", 0, tail.start()) >= LEAST:
        yield lower[: tail.start()]
        return
    yield lower
    if lower.endswith(("?", "？")):
        commas = [match.span() for match in _COMMA.finditer(lower)]
        for start, end in commas[-1:-3:-1]:
            if _CONDITIONAL.match(lower, end):
                return  # "I am pregnant, if ...?"
            yield lower[:start]


def later(lower: str) -> Iterator[int]:
    """Yield the places inside a sentence at which a statement may begin, for a sentence that does
    not begin with one."""
    for clause in islice(_CLAUSE.finditer(lower), _CLAUSES):
        if _SPOKEN_FOR.search(lower, 0, clause.end()):
            return
        if not _ENDS_REFERRING.search(lower, clause.end()):
            yield clause.end()


def spliced(lower: str) -> list[tuple[int, int]]:
    """(start, end) of the parts of a sentence that may each be a statement."""
    joints = [match.span() for match in _SPLICE.finditer(lower)]
    starts = [0, *(end for _, end in joints)]
    ends = [*(start for start, _ in joints), len(lower)]
    parts = list(zip(starts, ends, strict=True))
    if any(_ENDS_REFERRING.search(lower, start, end) for start, end in parts):
        return [(0, len(lower))]
    return parts


def without_intro(lower: str) -> str:
    """ "After a long discussion we agreed" -> "we agreed"; empty where it has no such beginning."""
    intro = _INTRO.match(lower)
    return lower[intro.end() :] if intro else ""

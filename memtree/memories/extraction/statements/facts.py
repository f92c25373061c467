"""Facts in English: who the user is, whom they live with, what they own, use and work on."""

from __future__ import annotations

from memtree.language.word_file import WordFile

_DATA = WordFile("en", "memory_facts")

_PEOPLE = _DATA.pattern("people")
_TRAITS = _DATA.pattern("traits")
_SELF = _DATA.pattern("self")
_LIFE = _DATA.pattern("life")
_TOOLS = _DATA.pattern("tools")
_WE = _DATA.pattern("we")
_PROJECT = _DATA.pattern("project")

_OWNED = _DATA.pattern("owned")
# What never happened is a fact; what happened on a day is an event.
_NEVER = _DATA.pattern("never")
# "I don't celebrate Christmas": a habit that is denied.
_ABSTAINS = _DATA.pattern("abstains")
# "I usually read on my Kindle": who says how often tells of a habit.
_HABIT = _DATA.pattern("habit")
_LIMITS = _DATA.pattern("limits")
# "Celiac. Need ideas ...": who is short of words leaves out who.
_TERSE = _DATA.pattern("terse")
_BODY = _DATA.pattern("body")
_WE_ARE = _DATA.pattern("we_are")
_PATTERNS = (
    _NEVER,
    _ABSTAINS,
    _HABIT,
    _TERSE,
    _LIMITS,
    _WE_ARE,
    _BODY,
    _SELF,
    _PEOPLE,
    _TRAITS,
    _LIFE,
    _WE,
    _PROJECT,
    _TOOLS,
    _OWNED,
)


def is_fact(lower: str) -> bool:
    """Return True if a sentence in lower case begins as a lasting fact about the user."""
    return any(pattern.match(lower) for pattern in _PATTERNS)


def is_practice(lower: str) -> bool:
    """Return True if it tells how a team works or what a project is made of: "we deploy on Fridays"
    is no appointment."""
    return _WE.match(lower) is not None or _PROJECT.match(lower) is not None

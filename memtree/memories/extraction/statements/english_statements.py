"""Statements in English that are worth keeping: facts about who the user is and how they live, what
they like and decided on, goals, and what is to be kept in mind by the user's own word."""

from __future__ import annotations

from memtree.language.word_file import WordFile

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

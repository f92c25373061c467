"""Find what is worth keeping in English beyond facts and preferences: goals, and what is to be kept
in mind by the user's own word."""

from __future__ import annotations

from memtree.language.word_file import WordFile

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

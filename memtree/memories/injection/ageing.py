"""Rules for memories that may be out of date once they are old: job, place, version, port, plan.

    >>> may_change("User works at Initech."), may_change("User's blood type is A.")
    (True, False)
    >>> may_change("Der Nutzer plant einen Umzug."), may_change("User waters the plant.")
    (True, False)

A wish stays what it is until somebody takes it back, and so does a taste.
"""

from __future__ import annotations

from memtree.language.everyday_sentences import languages_of
from memtree.memories.injection.language_patterns import pattern
from memtree.memories.memory import Memory

READ = 400  # characters
_LASTING = ("preference", "instruction")  # categories
_PLAN = "schedule"  # a category

_NUMBERED = r"\bv\d{1,4}\b|\b\d{1,3}\.\d{1,4}\.\d{1,5}\b"  # versions, in any language


def ages(memory: Memory, stale: float) -> float | None:
    """Unix seconds from which a memory may be out of date, None for never. `stale`: seconds after
    which those that change are, 0 for never."""
    if not stale or not may_change(memory.text, memory.category, memory.standing):
        return None
    return memory.said + stale


def is_outdated(memory: Memory, stale: float, now: float) -> bool:
    """Return True if a memory may be out of date at that time (unix seconds)."""
    since = ages(memory, stale)
    return since is not None and now >= since


def may_change(text: str, category: str | None = None, standing: str = "") -> bool:
    """Return True if a fact is of a kind that changes with the months. `standing`: its topic."""
    if category in _LASTING or standing.startswith("wish"):
        return False
    if category == _PLAN:
        return True
    lower = " ".join(text[:READ].lower().split())
    return pattern("memory_changing", languages_of(lower), also=_NUMBERED).search(lower) is not None

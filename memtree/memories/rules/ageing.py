"""Rules for memories that may be out of date once they are old: job, place, version, port, plan.

    >>> may_change("User works at Initech."), may_change("User's blood type is A.")
    (True, False)
    >>> may_change("Der Nutzer plant einen Umzug."), may_change("User waters the plant.")
    (True, False)

A wish stays what it is until somebody takes it back, and so does a taste.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files

from memtree.memories.background.sentences import LATIN, languages_of
from memtree.memories.memory import Memory

READ = 400  # characters
SPACED = (*LATIN, "ru")  # languages that set spaces between words, and none within
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
    return _changing(languages_of(lower)).search(lower) is not None


@lru_cache(maxsize=64)
def _changing(languages: tuple[str, ...]) -> re.Pattern[str]:
    """Return what facts that change are told with in any of these languages."""
    table = tomllib.loads((files(__package__) / "changing.toml").read_text("utf-8"))
    patterns = [_NUMBERED]
    for language in languages:
        words = "|".join(table[language].values()).replace("\n", "")
        patterns.append(rf"\b(?:{words})\b" if language in SPACED else words)
    return re.compile("|".join(patterns))

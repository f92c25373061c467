"""The name that somebody may have meant who wrote one that there is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from heapq import nsmallest
from itertools import islice

FURTHEST = 0.5  # of the longer name: what needs more edits is another name
MOST_LETTERS = 64  # of a name that are compared: a comparison takes at most 64 x 64 steps
MOST_NAMES = 200
MOST_COMPARED = 8  # letter by letter: those that share the most letters


def nearest_kind(kind: str, known: Iterable[str]) -> str | None:
    """The one that is the fewest edits away, upper and lower case and `_ . -` aside; None where
    none is near. Of equally near ones the first by name.

    >>> nearest_kind("user_profile", ["Reminder", "UserProfile"])
    'UserProfile'
    """
    wanted = _plain(kind)
    names = islice(sorted(known), MOST_NAMES)
    likely = nsmallest(MOST_COMPARED, ((_differing(wanted, _plain(name)), name) for name in names))
    ranked = sorted((_share(wanted, _plain(name)), name) for _, name in likely)
    return ranked[0][1] if ranked and ranked[0][0] <= FURTHEST else None


def _plain(name: str) -> str:
    return name[:MOST_LETTERS].lower().translate(_LEFT_OUT)


_LEFT_OUT = dict.fromkeys(map(ord, "_.-"))


def _differing(one: str, other: str) -> int:
    """So many edits at least, whatever the order of the letters."""
    return max(len(one), len(other)) - (Counter(one) & Counter(other)).total()


def _share(one: str, other: str) -> float:
    """Return the share of the longer name that would have to be edited."""
    return _edits(one, other) / max(len(one), len(other), 1)


def _edits(one: str, other: str) -> int:
    """Insertions, deletions and replacements (Levenshtein)."""
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, row[0] = row[0], at
        for place, theirs in enumerate(other, 1):
            kept = before + (letter != theirs)
            before = row[place]
            row[place] = min(kept, before + 1, row[place - 1] + 1)
    return row[-1]

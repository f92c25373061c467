"""How many texts one text is compared with: the longest ones would take seconds to compare with all
of their neighbours, and whoever saves them decides on their length."""

from __future__ import annotations

from collections.abc import Iterable

MOST_CHARS = 100_000  # of both sides of all comparisons; some 0.3 s, in Chinese 1 s (2.5 GHz)
QUICK_CHARS = 8_000  # takes some 20 ms: less is compared where the caller stands


def comparisons(text: str, others: Iterable[str]) -> list[str]:
    """The first of them, as far as they can be compared with `text` in a bounded time; at least
    one.

    >>> len(comparisons("a" * 16_000, ["b" * 16_000] * 8))
    3
    """
    chosen: list[str] = []
    left = MOST_CHARS
    for other in others:
        left -= len(text) + len(other)
        if left < 0 and chosen:
            break
        chosen.append(other)
    return chosen


def is_quick(text: str, others: Iterable[str]) -> bool:
    """Return True if comparing them holds nobody up."""
    return sum(len(text) + len(other) for other in others) <= QUICK_CHARS

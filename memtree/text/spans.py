"""Join, cut and clip spans of a text: [start, end) in code points."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    start: int
    end: int


def merged(spans: Iterable[Span]) -> list[Span]:
    """Sort spans, and join those that touch or overlap.

    >>> merged([Span(5, 7), Span(0, 2), Span(6, 9)])
    [Span(start=0, end=2), Span(start=5, end=9)]
    """
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        elif span.start < span.end:
            joined.append(span)
    return joined


def outside(spans: Iterable[Span], cuts: Iterable[Span]) -> list[Span]:
    """Return the rest of `spans` without `cuts`; both are merged."""
    kept: list[Span] = []
    waiting = iter(cuts)
    cut = next(waiting, None)
    for start, end in spans:
        while cut and cut.start < end:
            if cut.end > start:
                if cut.start > start:
                    kept.append(Span(start, cut.start))
                start = max(start, cut.end)
                if cut.end > end:
                    break
            cut = next(waiting, None)
        if start < end:
            kept.append(Span(start, end))
    return kept


def without(text: str, cuts: Iterable[tuple[int, int]]) -> str:
    """Return a text without the cuts, which are sorted.

    >>> without("ab cd ef", [(2, 5), (3, 4), (7, 8)])
    'ab e'
    """
    pieces: list[str] = []
    at = 0
    for start, end in cuts:
        pieces.append(text[at:start])
        at = max(at, end)
    return "".join((*pieces, text[at:]))


def blanked(text: str, cuts: Iterable[Span]) -> str:
    """Replace the cuts of a text by spaces; its lines keep their places. `cuts` are merged."""
    pieces: list[str] = []
    at = 0
    for start, end in cuts:
        lines = text[start:end].split("\n")
        pieces += (text[at:start], "\n".join(" " * len(line) for line in lines))
        at = end
    return "".join((*pieces, text[at:]))


def clipped(spans: Iterable[Span], start: int, end: int) -> tuple[Span, ...]:
    """Return the parts of spans that lie in text[start:end], as spans of that part.

    >>> clipped([Span(0, 4), Span(8, 9)], 2, 8)
    (Span(start=0, end=2),)
    """
    return tuple(
        Span(max(low, start) - start, min(high, end) - start)
        for low, high in spans
        if low < end and start < high
    )

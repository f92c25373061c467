"""Check that a function takes time in proportion to a text, whatever the text looks like.

CPU time of one thread at n and at 4n characters, within one process: four times as much text may
take six times as long. A busy machine makes a run longer, never shorter, so the shortest of several
runs counts, and what grows with the square of the text comes to 16.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from tests.programs.garbage import uncollected

LIMIT = 6.0
TIMES = 4
FIRST = 1_024  # characters
LEAST = 0.002  # seconds of a run that says something
TRIES = 4
SURELY = 3  # times as many, before it is said: a machine may be busy for a while
CERTAIN = 0.05  # seconds from which on no step of a constant size explains the rest


class Subject(NamedTuple):
    """Subject of a measurement: `work` on what `made` makes of a text. Making it is not
    measured."""

    work: Callable[[Any], object]
    made: Callable[[str], Any] = str


class Slow(NamedTuple):
    """A shape of which four times as much takes `ratio` times as long; seconds at `size`."""

    shape: str
    size: int
    seconds: float
    ratio: float


def text(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def slow(subject: Subject, shapes: Mapping[str, str], most: int) -> Iterator[Slow]:
    """The shapes on which it is not linear. Sizes grow to where a run takes some milliseconds, up
    to `most` characters: what is quicker even then has no square to fear."""
    for name, unit in shapes.items():
        size = FIRST
        while seconds(subject, unit, size) < LEAST and TIMES * size < most:
            size *= TIMES
        if found := _slow(subject, name, unit, size):
            yield found


def _slow(subject: Subject, name: str, unit: str, size: int) -> Slow | None:
    """From here on: a square stays one in longer texts, while an accident, a first step or the end
    of a processor's cache does not, so it has to be seen at two sizes."""
    seen = False
    while True:
        short = long = float("inf")
        for _ in range(TRIES * (SURELY if seen else 1)):
            short = min(short, seconds(subject, unit, size))
            long = min(long, seconds(subject, unit, TIMES * size))
            if long <= LIMIT * max(short, LEAST / TIMES):
                return None
        if long >= CERTAIN and seen:
            return Slow(name, TIMES * size, long, long / short)
        seen = long >= CERTAIN
        size *= TIMES


def seconds(subject: Subject, unit: str, size: int) -> float:
    """CPU time of one run on a text of `size` characters."""
    value = subject.made(text(unit, size))
    with uncollected():
        begun = time.thread_time()
        subject.work(value)
        return time.thread_time() - begun

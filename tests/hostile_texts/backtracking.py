"""Shapes that a pattern with a choice within a repetition could read in many ways: its own words,
again and again, and at last one that it has no place for."""

from __future__ import annotations

from collections.abc import Iterator

LENGTH = 280  # characters: a sentence that is still read
PLACES = (
    "www.a",
    "www.",
    "http://",
    "https://www.",
    "www.a ",
    "www.a,",
    "www.a, ",
    "/",
    "a/",
    "\\",
)
LIKES = ("a ", "an ", "not ", "a huge ", "really ", "more of ", "do ", "tend to ")
_BEGINS = ("", "i'm ", "i ", "My color is blue")
_ENDS = (" z", "z", "!", "\0", "")


def shapes(units: tuple[str, ...]) -> Iterator[str]:
    for first in units:
        for second in ("", *units):
            unit = first + second
            for begin in _BEGINS:
                for end in _ENDS:
                    yield begin + unit * (LENGTH // len(unit)) + end

"""Blocks that clients rewrite on every request, such as `<system-reminder>`, and text without them.

>>> Volatile().strip("Go on.<system-reminder>12:00</system-reminder>")
'Go on.'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

VOLATILE_TAGS = ("system-reminder", "environment_details")
# Clients put this one into the results of tools as well; the others are text there.
RESULT_TAGS = ("system-reminder",)


@dataclass(frozen=True, slots=True)
class Volatile:
    """The list of tags whose closed blocks are left out of hashes and leaves."""

    tags: tuple[str, ...] = VOLATILE_TAGS

    def find(self, text: str) -> tuple[tuple[int, int], ...]:
        """Spans of the closed blocks in `text`, left to right."""
        if "</" not in text or not self.tags:
            return ()
        return tuple(_closed(text, self.tags))

    def find_in_result(self, text: str) -> tuple[tuple[int, int], ...]:
        """The same for the result of a tool: of those tags that clients put there."""
        return Volatile(tuple(tag for tag in self.tags if tag in RESULT_TAGS)).find(text)

    def strip(self, text: str) -> str:
        cuts = self.find(text)
        return without(text, cuts) if cuts else text


def _closed(text: str, tags: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """From each opening tag to the next closing one of its name. A name that is closed no more is
    not looked for again, so a text of opening tags alone is read once."""
    unclosed: set[str] = set()
    opening = _openings(tags)
    at = 0
    while match := opening.search(text, at):
        name, at = match[1], match.end()
        if name in unclosed:
            continue
        end = text.find(f"</{name}>", at)
        if end < 0:
            unclosed.add(name)
        else:
            at = end + len(name) + 3
            yield match.start(), at


@lru_cache(maxsize=16)
def _openings(tags: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(re.escape(tag) for tag in tags)
    return re.compile(rf"<({names})(?:\s[^<>]*+)?>")


def without(text: str, cuts: Sequence[tuple[int, int]]) -> str:
    """The text without the cuts, which are sorted spans."""
    kept = outside(0, len(text), cuts)
    return "".join(text[start:end] for start, end in kept)


def outside(start: int, end: int, cuts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """[start, end) without the cuts, as a list of spans."""
    kept, at = [], start
    for low, high in cuts:
        if low >= end:
            break
        if low > at:
            kept.append((at, low))
        at = max(at, high)
    if at < end:
        kept.append((at, end))
    return kept

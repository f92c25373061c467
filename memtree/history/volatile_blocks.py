"""Find and remove blocks that clients rewrite on every request, such as `<system-reminder>`.

>>> Volatile().strip("Go on.<system-reminder>12:00</system-reminder>")
'Go on.'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from memtree.text.spans import without

# Codex writes the last two; `INSTRUCTIONS` counts only after its heading, since people write such
# tags themselves.
VOLATILE_TAGS = ("system-reminder", "environment_details", "environment_context", "INSTRUCTIONS")
_HEADINGS = {"INSTRUCTIONS": r"# AGENTS\.md instructions[^\n]{0,500}\n\s{0,20}"}
# Blocks that stay visible when the first user message is folded (`preamble`): instructions, but not
# `environment_details`, since every message brings new ones.
PREAMBLE_TAGS = ("system-reminder", "environment_context", "INSTRUCTIONS")
# Clients put this one into tool results as well; the others are ordinary text there.
RESULT_TAGS = ("system-reminder",)


@dataclass(frozen=True, slots=True)
class Volatile:
    """`tags`: their closed blocks are left out of hashes and leaves. `carried`: those of them that
    stay visible when the first user message is folded."""

    tags: tuple[str, ...] = VOLATILE_TAGS
    carried: tuple[str, ...] = PREAMBLE_TAGS

    def find(self, text: str) -> tuple[tuple[int, int], ...]:
        """Return the spans of the closed blocks in `text`, left to right; linear in its length."""
        return tuple((start, end) for _, start, end in self.blocks(text))

    def find_in_result(self, text: str) -> tuple[tuple[int, int], ...]:
        """Find volatile blocks in a tool result: only tags that clients put there."""
        if "</" not in text:
            return ()
        return Volatile(tuple(tag for tag in self.tags if tag in RESULT_TAGS)).find(text)

    def blocks(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield (tag, start, end) of each closed block."""
        if "</" not in text or not self.tags:
            return
        opening, at, unclosed = _opening(self.tags), 0, set[str]()
        while match := opening.search(text, at):
            tag, at = str(match[match.lastgroup or 0]), match.end()
            if tag in unclosed:  # not searched again: text with opening tags only is read once
                continue
            end = text.find(f"</{tag}>", at)
            if end < 0:
                unclosed.add(tag)
            else:
                at = end + len(tag) + 3
                yield tag, match.start(), at

    def strip(self, text: str) -> str:
        return without(text, self.find(text))


@lru_cache(maxsize=16)
def _opening(tags: tuple[str, ...]) -> re.Pattern[str]:
    """Match opening tags, each in a group of its own, after the heading that some require."""
    forms = (
        rf"{_HEADINGS.get(tag, '')}<(?P<t{index}>{re.escape(tag)})(?:\s[^<>]*+)?>"
        for index, tag in enumerate(tags)
    )
    return re.compile("|".join(forms))

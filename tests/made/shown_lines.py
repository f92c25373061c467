"""Lines of memories out of their texts, for tests of how they are shown."""

from __future__ import annotations

from collections.abc import Iterable

from memtree.text.memory_lines import LineKind, MemoryLine, MemoryVersion


def lines_of(
    texts: Iterable[str], kind: LineKind = LineKind.CHAT, name: str = ""
) -> tuple[MemoryLine, ...]:
    """`name`: what the ids begin with."""
    return tuple(
        MemoryLine(MemoryVersion(f"{name or kind}{number}", 1), text, kind)
        for number, text in enumerate(texts)
    )

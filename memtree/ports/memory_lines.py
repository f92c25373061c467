"""What context memory asks of memories: the lines of those that it shows, and no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from memtree.text.memory_lines import MemoryLine, MemoryVersion


class MemoryLines(Protocol):
    """The memories of one scope, as lines."""

    async def lines(self, memories: Sequence[MemoryVersion]) -> Mapping[MemoryVersion, str]:
        """Lines as of these versions, the same each time; also of memories that were changed or
        expired since. Those that were deleted are left out. Raises `Unavailable`."""
        ...


@dataclass(frozen=True, slots=True)
class InjectedMemories:
    """The memories that one request brings: `lines` to stand beside its conversation, by age;
    `hits`: the ids of those that fit its newest message, best first. `scope`: whose they are,
    opaque: what is sent in one is never continued in another. `kept`: for lines that were sent
    before."""

    scope: str
    lines: tuple[MemoryLine, ...]
    hits: tuple[str, ...]
    kept: MemoryLines

    def ranked(self) -> list[MemoryLine]:
        """The lines, those that matter most first: hits, then the newest."""
        places = {id_: place for place, id_ in enumerate(self.hits)}
        last = len(places)
        newest_first = reversed(self.lines)
        return sorted(newest_first, key=lambda line: places.get(line.memory.id, last))

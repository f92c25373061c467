"""Port through which context memory reads the lines of saved memories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from memtree.text.memory_lines import LineKind, MemoryLine, MemoryVersion

One = TypeVar("One")


class MemoryLines(Protocol):
    """The memories of one scope, as lines."""

    async def lines(self, memories: Sequence[MemoryVersion]) -> Mapping[MemoryVersion, MemoryLine]:
        """Return the lines of these versions, the same each time; also of memories that were
        changed or expired since. Memories that were deleted, or belong to another scope, are left
        out. Raises `Unavailable`."""
        ...


@dataclass(frozen=True, slots=True)
class MemorySourceLines:
    """Memories of one scope for a request: `lines` by age, `hits`: ids of those that match its
    newest message, best first. `scope`: opaque name of the owner. `kept`: returns lines that were
    sent before."""

    scope: str
    lines: tuple[MemoryLine, ...]
    hits: tuple[str, ...]
    kept: MemoryLines


@dataclass(frozen=True, slots=True)
class InjectedMemories:
    """Memories for one request: `lines` to add to its conversation, source by source; `hits`: ids
    of those that match its newest message, the best of each source first. `scope`: name of their
    owners; an epoch of one scope is never continued in another."""

    sources: tuple[MemorySourceLines, ...]
    lines: tuple[MemoryLine, ...]
    hits: tuple[str, ...]

    @classmethod
    def of(cls, sources: Sequence[MemorySourceLines]) -> InjectedMemories:
        """Join the sources: a memory that is saved for the chat and for its user is shown once, as
        the chat's."""
        first: dict[str, MemoryLine] = {}
        for source in sources:
            for line in source.lines:
                first.setdefault(line.said, line)
        kept = {
            line.memory.id: line if line.kind is first[line.said].kind else first[line.said]
            for source in sources
            for line in source.lines
        }
        hits = (kept[id_].memory.id for id_ in _in_turn([s.hits for s in sources]) if id_ in kept)
        lines = {line.memory.id: line for line in kept.values()}
        return cls(tuple(sources), tuple(lines.values()), tuple(dict.fromkeys(hits)))

    @property
    def scope(self) -> str:
        return " ".join(source.scope for source in self.sources)

    def ranked(self) -> list[MemoryLine]:
        """Return the lines, most important first: hits, then the newest of each source."""
        places = {id_: place for place, id_ in enumerate(self.hits)}
        last = len(places)
        newest = [[line for line in reversed(self.lines) if line.kind is kind] for kind in LineKind]
        return sorted(_in_turn(newest), key=lambda line: places.get(line.memory.id, last))

    async def kept(self, memories: Sequence[MemoryVersion]) -> dict[MemoryVersion, MemoryLine]:
        """Return the lines of memories that were sent before, without deleted ones. Raises
        `Unavailable`."""
        lines: dict[MemoryVersion, MemoryLine] = {}
        for source in self.sources:
            wanted = [memory for memory in memories if memory not in lines]
            if wanted:
                lines |= await source.kept.lines(wanted)
        return lines


def _in_turn(lists: Sequence[Sequence[One]]) -> Iterator[One]:
    """Yield the first of each list, then the second of each, and so on."""
    for place in range(max(map(len, lists), default=0)):
        for among in lists:
            if place < len(among):
                yield among[place]

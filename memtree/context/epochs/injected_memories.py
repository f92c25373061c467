"""Memories beside what an answer folds: in the memory message, and in the block of a message.

    memory message   those of the request that begins an epoch, at most half of its room
    block            within an epoch: hits that the model has not seen yet

What was sent stays as it is until its epoch ends; what is kept of it are versions, no text. Only a
deleted memory ends an epoch at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from memtree.budget.epoch import Epoch, EpochTurn
from memtree.budget.packing import Packed
from memtree.ports.memory_lines import InjectedMemories
from memtree.text import memory_lines, tokens
from memtree.text.memory_lines import SEAM, MemoryLine, MemoryVersion, at
from memtree.unfolding.memory_message.memory_text import WRAPPER

Lines = Mapping[MemoryVersion, MemoryLine]


def in_memory_message(
    memories: InjectedMemories | None, packed: Packed, now: float
) -> tuple[tuple[MemoryLine, ...], Packed]:
    """The lines that a new memory message ends with, and the room that they leave it. `now`: by
    which their age is reckoned."""
    if memories is None:
        return (), packed
    own = packed.memory - packed.kept.tokens
    room = min(own // 2, own - 2 * WRAPPER)
    lines = fitting(at(memories.lines, now), at(memories.ranked(), now), room)
    return lines, replace(packed, memory=packed.memory - size(lines))


def in_block(
    memories: InjectedMemories | None, sent: Iterable[MemoryLine], room: int, begun: float
) -> tuple[MemoryLine, ...]:
    """The lines for the block of the newest message, at most `room` tokens: hits that do not stand
    in what was `sent` (oldest first), or read otherwise there. `begun`: when the epoch was; age is
    reckoned by it, so that a line never changes within one."""
    if memories is None:
        return ()
    seen = {line.memory.id: line for line in sent}
    lines, ranked = at(memories.lines, begun), at(memories.ranked(), begun)
    new = {
        line.memory.id
        for line in lines
        if line.memory.id in memories.hits and not _stands(line, seen)
    }
    ranked = tuple(line for line in ranked if line.memory.id in new)
    return fitting([line for line in lines if line.memory.id in new], ranked, room)


def _stands(line: MemoryLine, seen: Mapping[str, MemoryLine]) -> bool:
    """Return True if the model has seen this line last of its memory, or the same of another
    source."""
    if line.memory.id in seen:
        return seen[line.memory.id].text == line.text
    return any(other.kind is not line.kind and other.said == line.said for other in seen.values())


def fitting(
    lines: Sequence[MemoryLine], ranked: Sequence[MemoryLine], room: int
) -> tuple[MemoryLine, ...]:
    """Return as many of the lines as fit, the first of `ranked` before others; in their order. A
    long one that does not fit leaves its place to those behind it."""
    kept: set[MemoryLine] = set()
    chosen: tuple[MemoryLine, ...] = tuple(lines)
    if size(chosen) <= room:
        return chosen
    for candidate in ranked:
        tried = tuple(line for line in lines if line in kept or line == candidate)
        if size(tried) <= room:
            kept.add(candidate)
    return tuple(line for line in lines if line in kept)


def size(lines: Sequence[MemoryLine]) -> int:
    """Tokens of the block that they make, with its seam."""
    return tokens.count(SEAM + memory_lines.block(lines)) if lines else 0


def beside(text: str, memories: Iterable[MemoryVersion], lines: Lines) -> str:
    """A text of ours with the block of these memories behind it; either may be empty."""
    shown = [lines[memory] for memory in memories]
    block = memory_lines.block(shown) if shown else ""
    return SEAM.join(part for part in (text, block) if part)


def by_memory(lines: Iterable[MemoryLine]) -> Lines:
    return {line.memory: line for line in lines}


def sent(epoch: Epoch, blocks: Mapping[int, EpochTurn]) -> list[MemoryVersion]:
    """The memories in what an epoch has sent, in its order."""
    turns = [turn for _, turn in sorted(blocks.items())]
    return [*epoch.memories, *(memory for turn in turns for memory in turn.memories)]


def ids(memories: Iterable[MemoryVersion]) -> tuple[str, ...]:
    """Each once."""
    return tuple(dict.fromkeys(memory.id for memory in memories))


async def kept_lines(
    memories: InjectedMemories | None, epoch: Epoch, blocks: Mapping[int, EpochTurn]
) -> Lines | None:
    """The lines of all memories in what an epoch has sent, as they read when it was begun; None
    where one was deleted. Raises `Unavailable`."""
    wanted = list(dict.fromkeys(sent(epoch, blocks)))
    if not wanted:
        return {}
    if memories is None:
        return None
    kept = await memories.kept(wanted)
    lines = {memory: line.at(epoch.created) for memory, line in kept.items()}
    return lines if all(memory in lines for memory in wanted) else None

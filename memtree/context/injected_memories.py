"""Memories in the answer: in the memory message, and in the block of a message.

    memory message   memories of the request that begins an epoch, at most half of its room
    block            within an epoch: hits that the model has not seen yet

Text that was sent stays unchanged until its epoch ends; the store keeps the versions of these
memories, no text. Only a deleted memory ends an epoch at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from memtree.budget.epoch import Epoch, EpochTurn
from memtree.budget.packing import Packed
from memtree.ports.memory_sources import InjectedMemories
from memtree.text import memory_lines, tokens
from memtree.text.memory_lines import SEAM, MemoryLine, MemoryVersion, at
from memtree.unfolding.memory_text import WRAPPER

Lines = Mapping[MemoryVersion, MemoryLine]


def in_memory_message(
    memories: InjectedMemories | None, packed: Packed, now: float
) -> tuple[tuple[MemoryLine, ...], Packed]:
    """Return the lines at the end of a new memory message, and the packing with the room that they
    leave. `now`: the time from which their age is counted."""
    if memories is None:
        return (), packed
    own = packed.memory - packed.kept.tokens
    room = min(own // 2, own - 2 * WRAPPER)
    lines = fitting(at(memories.lines, now), at(memories.ranked(), now), room)
    return lines, replace(packed, memory=packed.memory - size(lines))


def in_block(
    memories: InjectedMemories | None, sent: Iterable[MemoryLine], room: int, begun: float
) -> tuple[MemoryLine, ...]:
    """Return the lines for the block of the newest message, at most `room` tokens: hits that are
    not in what was `sent` (oldest first), or that read differently there. `begun`: when the epoch
    began; ages are counted from then, so that a line never changes within an epoch."""
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
    """Return True if the model has already seen the memory's latest line, or the same text from
    another source."""
    if line.memory.id in seen:
        return seen[line.memory.id].text == line.text
    return any(other.kind is not line.kind and other.said == line.said for other in seen.values())


def fitting(
    lines: Sequence[MemoryLine], ranked: Sequence[MemoryLine], room: int
) -> tuple[MemoryLine, ...]:
    """Return as many lines as fit, those first in `ranked` preferred, in the order of `lines`. A
    long line that does not fit leaves its room to later ones."""
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
    """Return the tokens of the lines as a block, with its separator."""
    return tokens.count(SEAM + memory_lines.block(lines)) if lines else 0


def beside(text: str, memories: Iterable[MemoryVersion], lines: Lines) -> str:
    """Append the block of these memories to a text; either may be empty."""
    shown = [lines[memory] for memory in memories]
    block = memory_lines.block(shown) if shown else ""
    return SEAM.join(part for part in (text, block) if part)


def by_memory(lines: Iterable[MemoryLine]) -> Lines:
    return {line.memory: line for line in lines}


def sent(epoch: Epoch, blocks: Mapping[int, EpochTurn]) -> list[MemoryVersion]:
    """Return the memories in what an epoch has sent, in its order."""
    turns = [turn for _, turn in sorted(blocks.items())]
    return [*epoch.memories, *(memory for turn in turns for memory in turn.memories)]


async def kept_lines(
    memories: InjectedMemories | None, epoch: Epoch, blocks: Mapping[int, EpochTurn]
) -> Lines | None:
    """Return the lines of all memories in what an epoch has sent, as they read when it began; None
    if one was deleted. Raises `Unavailable`."""
    wanted = list(dict.fromkeys(sent(epoch, blocks)))
    if not wanted:
        return {}
    if memories is None:
        return None
    kept = await memories.kept(wanted)
    lines = {memory: line.at(epoch.created) for memory, line in kept.items()}
    return lines if all(memory in lines for memory in wanted) else None

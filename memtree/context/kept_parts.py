"""Chooses what a memory message keeps for its epoch: pins, standing rules and injected memories.

Memories are added to the memory message, and to the block of a message:

    memory message   memories of the request that begins an epoch, at most half of its room
    block            within an epoch: hits that the model has not seen yet

Text that was sent stays unchanged until its epoch ends; the store keeps the versions of these
memories, no text. Only a deleted memory ends an epoch at once.

`Keeper` finds the passages that must stay in a new memory message, and reserves room for them: at
most a fifth of the target. Long histories are searched off the event loop.

    |-- recent rounds --|-- memory message --|-- kept --|-- spare --|-- reserved --| target

The room is taken first from the spare tokens, then from half of the reserve of an epoch under a
hard target, and last from the memory message itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from memtree.budget.epoch import Epoch, EpochTurn
from memtree.budget.packing import Packed, TokenLimits
from memtree.context.turn_request import TurnRequest
from memtree.errors import Unavailable
from memtree.history.chat_history import History
from memtree.history.keep_options import MARKS_ALONE
from memtree.ports.context_store import ConversationStore
from memtree.ports.memory_sources import InjectedMemories
from memtree.text import memory_lines, tokens
from memtree.text.memory_lines import SEAM, MemoryLine, MemoryVersion, at
from memtree.unfolding.kept_passages import KeptPassage, fitted, kept_passages, read_places
from memtree.unfolding.memory_plan import FoldWindow
from memtree.unfolding.memory_text import WRAPPER

log = logging.getLogger("memtree")

REACH = 512  # newest addresses at which a conversation with pins may end
KEPT_SHARE = 0.2  # of the target
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


class Keeper:
    def __init__(self, store: ConversationStore) -> None:
        self._store = store

    async def packed(self, request: TurnRequest, packed: Packed, fixed: int) -> Packed:
        """Add the passages that must stay to what was packed. `fixed`: as in `packing.begin`.
        Without the store nothing is pinned."""
        if not packed.memory:
            return packed
        posted, ask = request.posted, request.ask
        try:
            stored = await self._store.pins(posted.tenant, posted.addresses[:0:-1][:REACH])
        except Unavailable as error:
            log.warning("pins.unavailable code=%s", error.code)
            stored = []
        pins = tuple(place for listed in stored for place in read_places(listed))

        def work() -> Packed:
            passages = kept_passages(posted, ask.keep, pins)
            return with_kept(packed, passages, posted, request.limits, fixed)

        if ask.keep == MARKS_ALONE and not pins and not any(fact.keeps for fact in posted.facts):
            return packed
        return await asyncio.to_thread(work)


def with_kept(
    packed: Packed,
    passages: Sequence[KeptPassage],
    history: History,
    limits: TokenLimits,
    fixed: int,
) -> Packed:
    """Add the passages that must stay (from `kept_passages`) to the packing, with the room that
    they take. `fixed`: as in `packing.begin`."""
    if not passages or not packed.memory:
        return packed
    room = max(0, limits.prompt - fixed)
    target = min(limits.target, room)
    taken = packed.recent + packed.beside + packed.memory + packed.reserved
    # A soft target that the newest round alone exceeds no longer limits anything.
    spare = max(0, (target if limits.hard or taken <= target else room) - taken)
    most = min(int(KEPT_SHARE * target), packed.memory + spare + packed.reserved // 2 - 2 * WRAPPER)
    window = FoldWindow(packed.cut, 0, packed.head, pinned=packed.pinned)
    kept = fitted(history, passages, window, most)
    more = min(kept.tokens, spare + packed.reserved // 2)
    reserved = packed.reserved - max(0, more - spare)
    return replace(packed, memory=packed.memory + more, reserved=reserved, kept=kept)

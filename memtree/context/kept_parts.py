"""Find the passages that must stay in a new memory message, and reserve room for them: at most a
fifth of the target. Long histories are searched off the event loop.

    |-- recent rounds --|-- memory message --|-- kept --|-- spare --|-- reserved --| target

The room is taken first from the spare tokens, then from half of the reserve of an epoch under a
hard target, and last from the memory message itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from memtree.budget.packing import Packed, TokenLimits
from memtree.context.turn_request import TurnRequest
from memtree.errors import Unavailable
from memtree.history.chat_history import History
from memtree.history.keep_options import MARKS_ALONE
from memtree.ports.context_store import ConversationStore
from memtree.unfolding.kept_passages import (
    KeptPassage,
    PinnedPlace,
    fitted,
    kept_passages,
    read_places,
)
from memtree.unfolding.memory_plan import FoldWindow
from memtree.unfolding.memory_text import WRAPPER

log = logging.getLogger("memtree")

REACH = 512  # newest addresses at which a conversation with pins may end


class Keeper:
    def __init__(self, store: ConversationStore) -> None:
        self._store = store

    async def packed(self, request: TurnRequest, packed: Packed, fixed: int) -> Packed:
        """Add the passages that must stay to what was packed. `fixed`: as in `packing.begin`.
        Without the store nothing is pinned."""
        if not packed.memory:
            return packed
        posted, ask = request.posted, request.ask
        pins = await self._pins(posted)

        def work() -> Packed:
            passages = kept_passages(posted, ask.keep, pins)
            return with_kept(packed, passages, posted, request.limits, fixed)

        if ask.keep == MARKS_ALONE and not pins and not any(fact.keeps for fact in posted.facts):
            return packed
        return await asyncio.to_thread(work)

    async def _pins(self, posted: History) -> tuple[PinnedPlace, ...]:
        newest = posted.addresses[:0:-1][:REACH]
        try:
            stored = await self._store.pins(posted.tenant, newest)
        except Unavailable as error:
            log.warning("pins.unavailable code=%s", error.code)
            return ()
        return tuple(place for pins in stored for place in read_places(pins))


KEPT_SHARE = 0.2  # of the target


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

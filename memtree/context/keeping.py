"""Finds what must stay in a new memory message, off the event loop where much has to be read."""

from __future__ import annotations

import asyncio
import logging

from memtree.budget.kept_room import with_kept
from memtree.budget.packing import Packed, TokenLimits
from memtree.context.request import CompressRequest
from memtree.conversation.history import History
from memtree.conversation.keep_options import MARKS_ALONE
from memtree.errors import Unavailable
from memtree.ports.conversations import ConversationStore
from memtree.unfolding.kept_passages import kept_passages
from memtree.unfolding.pinned_places import PinnedPlace, read_places

log = logging.getLogger("memtree")

REACH = 512  # newest addresses among which a conversation with pins may end


class Keeper:
    def __init__(self, store: ConversationStore) -> None:
        self._store = store

    async def packed(
        self,
        posted: History,
        ask: CompressRequest,
        packed: Packed,
        limits: TokenLimits,
        fixed: int,
    ) -> Packed:
        """Add the passages that must stay to what was packed. `fixed`: as in `packing.begin`.
        Without the store nothing is pinned."""
        if not packed.memory:
            return packed
        pins = await self._pins(posted)

        def work() -> Packed:
            passages = kept_passages(posted, ask.keep, pins)
            return with_kept(packed, passages, posted, limits, fixed)

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

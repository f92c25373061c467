"""Finds what must stay in a new memory message, off the event loop where much has to be read."""

from __future__ import annotations

import asyncio

from memtree.budget.kept_room import with_kept
from memtree.budget.packing import Packed, TokenLimits
from memtree.context.request import CompressRequest
from memtree.conversation.history import History
from memtree.conversation.keep_options import MARKS_ALONE
from memtree.unfolding.kept_passages import kept_passages


async def keeping(
    posted: History, ask: CompressRequest, packed: Packed, limits: TokenLimits, fixed: int
) -> Packed:
    """What was packed, with the passages that must stay. `fixed`: as in `packing.begin`."""

    def work() -> Packed:
        return with_kept(packed, kept_passages(posted, ask.keep), posted, limits, fixed)

    if ask.keep == MARKS_ALONE and not any(fact.keeps for fact in posted.facts):
        return packed
    return await asyncio.to_thread(work)

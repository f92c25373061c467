"""Gives what must stay its room: at most a fifth of the target, within it.

    |-- recent rounds --|-- memory message --|-- kept --|-- spare --|-- reserved --| target

It comes out of what is spare, then out of half of what an epoch under a hard target reserves, and
last out of the memory message, in which it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memtree.budget.packing import Packed, TokenLimits
from memtree.conversation.history import History
from memtree.unfolding.kept_passages import KeptPassage, fitted
from memtree.unfolding.memory_text import WRAPPER
from memtree.unfolding.plan import FoldWindow

KEPT_SHARE = 0.2  # of the target


def with_kept(
    packed: Packed,
    passages: Sequence[KeptPassage],
    history: History,
    limits: TokenLimits,
    fixed: int,
) -> Packed:
    """Add the passages that must stay (as `kept_passages` gives them) to what was packed, and the
    room that they take. `fixed`: as in `packing.begin`."""
    if not passages or not packed.memory:
        return packed
    room = max(0, limits.prompt - fixed)
    target = min(limits.target, room)
    taken = packed.recent + packed.beside + packed.memory + packed.reserved
    # A soft target that the newest round alone exceeds bounds nothing any more.
    spare = max(0, (target if limits.hard or taken <= target else room) - taken)
    most = min(int(KEPT_SHARE * target), packed.memory + spare + packed.reserved // 2 - 2 * WRAPPER)
    window = FoldWindow(packed.cut, 0, packed.head, pinned=packed.pinned)
    kept = fitted(history, passages, window, most)
    more = min(kept.tokens, spare + packed.reserved // 2)
    reserved = packed.reserved - max(0, more - spare)
    return replace(packed, memory=packed.memory + more, reserved=reserved, kept=kept)

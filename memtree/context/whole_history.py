"""Why a history was sent whole, and from which size on it will be folded. Pure."""

from __future__ import annotations

from memtree.budget import packing
from memtree.budget.first_fold import FirstFold
from memtree.context.answer_state import Reason, with_size
from memtree.context.turn_request import TurnRequest


def first_fold(request: TurnRequest) -> FirstFold:
    """Return the first fold of a conversation of which nothing is folded yet."""
    ask = request.ask
    return FirstFold.of(
        request.posted,
        request.limits,
        fixed=request.fixed,
        carried=request.carried,
        window=ask.window,
        prices=ask.prices,
        mode=ask.mode,
        dialect=ask.dialect,
    )


def why_whole(admitted: packing.Pass, request: TurnRequest) -> str:
    """Return the reason of a history that is passed before prices are considered."""
    if request.ask.whole:
        return Reason.SIDE_REQUEST
    if admitted.folds_at is not None:
        return with_size(admitted.reason, admitted.folds_at)
    return with_size(admitted.reason, first_fold(request).folds_at())

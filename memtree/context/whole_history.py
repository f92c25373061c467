"""Why a history was sent whole, and from which size on it will be folded. Pure."""

from __future__ import annotations

from memtree.budget import packing
from memtree.budget.first_fold import FirstFold
from memtree.context.request import CompressRequest
from memtree.context.state import Reason, with_size
from memtree.conversation.history import History
from memtree.conversation.preamble import preamble


def fixed_tokens(posted: History, ask: CompressRequest) -> int:
    """Return the tokens of system messages and tools."""
    return posted.system_tokens + ask.tools_tokens


def first_fold(posted: History, ask: CompressRequest, limits: packing.TokenLimits) -> FirstFold:
    """Return the first fold of a conversation of which nothing is folded yet."""
    return FirstFold.of(
        posted,
        limits,
        fixed=fixed_tokens(posted, ask),
        carried=preamble(posted).tokens,
        window=ask.window,
        prices=ask.prices,
        mode=ask.mode,
        dialect=ask.dialect,
    )


def why_whole(
    admitted: packing.Pass, posted: History, ask: CompressRequest, limits: packing.TokenLimits
) -> str:
    """Return the reason of a history that is passed before prices are considered."""
    if ask.whole:
        return Reason.SIDE_REQUEST
    if admitted.folds_at is not None:
        return with_size(admitted.reason, admitted.folds_at)
    return with_size(admitted.reason, first_fold(posted, ask, limits).folds_at())

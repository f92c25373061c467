"""What memory did with a request, as `x-memtree-state` and the field `state` of answers say it."""

from __future__ import annotations

from enum import StrEnum

_DEGRADED = "degraded:"


class State(StrEnum):
    """All values of `x-memtree-state`; a cause is named where a part of ours failed."""

    UNDECIDED = ""  # memory has not answered yet
    OFF = "off"
    SHADOW = "shadow"  # sent untouched, and measured beside it
    BELOW_THRESHOLD = "below-threshold"  # too short to be folded
    PASSED = "passed"  # sent whole: that is cheaper, or it is a side request
    PACKED = "packed"  # folded
    PROVISIONAL = "provisional"  # folded, while many passages still lack their vectors

    NO_STORE = "degraded:store"  # folded by a tree that serves this request alone
    NO_TREE = "degraded:indexing"  # stage 1 did not reach the end of the history
    NO_EMBEDDER = "degraded:embedder"  # folded, and ranked by words alone
    INVALID_HISTORY = "degraded:invalid-history"  # sent as it came: the upstream judges it
    ENCODED_BODY = "degraded:encoded-body"  # sent as it came: it cannot be decoded
    OVERFLOW = "degraded:overflow"  # refused: no model of this window takes it
    INTERNAL = "degraded:internal"  # sent as it came: an error of ours

    @classmethod
    def degraded(cls, cause: str) -> State:
        """The state that names this cause. Raises `ValueError` where none does."""
        return cls(_DEGRADED + cause)


def is_degraded(state: str) -> bool:
    """The same for a state that another server told, which may be of another version."""
    return state.startswith(_DEGRADED)

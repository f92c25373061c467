"""Outcome of context memory for one request: the value of `x-memtree-state`, and of the field
`state` of answers."""

from __future__ import annotations

from enum import StrEnum

from memtree.budget.packing import PassReason

_DEGRADED = "degraded:"


class State(StrEnum):
    """All values of `x-memtree-state`; a cause is named where a part of ours failed."""

    UNDECIDED = ""  # memory has not answered yet
    OFF = "off"
    SHADOW = "shadow"  # sent untouched, and measured beside it
    BELOW_THRESHOLD = "below-threshold"  # sent whole: under 10,000 tokens
    PASSED = "passed"  # sent whole, as the reason says
    PACKED = "packed"  # folded
    PROVISIONAL = "provisional"  # folded, while many passages still lack their vectors
    REFUSED = "refused"  # what must be sent whole is larger than the model's window

    NO_STORE = "degraded:store"  # folded by a tree that serves this request alone
    NO_TREE = "degraded:indexing"  # stage 1 did not reach the end of the history
    NO_EMBEDDER = "degraded:embedder"  # folded, and ranked by words alone
    NO_ROOM = "degraded:no-room"  # older messages left out, and no room for a memory of them
    INVALID_HISTORY = "degraded:invalid-history"  # sent as it came: the upstream judges it
    ENCODED_BODY = "degraded:encoded-body"  # sent as it came: it cannot be decoded
    INTERNAL = "degraded:internal"  # sent as it came: an error of ours

    @classmethod
    def degraded(cls, cause: str) -> State:
        """The state that names this cause. Raises `ValueError` where none does."""
        return cls(_DEGRADED + cause)


class Reason(StrEnum):
    """Why, where a state alone does not say it: `x-memtree-reason`. A history that passes, and will
    be folded when it has grown, is told from which size on: `with_size`."""

    NONE = ""
    FITS = PassReason.FITS  # passed: no larger than the target
    ONE_ROUND = PassReason.ONE_ROUND  # passed: one round, which is never cut
    LARGE_ROUND = PassReason.LARGE_ROUND  # passed: the newest round alone fills the model
    CHEAPER_WHOLE = "cheaper-whole"  # passed: a fold would cost more than it may
    TREE_PENDING = "tree-pending"  # passed: its tree is not ready, and it fits without
    SERVER_STATE = "server-state"  # passed: the upstream holds a part of the history
    SIDE_REQUEST = "side-request"  # passed: a title, a client's own compaction; never folded
    EMBEDDINGS_PENDING = "embeddings-pending"  # provisional


def with_size(reason: str, folds_at: int) -> str:
    """The reason of a history that went whole. `folds_at`: tokens of the history from which on it
    will be folded; an estimate where prices decide."""
    return f"{reason}; folds-at={folds_at}"


def is_degraded(state: str) -> bool:
    """Return True if a state is degraded; the state may come from a server of another version."""
    return state.startswith(_DEGRADED)

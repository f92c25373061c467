"""Outcome of context memory for one request: the value of `x-memtree-state`, and of the field
`state` of answers."""

from __future__ import annotations

from enum import StrEnum

from memtree.budget.packing import PassReason

_DEGRADED = "degraded:"


class State(StrEnum):
    """All values of `x-memtree-state`; a degraded state names the part that failed."""

    UNDECIDED = ""  # memory has not answered yet
    OFF = "off"
    BELOW_THRESHOLD = "below-threshold"  # sent whole: under 10,000 tokens
    PASSED = "passed"  # sent whole, for the given reason
    PACKED = "packed"  # folded
    PROVISIONAL = "provisional"  # folded, while many passages still lack their vectors
    REFUSED = "refused"  # the part that must be sent whole exceeds the model's window

    NO_STORE = "degraded:store"  # folded with a tree that serves this request alone
    NO_TREE = "degraded:indexing"  # stage 1 did not reach the end of the history
    NO_EMBEDDER = "degraded:embedder"  # folded, and ranked without vectors
    NO_ROOM = "degraded:no-room"  # older messages left out, without room for a memory message
    INVALID_HISTORY = "degraded:invalid-history"  # sent unchanged: the upstream judges it
    ENCODED_BODY = "degraded:encoded-body"  # sent unchanged: it cannot be decoded
    INTERNAL = "degraded:internal"  # sent unchanged: an internal error

    @classmethod
    def degraded(cls, cause: str) -> State:
        """Return the state for this cause. Raises `ValueError` if there is none."""
        return cls(_DEGRADED + cause)


class Reason(StrEnum):
    """Reason that a state alone does not give: `x-memtree-reason`. For a history that is passed now
    and will be folded when it has grown, `with_size` adds the size."""

    NONE = ""
    FITS = PassReason.FITS  # passed: no larger than the target
    ONE_ROUND = PassReason.ONE_ROUND  # passed: one round, which is never cut
    LARGE_ROUND = PassReason.LARGE_ROUND  # passed: the newest round alone fills the model
    CHEAPER_WHOLE = "cheaper-whole"  # passed: a fold would cost more than allowed
    TREE_PENDING = "tree-pending"  # passed: its tree is not ready, and it fits without
    SERVER_STATE = "server-state"  # passed: the upstream holds a part of the history
    SIDE_REQUEST = "side-request"  # passed: a title, a client's own compaction; never folded
    EMBEDDINGS_PENDING = "embeddings-pending"  # provisional
    UNKNOWN_SWITCH = "unknown-switch"  # off: a header switches memory with an unknown word
    NO_MEMORY_HERE = "path-without-memory"  # off: memory was asked for on a relayed path


def with_size(reason: str, folds_at: int) -> str:
    """Return the reason of a history that was sent whole, with `folds_at`: the tokens from which on
    it will be folded; an estimate if prices decide."""
    return f"{reason}; folds-at={folds_at}"


def size_in(reason: str) -> int:
    """Return the size that `with_size` has added to a reason; 0 for none.

    >>> size_in("cheaper-whole; folds-at=53000")
    53000
    """
    return int(reason.partition("folds-at=")[2].partition(";")[0] or 0)


def is_degraded(state: str) -> bool:
    """Return True if a state is degraded; the state may come from a server of another version."""
    return state.startswith(_DEGRADED)

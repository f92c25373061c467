"""Declares the ports of indexing: who runs stage 1, and the queues of stages 2 and 3.

`Builder` runs stage 1 off the event loop. `Peers` are the other processes on the same store. If two
proxies get the same long history at once, both would spend its seconds of stage 1: with the lock of
`Peers` one does, and the others wait for it and read the result. And when one process deletes data,
the others must drop it from their caches. No answer depends on this: a process that is alone, or
cannot reach the others, does everything by itself.

The queues hold background work: embeddings (stage 2) and summaries (stage 3).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from memtree.history.chat_history import History
from memtree.tree.extraction import Unsummarised
from memtree.tree.growth import GrownTree, Tail
from memtree.tree.node import LeafWork, Node, NodeWork, Summary

# Stores the next part of a run in progress and returns True on success. Never raises.
Keep: TypeAlias = Callable[[GrownTree], Awaitable[bool]]


class Builder(Protocol):
    """Runs stage 1 (`growth.grow`) without blocking the event loop."""

    async def grow(self, tail: Tail, size: int, keep: Keep | None = None) -> GrownTree:
        """Grow the whole tail and return the result. `size`: its tokens. `keep`: receives the parts
        that a long run has sealed so far, and the rest of them if it is stopped or fails; not the
        end of a successful run, which is the result. A short tail is not grown `sparse`.

        Joins a running run with the same end; its result may then begin before this tail.
        """
        ...

    async def summaries(self, nodes: Unsummarised) -> list[Summary]:
        """Make summaries: `extraction.summaries_of`."""
        ...

    def warm(self) -> None:
        """Prepare for a long tail that is about to come, if that takes time. Returns at once."""
        ...


# Tokens of a tail from which on a lock is taken. Taking it costs half a millisecond, growing a tail
# of this size an eighth of a second, in a child process; an ordinary turn is far smaller.
SHARED_TOKENS = 60_000
NEWEST = 64  # prefixes of a history that are checked: an agent adds some messages in each turn

GrowthLock = AbstractAsyncContextManager[object]
OWN: GrowthLock = nullcontext()  # the lock of a process without peers


class Peers(Protocol):
    async def take(self, tenant: str, addresses: Sequence[bytes]) -> GrowthLock | None:
        """Take the lock for growing the history that ends at the last of these addresses; hold it
        until the result is committed. The other addresses are those of its prefixes.

        Returns None if another process held the lock of that history, or of one of those prefixes,
        and has released it: the store may have more by now. Never raises. Waits while another
        process holds the lock, and may be cancelled. If Redis is unreachable, the lock is granted
        locally.
        """
        ...

    async def forgotten(self, tenant: str) -> None:
        """Notify the others that something of this tenant was deleted. Never raises; a process that
        cannot be reached now is notified later."""
        ...


class NoPeers:
    """The `Peers` of a process without any."""

    async def take(self, tenant: str, addresses: Sequence[bytes]) -> GrowthLock | None:
        return OWN

    async def forgotten(self, tenant: str) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Pending:
    tokens: int
    jobs: int


class BackgroundQueue(Protocol):
    """Work for histories. A job's key is (tenant, address where work starts)."""

    async def pending(self, tenant: str) -> Pending:
        """Return the waiting work, as far as it is known. Never raises."""
        ...

    async def forget(self, tenant: str, addresses: Collection[bytes] | None) -> int:
        """Drop the jobs of histories that end at one of these addresses (None: all jobs of the
        tenant); returns how many. A running batch ends, and stores nothing. Never raises: jobs that
        cannot be reached now are dropped as soon as possible."""
        ...


class IndexQueue(BackgroundQueue, Protocol):
    """Takes leaves of a history, to be embedded."""

    def submit(
        self,
        history: History,
        start: bytes,
        leaves: Sequence[LeafWork],
        *,
        backfill: bool = False,
    ) -> None:
        """Queue these leaves to be embedded; a newer call with the same tenant and start replaces
        an older one. Never blocks and never raises: excess jobs are dropped and counted.
        `backfill`: the history is not in use now, so others come first."""
        ...


@dataclass(frozen=True, slots=True)
class SummaryStatus:
    """State of stage 3 for one tenant. `state`: off, ok, limit_reached or unavailable;
    `pending_nodes`: nodes that wait, or were given up until their text is posted again. The rest:
    usage of its calls of this day (UTC); running calls count with the most that they may take."""

    state: str
    pending_nodes: int = 0
    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0


class SummaryQueue(BackgroundQueue, Protocol):
    """Takes nodes of a history, to be summarised."""

    def submit(
        self,
        history: History,
        start: bytes,
        work: Sequence[NodeWork],
        nodes: Mapping[bytes, Node],
        *,
        backfill: bool = False,
    ) -> None:
        """Queue these nodes to be summarised, children before parents. `nodes`: the whole tree. The
        other arguments are those of `IndexQueue.submit`."""
        ...

    async def status(self, tenant: str) -> SummaryStatus:
        """Return the status; `unavailable`, with zeros for the day, if the store cannot be read."""
        ...

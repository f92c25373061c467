"""Queues of background work: embeddings (stage 2) and summaries (stage 3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from memtree.history.chat_history import History
from memtree.tree.node import LeafWork, Node, NodeWork


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

"""Queues of background work: embeddings (stage 2) and summaries (stage 3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from memtree.conversation.history import History
from memtree.tree.node import Node
from memtree.tree.work import LeafWork, NodeWork


@dataclass(frozen=True, slots=True)
class Pending:
    tokens: int
    jobs: int


class IndexQueue(Protocol):
    """Takes background work for a history. A job is (tenant, address where work starts)."""

    def submit(
        self,
        history: History,
        start: bytes,
        leaves: Sequence[LeafWork],
        *,
        backfill: bool = False,
    ) -> None:
        """Embed these leaves some time; a newer call with the same tenant and start replaces an
        older one. Never blocks and never raises: what is too much is dropped and counted.
        `backfill`: nobody talks in this history now, so others come first."""
        ...

    async def pending(self, tenant: str) -> Pending:
        """Return the work that waits, as far as it is known: never raises."""
        ...

    async def forget(self, tenant: str, addresses: Collection[bytes] | None) -> int:
        """Drop the jobs of histories that end at one of these addresses (None: all jobs of the
        tenant); returns how many. A batch under way ends, and leaves nothing in the store. Never
        raises: what cannot be reached now is dropped as soon as it can."""
        ...


@dataclass(frozen=True, slots=True)
class SummaryStatus:
    """How stage 3 does for one tenant. `state`: off, ok, limit_reached or unavailable;
    `pending_nodes`: what waits, and what was given up until its text comes again. The rest: what
    its calls of this day (UTC) took, those under way at the most that they may take."""

    state: str
    pending_nodes: int = 0
    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0


class SummaryQueue(Protocol):
    """Takes stage 3 for a history. A job is (tenant, address where work starts)."""

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

    async def pending(self, tenant: str) -> Pending:
        """Return the work that waits, as `IndexQueue.pending` does."""
        ...

    async def status(self, tenant: str) -> SummaryStatus:
        """`unavailable`, and the day's numbers 0, where the store cannot tell them."""
        ...

    async def forget(self, tenant: str, addresses: Collection[bytes] | None) -> int:
        """Forget jobs, as `IndexQueue.forget` does."""
        ...

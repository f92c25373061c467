"""The queues of stages 2 and 3 in a proxy, when workers do the work."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from memtree.background.jobs import job
from memtree.background.progress import Backlog
from memtree.background.summarizing.spending import Spending
from memtree.conversation.history import History
from memtree.errors import QueueUnavailable
from memtree.ports.models import Embedder
from memtree.ports.queues import Pending, SummaryStatus
from memtree.ports.store import TreeStore
from memtree.tree.node import LeafWork, Node, NodeWork
from memtree_indexer.redis.connection import RedisConnection
from memtree_indexer.redis.jobs.ledger import EMBED, SUMMARIES
from memtree_indexer.redis.jobs.outbox import Outbox
from memtree_indexer.redis.jobs.payloads import tenant_name
from memtree_indexer.redis.jobs.pending import StageJobs
from memtree_indexer.redis.jobs.remaining import unembedded, unsummarised

WORKERS = "memtree:workers"  # sorted set: processes by the time until which they count as live
STATE = "memtree:state:"  # of a tenant's summaries, if it is not "ok"


class _StageQueue:
    """A queue of one stage, whose work is done by `memtree worker`."""

    def __init__(self, stage: str, outbox: Outbox, jobs: StageJobs) -> None:
        self._name, self._outbox, self._stage = stage, outbox, jobs

    @property
    def dropped(self) -> int:
        return self._stage.unsent.dropped

    async def backlog(self) -> Backlog:
        return await self._stage.backlog()

    async def pending(self, tenant: str) -> Pending:
        return (await self._stage.of(tenant)).pending

    async def forget(self, tenant: str, addresses: Collection[bytes] | None) -> int:
        self._stage.forget(tenant)
        return await self._outbox.forget(self._name, tenant, addresses)


class RedisQueue(_StageQueue):
    """An `IndexQueue` in Redis."""

    def __init__(
        self, outbox: Outbox, link: RedisConnection, store: TreeStore, embedder: Embedder | None
    ) -> None:
        """`embedder`: None if nothing is submitted."""

        def remaining(tenant: str, ids: Sequence[bytes]) -> Awaitable[Mapping[bytes, Node]]:
            return unembedded(store, tenant, embedder.recipe if embedder else "", ids)

        super().__init__(EMBED, outbox, StageJobs(EMBED, outbox, link, remaining))

    def submit(
        self,
        history: History,
        start: bytes,
        leaves: Sequence[LeafWork],
        *,
        backfill: bool = False,
    ) -> None:
        if leaves:
            self._outbox.put(EMBED, job(history, start, leaves, backfill=backfill))


class RedisSummaries(_StageQueue):
    """A `SummaryQueue` in Redis."""

    def __init__(
        self, outbox: Outbox, link: RedisConnection, store: TreeStore, spending: Spending
    ) -> None:
        jobs = StageJobs(SUMMARIES, outbox, link, partial(unsummarised, store))
        super().__init__(SUMMARIES, outbox, jobs)
        self._link, self._spending = link, spending

    def submit(
        self,
        history: History,
        start: bytes,
        work: Sequence[NodeWork],
        nodes: Mapping[bytes, Node],
        *,
        backfill: bool = False,
    ) -> None:
        """Submit the work. `nodes` are not sent: the worker reads them from the store."""
        if work:
            self._outbox.put(SUMMARIES, job(history, start, work, backfill=backfill))

    async def status(self, tenant: str) -> SummaryStatus:
        """Return the status; `unavailable` also if Redis does not answer, or no worker is live."""
        count = (await self._stage.of(tenant)).count + self._stage.unsent.owed(tenant)
        return await self._spending.status(tenant, await self._state(tenant), count)

    async def _state(self, tenant: str) -> str:
        try:
            value: Any = await self._link.run(
                lambda client: client.get(STATE + tenant_name(tenant))
            )
            living = await workers(self._link)
        except QueueUnavailable:
            return "unavailable"
        if value:
            return str(value.decode())
        return "ok" if living else "unavailable"


async def workers(link: RedisConnection) -> int:
    """Return the number of live worker processes. Raises `QueueUnavailable`."""
    return int(await link.run(lambda client: client.zcount(WORKERS, time.time(), "+inf")))

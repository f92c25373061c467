"""A proxy's side of Redis: the queues of stages 2 and 3, whose work workers do.

Unfinished work is counted as a proxy knows it: in the outbox, in Redis, or lost with Redis.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from memtree.clock import Clock
from memtree.config import Settings
from memtree.errors import QueueUnavailable, Unavailable
from memtree.history.chat_history import History
from memtree.jobs.job_queue import Backlog, Job
from memtree.jobs.job_queue import job as new_job
from memtree.jobs.spending import DailyLimits, Spending, SummaryPrices
from memtree.ports.context_store import Store, TreeStore
from memtree.ports.indexing_stages import Pending, SummaryStatus
from memtree.ports.models import Embedder
from memtree.process.bounded import remember
from memtree.tree.node import LeafWork, Node, NodeWork
from memtree_indexer.ledger import CLOCK, EMBED, LIFE, SUMMARIES, JobEntry
from memtree_indexer.outbox import Outbox, SentJob
from memtree_indexer.payloads import tenant_name, unembedded, unsummarised
from memtree_indexer.peers import RedisPeers
from memtree_indexer.redis_connection import RedisConnection

# Returns those of a tenant's leaves or nodes that the store lists as unfinished; see
# `payloads.py`.
Remaining: TypeAlias = Callable[[str, Sequence[bytes]], Awaitable[Mapping[bytes, Node]]]


@dataclass(frozen=True, slots=True)
class UndoneWork:
    """Unfinished work of one job: tokens, and the number of leaves or nodes."""

    tokens: int
    count: int


@dataclass(frozen=True, slots=True)
class TenantJobs:
    """Unfinished jobs of one tenant: those in the outbox; those in Redis that are running or queued
    (`queued`) and those given up; the work of jobs that Redis lost, or whose state is unknown while
    it does not answer."""

    unsent: Sequence[Job[Any]]
    queued: Sequence[JobEntry]
    given_up: Sequence[JobEntry]
    lost: Sequence[UndoneWork]

    @property
    def pending(self) -> Pending:
        """Return the waiting work, without work that was given up until the history is posted
        again."""
        jobs: tuple[Job[Any] | JobEntry | UndoneWork, ...]
        jobs = (*self.unsent, *self.queued, *self.lost)
        return Pending(sum(job.tokens for job in jobs), len(jobs))

    @property
    def count(self) -> int:
        """Count unfinished leaves or nodes, those given up included."""
        sent: tuple[JobEntry | UndoneWork, ...] = (*self.queued, *self.given_up, *self.lost)
        return sum(len(job.work) for job in self.unsent) + sum(job.count for job in sent)


class _StageQueue:
    """A queue of one stage, whose work is done by `memtree worker`."""

    def __init__(
        self, stage: str, outbox: Outbox, link: RedisConnection, remaining: Remaining
    ) -> None:
        self._stage, self._outbox, self._link = stage, outbox, link
        self._unsent, self._sent = outbox.jobs[stage], outbox.sent_jobs[stage]
        self._remaining = remaining
        # The jobs in Redis by tenant and id, as of its last answer.
        self._last: OrderedDict[str, Mapping[str, JobEntry]] = OrderedDict()

    @property
    def dropped(self) -> int:
        return self._unsent.dropped

    async def pending(self, tenant: str) -> Pending:
        return (await self._jobs_of(tenant)).pending

    async def _jobs_of(self, tenant: str) -> TenantJobs:
        """Read the tenant's jobs, first here and then in Redis, so that a job which is sent
        meanwhile is counted once and never missed."""
        unsent, sent = self._unsent.of(tenant), self._sent.of(tenant)
        try:
            entries, missing = await self._look(tenant, sent)
        except QueueUnavailable:
            entries = self._last.get(tenant, {})
            missing = [job for job in sent if job.id not in entries]
        replaced = {address for job in unsent for address in job.history.addresses}
        there = [job for job in entries.values() if bytes.fromhex(job.start) not in replaced]
        lost = [await self._undone(tenant, job) for job in missing if job.start not in replaced]
        return TenantJobs(
            unsent,
            [job for job in there if not job.owed],
            [job for job in there if job.owed],
            [work for work in lost if work.count],
        )

    async def forget(self, tenant: str, addresses: Collection[bytes] | None) -> int:
        self._last.pop(tenant, None)
        return await self._outbox.forget(self._stage, tenant, addresses)

    async def backlog(self) -> Backlog:
        """Return the backlog. Raises `QueueUnavailable`."""
        jobs = await self._link.run(lambda client: _of_all(client, self._stage))
        oldest = min((job.since for job in jobs), default=0.0)
        age = max(0.0, time.time() - oldest) if jobs else 0.0
        return Backlog(len(jobs), sum(job.tokens for job in jobs), age)

    async def _look(
        self, tenant: str, sent: Sequence[SentJob]
    ) -> tuple[Mapping[str, JobEntry], list[SentJob]]:
        """Return the jobs in Redis by id, and those of `sent` that it lost. Raises
        `QueueUnavailable`."""
        key = f"memtree:ledger:{self._stage}:{tenant_name(tenant)}"
        entries, life, clock = await self._link.run(lambda client: _state(client, key))
        remember(self._last, tenant, entries)
        missing = [job for job in sent if job.id not in entries]
        lost = [job for job in missing if job.is_lost(life, clock)]
        for job in missing:
            if job not in lost:
                self._sent.drop(tenant, job)  # done, or replaced by another process
        return entries, lost

    async def _undone(self, tenant: str, job: SentJob) -> UndoneWork:
        """Query the store for the unfinished part of the job's work."""
        try:
            ids = await self._remaining(tenant, list(job.work))
        except Unavailable:
            return UndoneWork(sum(job.work.values()), len(job.work))
        if not ids:
            self._sent.drop(tenant, job)
        return UndoneWork(sum(job.work[id_] for id_ in ids), len(ids))


async def _state(client: Any, key: str) -> tuple[Mapping[str, JobEntry], bytes, int]:
    """Return the jobs of a ledger by id; Redis's life and clock, see `outbox.py`."""
    async with client.pipeline() as pipe:
        rows, life, clock = await pipe.hgetall(key).get(LIFE).get(CLOCK).execute()
    return _entries(rows), life or b"", int(clock or 0)


async def _of_all(client: Any, stage: str) -> list[JobEntry]:
    """Return the waiting jobs of all tenants, without those given up."""
    jobs: list[JobEntry] = []
    for tenant in await client.smembers(f"memtree:tenants:{stage}"):
        rows = await client.hgetall(f"memtree:ledger:{stage}:{tenant.decode()}")
        jobs += _entries(rows).values()
    return [job for job in jobs if not job.owed]


def _entries(rows: Mapping[bytes, bytes]) -> dict[str, JobEntry]:
    return {id_.decode(): JobEntry.read(row) for id_, row in rows.items() if id_ != b"rev"}


# ---------------------------------------------------------------- the queues

WORKERS = "memtree:workers"  # sorted set: processes by the time until which they count as live
STATE = "memtree:state:"  # of a tenant's summaries, if it is not "ok"


class RedisQueue(_StageQueue):
    """An `IndexQueue` in Redis."""

    def __init__(
        self, outbox: Outbox, link: RedisConnection, store: TreeStore, embedder: Embedder | None
    ) -> None:
        """`embedder`: None if nothing is submitted."""

        def remaining(tenant: str, ids: Sequence[bytes]) -> Awaitable[Mapping[bytes, Node]]:
            return unembedded(store, tenant, embedder.recipe if embedder else "", ids)

        super().__init__(EMBED, outbox, link, remaining)

    def submit(
        self,
        history: History,
        start: bytes,
        leaves: Sequence[LeafWork],
        *,
        backfill: bool = False,
    ) -> None:
        if leaves:
            self._outbox.put(EMBED, new_job(history, start, leaves, backfill=backfill))


class RedisSummaries(_StageQueue):
    """A `SummaryQueue` in Redis."""

    def __init__(
        self, outbox: Outbox, link: RedisConnection, store: TreeStore, spending: Spending
    ) -> None:
        super().__init__(SUMMARIES, outbox, link, partial(unsummarised, store))
        self._spending = spending

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
            self._outbox.put(SUMMARIES, new_job(history, start, work, backfill=backfill))

    async def status(self, tenant: str) -> SummaryStatus:
        """Return the status; `unavailable` also if Redis does not answer, or no worker is live."""
        count = (await self._jobs_of(tenant)).count + self._unsent.owed(tenant)
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


# ---------------------------------------------------------------- opened from the settings


@dataclass(frozen=True, slots=True)
class RedisQueues:
    """Queues in Redis; the opener starts and closes them. `summaries`: None if no model writes
    summaries."""

    link: RedisConnection
    outbox: Outbox
    queue: RedisQueue
    summaries: RedisSummaries | None
    peers: RedisPeers

    @classmethod
    def of(
        cls, settings: Settings, store: Store, clock: Clock, embedder: Embedder | None
    ) -> RedisQueues:
        """Build the queues in Redis that the settings name. `embedder`: None if nothing is
        embedded."""
        link = RedisConnection(settings.queue)
        outbox = Outbox(settings.queue, link, clock, parts=settings.summary_leaves)
        spending = Spending(store, clock, SummaryPrices.of(settings), DailyLimits.of(settings))
        summaries = (
            RedisSummaries(outbox, link, store, spending) if settings.summary_model else None
        )
        queue = RedisQueue(outbox, link, store, embedder)
        return cls(link, outbox, queue, summaries, RedisPeers(link))

    async def start(self, forgotten: Callable[[str | None], object]) -> None:
        """Start. `forgotten`: called when another process has deleted something of a tenant (None:
        of an unknown one)."""
        self.outbox.start()
        await self.peers.start(forgotten)

    async def workers(self) -> int:
        """Return the number of live worker processes. Raises `QueueUnavailable`."""
        return await workers(self.link)

    async def close(self, patience: float) -> None:
        """Send what can be sent within `patience` seconds, and end."""
        await self.peers.close()
        await self.outbox.close(patience)
        await self.link.close()

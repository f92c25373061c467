"""Count the unfinished work of one stage, as a proxy knows it: in the outbox, in Redis, or lost
with Redis."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from memtree.background.jobs import Job
from memtree.background.progress import Backlog
from memtree.errors import QueueUnavailable, Unavailable
from memtree.ports.queues import Pending
from memtree.process.bounded import remember
from memtree.tree.node import Node
from memtree_indexer.redis.connection import RedisConnection
from memtree_indexer.redis.jobs.ledger import CLOCK, LIFE, JobEntry
from memtree_indexer.redis.jobs.outbox import Outbox
from memtree_indexer.redis.jobs.payloads import tenant_name
from memtree_indexer.redis.jobs.sent_jobs import SentJob

# Returns those of a tenant's leaves or nodes that the store lists as unfinished; see
# `remaining.py`.
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


class StageJobs:
    """Unfinished jobs of one stage."""

    def __init__(
        self, stage: str, outbox: Outbox, link: RedisConnection, remaining: Remaining
    ) -> None:
        self.stage, self.link = stage, link
        self.unsent, self._sent = outbox.jobs[stage], outbox.sent_jobs[stage]
        self._remaining = remaining
        # The jobs in Redis by tenant and id, as of its last answer.
        self._last: OrderedDict[str, Mapping[str, JobEntry]] = OrderedDict()

    async def of(self, tenant: str) -> TenantJobs:
        """Read the tenant's jobs, first here and then in Redis, so that a job which is sent
        meanwhile is counted once and never missed."""
        unsent, sent = self.unsent.of(tenant), self._sent.of(tenant)
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

    def forget(self, tenant: str) -> None:
        self._last.pop(tenant, None)

    async def backlog(self) -> Backlog:
        """Return the backlog. Raises `QueueUnavailable`."""
        jobs = await self.link.run(lambda client: _of_all(client, self.stage))
        oldest = min((job.since for job in jobs), default=0.0)
        age = max(0.0, time.time() - oldest) if jobs else 0.0
        return Backlog(len(jobs), sum(job.tokens for job in jobs), age)

    async def _look(
        self, tenant: str, sent: Sequence[SentJob]
    ) -> tuple[Mapping[str, JobEntry], list[SentJob]]:
        """Return the jobs in Redis by id, and those of `sent` that it lost. Raises
        `QueueUnavailable`."""
        key = f"memtree:ledger:{self.stage}:{tenant_name(tenant)}"
        entries, life, clock = await self.link.run(lambda client: _state(client, key))
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
    """Return the jobs of a ledger by id; Redis's life and clock, see `sent_jobs.py`."""
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

"""Jobs in memory: what background work waits for, bounded, one job a conversation.

A job's name is (tenant, address where work starts), so a growing chat keeps one job and the newest
payload wins; what a revert threw away is not in the newest payload and is dropped with the old one.
Jobs hold message text, only in memory and only until their work is done.

Retries are counted here, with exponential backoff. What this file does not do: the work, and
choosing which job is next (`embedding/queue.py`, `summarizing/scheduler.py`).
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Generic, Protocol, TypeVar

from memtree.conversation.history import History
from memtree.conversation.message_list import size_from
from memtree.ports.queues import Pending
from memtree.process import tracing
from memtree.process.tracing import Tracer

log = logging.getLogger("memtree.indexer")

MAX_JOBS = 256
MAX_BYTES = 512 * 1024 * 1024
TENANT_SHARE = 0.75  # of a queue that a tenant may have: others always find room
MAX_TRIES = 6
BACK_OFF, BACK_OFF_LIMIT = 1.0, 60.0  # seconds


class Work(Protocol):
    """A unit of work of a job: a leaf to embed, a node to summarise."""

    @property
    def id(self) -> bytes: ...

    @property
    def tokens(self) -> int: ...


WorkT = TypeVar("WorkT", bound=Work)
JobT = TypeVar("JobT", bound="Job[Any]")
Address = TypeVar("Address", bytes, str)


@dataclass(slots=True, eq=False)
class Job(Generic[WorkT]):
    """Job for one history. `work`: by id, in the order it was submitted."""

    tenant: str
    start: bytes
    history: History
    work: dict[bytes, WorkT]
    since: float = 0.0  # monotonic seconds: its first submission
    submitted: float = 0.0  # monotonic seconds: when this payload came; of jobs for Redis only
    backfill: bool = False  # others come first
    tries: int = 0  # attempts in a row that failed
    not_before: float = 0.0  # monotonic seconds of the next attempt
    # Times the request that submitted it, where that is traced.
    watch: Tracer | None = field(default_factory=tracing.current)
    size: int = field(init=False)  # bytes of the messages it holds
    ended: asyncio.Event = field(default_factory=asyncio.Event)  # it is in no queue any more

    def __post_init__(self) -> None:
        self.size = size_from(self.history.messages)

    @property
    def name(self) -> tuple[str, bytes]:
        return self.tenant, self.start

    @property
    def tokens(self) -> int:
        return sum(work.tokens for work in self.work.values())


def job(
    history: History, start: bytes, work: Sequence[WorkT], *, backfill: bool = False
) -> Job[WorkT]:
    """A new job for this work of a history; `start`: the address where it begins."""
    by_id = {each.id: each for each in work}
    return Job(history.tenant, start, history, by_id, backfill=backfill)


def replaces(
    start: Address, addresses: Collection[Address], old: Address, has_all: Callable[[], bool]
) -> bool:
    """Return True if a job that begins at `start`, of a history with these addresses, takes the
    place of the tenant's job that begins at `old`. One rule for jobs in memory and jobs in Redis.

    The old one began in the same history: what it still has to do is in the new one, or was thrown
    away by a revert. Or the new one has all its work (`has_all`, asked last: it may be expensive).
    """
    return old == start or old in addresses or has_all()


def back_off(tries: int) -> float:
    """Seconds before the next attempt, after so many in a row that failed.

    >>> [back_off(tries) for tries in (1, 2, 3, 9)]
    [1.0, 2.0, 4.0, 60.0]
    """
    return float(min(BACK_OFF_LIMIT, BACK_OFF * 2 ** (tries - 1)))


class Jobs(Generic[JobT]):
    """The jobs of one queue, oldest first, and the events that its worker sleeps on."""

    def __init__(
        self, max_jobs: int = MAX_JOBS, max_bytes: int = MAX_BYTES, max_tries: int = MAX_TRIES
    ) -> None:
        self.max_jobs, self.max_bytes, self.max_tries = max_jobs, max_bytes, max_tries
        self._jobs: OrderedDict[tuple[str, bytes], JobT] = OrderedDict()
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        # By job name, the ids of the work that was given up.
        self.given_up: OrderedDict[tuple[str, bytes], set[bytes]] = OrderedDict()
        self.dropped = 0  # jobs that were given up since the start

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[JobT]:
        """A copy of the moment, so that jobs may be removed in the loop."""
        return iter(list(self._jobs.values()))

    def __contains__(self, job: JobT) -> bool:
        return self._jobs.get(job.name) is job

    def of(self, tenant: str) -> list[JobT]:
        """Those of a tenant, oldest first."""
        return [job for job in self._jobs.values() if job.tenant == tenant]

    # -- in and out --------------------------------------------------------------------------

    def add(self, new: JobT) -> list[JobT]:
        """Put a job in the place of those that it replaces; returns these."""
        addresses = set(new.history.addresses)
        replaced = [old for old in self.of(new.tenant) if self._replaces(new, addresses, old)]
        for old in replaced:
            self.drop(old)
            new.tries = max(new.tries, old.tries)
            new.not_before = max(new.not_before, old.not_before)
            new.since = min(new.since, old.since)
        self._jobs[new.name] = new
        for name in [name for name in self.given_up if name[1] in addresses]:
            if name[0] == new.tenant:
                del self.given_up[name]
        self._bound(self.of(new.tenant), TENANT_SHARE)
        self._bound(list(self))
        self._idle.clear()
        self.wake()
        return replaced

    @staticmethod
    def _replaces(new: JobT, addresses: set[bytes], old: JobT) -> bool:
        return replaces(new.start, addresses, old.start, lambda: old.work.keys() <= new.work.keys())

    def drop(self, job: JobT) -> None:
        """Remove a job. A job that was replaced by a newer one is no longer here, so nothing
        happens."""
        if job in self:
            del self._jobs[job.name]
            job.ended.set()

    def give_up(self, job: JobT) -> None:
        """Drop it; its work stays owed until its history is posted again."""
        if job in self:
            self.drop(job)
            self.dropped += 1
            self.given_up[job.name] = set(job.work)
            while len(self.given_up) > MAX_JOBS:
                self.given_up.popitem(last=False)

    def done(self, tenant: str, ids: Collection[bytes]) -> None:
        """Take this work out of all jobs of the tenant: a newer payload may have come meanwhile."""
        for job in self.of(tenant):
            for id_ in ids:
                job.work.pop(id_, None)
            if not job.work:
                self.drop(job)
        for name, owed in list(self.given_up.items()):
            if name[0] == tenant:
                owed.difference_update(ids)
                if not owed:
                    del self.given_up[name]

    def forget(self, tenant: str, addresses: Collection[bytes] | None) -> int:
        """Forget jobs, as `IndexQueue.forget` says."""
        gone = [
            job
            for job in self.of(tenant)
            if addresses is None or job.history.addresses[-1] in addresses
        ]
        for job in gone:
            self.drop(job)
        for name in [name for name in self.given_up if name[0] == tenant]:
            if addresses is None or name[1] in addresses:
                del self.given_up[name]
        self.wake()
        return len(gone)

    def clear(self) -> None:
        """Drop all; nothing of them is owed."""
        for job in self:
            self.drop(job)

    def pending(self, tenant: str) -> Pending:
        """Return the work of a tenant that waits, under way or not."""
        mine = self.of(tenant)
        return Pending(sum(job.tokens for job in mine), len(mine))

    def owed(self, tenant: str) -> int:
        """How much work of the tenant was given up: leaves or nodes."""
        owed = [ids for name, ids in self.given_up.items() if name[0] == tenant]
        return len(set().union(*owed))

    def _bound(self, jobs: Sequence[JobT], share: float = 1.0) -> None:
        """Give up the oldest of these, as many as are over a share of the queue; one may stay."""
        size = sum(job.size for job in jobs)
        for at, oldest in enumerate(jobs[:-1]):
            if len(jobs) - at <= ceil(self.max_jobs * share) and size <= self.max_bytes * share:
                return
            size -= oldest.size
            self.give_up(oldest)
            log.warning("indexer.job_dropped tenant=%s", oldest.tenant[:10])

    # -- turns, retries, waits ---------------------------------------------------------------

    def move_to_end(self, job: JobT) -> None:
        """Behind all others: it had its turn."""
        if job in self:
            self._jobs.move_to_end(job.name)

    def due(self, now: float) -> Iterator[JobT]:
        """Those whose time has come, backfill last."""
        due = [job for job in self._jobs.values() if job.not_before <= now]
        return iter(sorted(due, key=lambda job: job.backfill))

    def retry(self, failed: JobT, now: float, code: str, wait: float = 0.0) -> None:
        """Try a job again after a backoff, and not before `wait` seconds, or give it up. Where it
        was replaced meanwhile, this goes for the newer ones that share its work."""
        for job in [failed] if failed in self else self.of(failed.tenant):
            if job is failed or not job.work.keys().isdisjoint(failed.work):
                self._retry(job, now, code, wait)

    def _retry(self, job: JobT, now: float, code: str, wait: float) -> None:
        job.tries += 1
        if job.tries >= self.max_tries:
            self.give_up(job)
            log.warning("indexer.job_given_up code=%s", code)
            return
        wait = max(wait, back_off(job.tries))
        job.not_before = now + wait
        log.warning("indexer.job_delayed code=%s seconds=%.0f", code, wait)

    def wake(self) -> None:
        """Let the worker look again."""
        self._wake.set()

    async def sleep(self, now: float, until: Sequence[float] = (), *, busy: bool = False) -> None:
        """Until something is submitted, a job's time has come or one of `until` (monotonic
        seconds). `busy`: there is work under way, of whatever job."""
        if not self._jobs and not busy:
            self._idle.set()
        times = [*until, *(job.not_before for job in self._jobs.values())]
        waits = [max(0.01, time - now) for time in times if time > now]
        try:
            async with asyncio.timeout(min(waits) if waits else None):
                await self._wake.wait()
        except TimeoutError:
            pass
        # After the wait: whatever came while the worker was looking is looked at next.
        self._wake.clear()

    async def join(self) -> None:
        """Until nothing is left to do."""
        await self._idle.wait()

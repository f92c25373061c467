"""Keep background jobs in memory: bounded, one job a conversation; and count their progress.

A job's name is (tenant, address where work starts), so a growing chat keeps one job and the newest
payload wins; messages removed by a revert are not in it, and disappear with the old job. Jobs hold
message text, in memory only, until their work is done.

Retries are counted here, with exponential backoff. The queues that do the work and choose the next
job are in `embedding.py`, `summary_queue.py` and `extraction_queue.py`. Every queue has a
`Backlog`, wherever it keeps its jobs; workers count in a `StageTotals`. Prometheus is left to
`proxy/memtree_proxy/http/process_metrics.py`.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Generic, Protocol, TypeVar

from memtree.clock import Clock
from memtree.history.chat_history import History
from memtree.history.message_list import size_from
from memtree.ports.indexing_stages import Pending
from memtree.process import tracing
from memtree.process.tracing import Tracer
from memtree.tree.node import Node, NodeWork

log = logging.getLogger("memtree.indexer")

MAX_JOBS = 256
MAX_BYTES = 512 * 1024 * 1024
TENANT_SHARE = 0.75  # share of a queue that a tenant may fill: others always find room
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
    # monotonic seconds: arrival of this payload; set for jobs from Redis only
    submitted: float = 0.0
    backfill: bool = False  # jobs of other kinds come first
    tries: int = 0  # failed attempts in a row
    not_before: float = 0.0  # monotonic seconds of the next attempt
    # Traces the request that submitted it, if that is traced.
    watch: Tracer | None = field(default_factory=tracing.current)
    size: int = field(init=False)  # bytes of the messages it holds
    # set once it is in no queue any more
    ended: asyncio.Event = field(default_factory=asyncio.Event)

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
    """Make a job for this work of a history; `start`: the address where the work begins."""
    by_id = {each.id: each for each in work}
    return Job(history.tenant, start, history, by_id, backfill=backfill)


def replaces(
    start: Address, addresses: Collection[Address], old: Address, has_all: Callable[[], bool]
) -> bool:
    """Return True if a job that begins at `start`, of a history with these addresses, replaces the
    tenant's job that begins at `old`. The same rule holds for jobs in memory and in Redis.

    Either the old one began in the same history: its remaining work is in the new one, or was
    removed by a revert. Or the new one has all its work (`has_all`, called last, since it may be
    expensive).
    """
    return old == start or old in addresses or has_all()


def back_off(tries: int) -> float:
    """Return the seconds before the next attempt, after `tries` failures in a row.

    >>> [back_off(tries) for tries in (1, 2, 3, 9)]
    [1.0, 2.0, 4.0, 60.0]
    """
    return float(min(BACK_OFF_LIMIT, BACK_OFF * 2 ** (tries - 1)))


class Sized(Protocol):
    @property
    def size(self) -> int: ...


SizedT = TypeVar("SizedT", bound=Sized)


def surplus(jobs: Sequence[SizedT], most_jobs: float, most_bytes: float) -> Iterator[SizedT]:
    """Yield the oldest of these jobs, until the rest is within the limits; one may stay."""
    size = sum(job.size for job in jobs)
    for at, oldest in enumerate(jobs[:-1]):
        if len(jobs) - at <= ceil(most_jobs) and size <= most_bytes:
            return
        size -= oldest.size
        yield oldest


class WakeEvents:
    """The events of a queue: its worker waits for work, others wait until the queue is empty."""

    def __init__(self) -> None:
        self._wake, self._idle = asyncio.Event(), asyncio.Event()
        self._idle.set()

    def wake(self) -> None:
        """Wake the worker."""
        self._wake.set()

    def filled(self) -> None:
        """Note that a job came, and wake the worker."""
        self._idle.clear()
        self._wake.set()

    async def wait(self, now: float, times: Iterable[float], *, idle: bool) -> None:
        """Wait until `wake` is called or one of these times after `now` (monotonic seconds) has
        come. `idle`: the queue is empty."""
        if idle:
            self._idle.set()
        waits = [max(0.01, time - now) for time in times if time > now]
        try:
            async with asyncio.timeout(min(waits) if waits else None):
                await self._wake.wait()
        except TimeoutError:
            pass
        # Cleared after the wait, so that an event that came while the worker was busy is handled
        # next.
        self._wake.clear()

    async def join(self) -> None:
        """Wait until the queue is empty."""
        await self._idle.wait()


class Jobs(WakeEvents, Generic[JobT]):
    """The jobs of one queue, oldest first, and the events that its worker waits for."""

    def __init__(
        self, max_jobs: int = MAX_JOBS, max_bytes: int = MAX_BYTES, max_tries: int = MAX_TRIES
    ) -> None:
        super().__init__()
        self.max_jobs, self.max_bytes, self.max_tries = max_jobs, max_bytes, max_tries
        self._jobs: OrderedDict[tuple[str, bytes], JobT] = OrderedDict()
        # Ids of the abandoned work by job name.
        self.given_up: OrderedDict[tuple[str, bytes], set[bytes]] = OrderedDict()
        self.dropped = 0  # jobs abandoned since the start

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[JobT]:
        """Iterate over a copy, so that jobs may be removed in the loop."""
        return iter(list(self._jobs.values()))

    def __contains__(self, job: JobT) -> bool:
        return self._jobs.get(job.name) is job

    def of(self, tenant: str) -> list[JobT]:
        """Return the tenant's jobs, oldest first."""
        return [job for job in self._jobs.values() if job.tenant == tenant]

    # -- in and out --------------------------------------------------------------------------

    def add(self, new: JobT) -> list[JobT]:
        """Add a job in the place of those that it replaces; returns these."""
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
        self.filled()
        return replaced

    @staticmethod
    def _replaces(new: JobT, addresses: set[bytes], old: JobT) -> bool:
        return replaces(new.start, addresses, old.start, lambda: old.work.keys() <= new.work.keys())

    def drop(self, job: JobT) -> None:
        """Remove a job. Does nothing if a newer one has replaced it."""
        if job in self:
            del self._jobs[job.name]
            job.ended.set()

    def give_up(self, job: JobT) -> None:
        """Abandon a job; its work stays owed until its history is posted again."""
        if job in self:
            self.drop(job)
            self.dropped += 1
            self.given_up[job.name] = set(job.work)
            while len(self.given_up) > MAX_JOBS:
                self.given_up.popitem(last=False)

    def done(self, tenant: str, ids: Collection[bytes]) -> None:
        """Remove this work from all jobs of the tenant, since a newer payload may have come
        meanwhile."""
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
        """Drop all jobs; nothing of them stays owed."""
        for job in self:
            self.drop(job)

    def pending(self, tenant: str) -> Pending:
        """Return the tenant's work that waits or is being done."""
        mine = self.of(tenant)
        return Pending(sum(job.tokens for job in mine), len(mine))

    def owed(self, tenant: str) -> int:
        """Return how many leaves or nodes of the tenant were abandoned."""
        owed = [ids for name, ids in self.given_up.items() if name[0] == tenant]
        return len(set().union(*owed))

    def _bound(self, jobs: Sequence[JobT], share: float = 1.0) -> None:
        """Abandon the oldest of these jobs until they fit into a share of the queue."""
        for oldest in surplus(jobs, self.max_jobs * share, self.max_bytes * share):
            self.give_up(oldest)
            log.warning("indexer.job_dropped tenant=%s", oldest.tenant[:10])

    # -- turns, retries, waits ---------------------------------------------------------------

    def move_to_end(self, job: JobT) -> None:
        """Move the job behind all others, since it had its turn."""
        if job in self:
            self._jobs.move_to_end(job.name)

    def due(self, now: float) -> Iterator[JobT]:
        """Yield the jobs that are due, backfill last."""
        due = [job for job in self._jobs.values() if job.not_before <= now]
        return iter(sorted(due, key=lambda job: job.backfill))

    def retry(self, failed: JobT, now: float, code: str, wait: float = 0.0) -> None:
        """Schedule another attempt after a backoff, and not before `wait` seconds, or abandon the
        job. If it was replaced meanwhile, this applies to the newer ones that share its work."""
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

    async def sleep(self, now: float, until: Sequence[float] = (), *, busy: bool = False) -> None:
        """Wait until something is submitted, a job is due or a time of `until` (monotonic seconds)
        has come. `busy`: some job is being worked on."""
        times = [*until, *(job.not_before for job in self._jobs.values())]
        await self.wait(now, times, idle=not self._jobs and not busy)


# ---------------------------------------------------------------- jobs of stage 3

NODE_BYTES = 5_000  # estimate for a decoded node


@dataclass(slots=True, eq=False)
class SummaryJob(Job[NodeWork]):
    """`nodes`: the whole tree. `kinds`: kind of content by node, computed on demand."""

    nodes: Mapping[bytes, Node] = field(default_factory=dict)
    kinds: dict[bytes, str] = field(default_factory=dict)
    # Monotonic seconds until which no call is made for it, unless something changes.
    blocked: float = 0.0
    # Its history was deleted: results of running calls are discarded.
    forgotten: bool = False

    def __post_init__(self) -> None:
        Job.__post_init__(self)  # `super()` fails here: slots=True creates a new class
        self.size += NODE_BYTES * len(self.nodes)


# ---------------------------------------------------------------- progress in numbers


@dataclass(frozen=True, slots=True)
class Backlog:
    """Waiting work of all tenants in one stage. `oldest`: seconds since the first submission of the
    oldest waiting job, 0 if none waits."""

    jobs: int = 0
    tokens: int = 0
    oldest: float = 0.0


class PendingQueue(Protocol):
    """A queue that reports its backlog."""

    async def backlog(self) -> Backlog:
        """Return the backlog. Raises `Unavailable` if it cannot be read at the moment."""
        ...


@dataclass(slots=True)
class StageTotals:
    """Work that this process has done in one stage: tokens indexed, seconds of work, batches by
    outcome (`done`, or the code of the error)."""

    tokens: int = 0
    seconds: float = 0.0
    batches: Counter[str] = field(default_factory=Counter)

    def add(self, tokens: int, seconds: float) -> None:
        """Count a finished batch."""
        self.tokens += tokens
        self.seconds += seconds
        self.batches["done"] += 1

    def fail(self, code: str) -> None:
        """Count a failed batch, by the code of its error."""
        self.batches[code] += 1


# ---------------------------------------------------------------- a queue that does the work


class WorkingQueue(ABC, Generic[JobT]):
    """Base of the queues of stages 2 and 3: jobs in memory, and the one task that works on them,
    in the server's own loop. `name`: of the task."""

    def __init__(self, jobs: Jobs[JobT], clock: Clock, name: str) -> None:
        self.jobs, self._clock, self._name = jobs, clock, name
        self._task: asyncio.Task[None] | None = None

    @property
    def dropped(self) -> int:
        return self.jobs.dropped

    async def backlog(self) -> Backlog:
        now = self._clock.monotonic()
        pending = [job for job in self.jobs if job.work]
        oldest = min((job.since for job in pending), default=now)
        return Backlog(len(pending), sum(job.tokens for job in pending), max(0.0, now - oldest))

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name=self._name)

    async def join(self) -> None:
        """Wait until the queue is empty."""
        await self.jobs.join()

    async def _stop(self) -> None:
        """End the task, which was started."""
        assert self._task is not None
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._task = None

    @abstractmethod
    async def _run(self) -> None:
        """Work on the jobs until this is cancelled."""

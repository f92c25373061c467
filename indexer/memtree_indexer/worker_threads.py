"""Take tickets from RQ's queues in threads, and work on each for one time slice.

After its slice a job lets the next one have its turn. The store knows which work is unfinished, so
a slice begins where the last one ended, in whichever worker.

The threads are called lanes; they hand the tickets to the event loop. RQ's own worker forks for
each job. Its `SimpleWorker` quits when Redis is down for a moment, takes the process's signals, and
sends no heartbeat while a job runs. Forking is impossible here: the models are loaded and have
threads (docs/decisions/0012). So a lane runs `SimpleWorker` in its own loop, `QueueRecovery` sends
its heartbeats, and it reconnects without limit.

`Ticket` resolves the name of its function in this release and in the one before, and no other: data
in Redis never chooses which function a worker imports.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue, SimpleWorker
from rq.exceptions import DequeueTimeout
from rq.executions import Execution
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.timeouts import BaseDeathPenalty

from memtree.clock import Clock
from memtree.errors import Unavailable
from memtree.jobs.embedding import BATCH_TOKENS, VectorCache, embed_leaves, first_batch
from memtree.jobs.job_queue import MAX_TRIES, StageTotals, SummaryJob, back_off
from memtree.jobs.summary_queue import MAX_TRIES as MAX_SUMMARY_TRIES
from memtree.jobs.summary_queue import InProcessSummaries
from memtree.ports.context_store import Store
from memtree.process.bounded import remember
from memtree.tree.node import LeafWork, NodeWork
from memtree_indexer.ledger import EMBED, LEASE, RUN, JobLedger, JobName, SliceOutcome, StartedJob
from memtree_indexer.payloads import Payload, unembedded, unpack, unsummarised
from memtree_indexer.redis_connection import RedisConnection

log = logging.getLogger("memtree.queue")

EMBED_SLICE, SUMMARY_SLICE = 5.0, 10.0  # seconds after which no further batch or call starts
LOOK = 0.5  # seconds between two checks that a job is still wanted


@dataclass(frozen=True, slots=True)
class TimeSlice:
    """One slice: tenant, job and worker."""

    name: JobName
    begun: StartedJob
    who: str


class SliceRunner:
    """Runs slices in a worker's event loop. `passages`: None if nothing is embedded here;
    `summaries`: None if nothing is summarised."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        ledger: JobLedger,
        passages: VectorCache | None,
        summaries: InProcessSummaries | None,
        stop: threading.Event,
        *,
        patience: float = 5.0,
        report: Callable[[str, str], None] = lambda tenant, state: None,
    ) -> None:
        """`patience`: seconds that running calls have when `stop` is set. `report`: receives the
        state of a tenant's summaries, by its name in Redis; called in a thread."""
        self._store, self._clock, self._ledger = store, clock, ledger
        self._passages, self._summaries, self._stop = passages, summaries, stop
        self._patience, self._report = patience, report
        self._forgot: OrderedDict[str, bytes] = OrderedDict()
        self.done = StageTotals()  # of stage 2; stage 3 counts itself

    async def run(self, slice_: TimeSlice) -> SliceOutcome:
        """Run one slice. Failed work is repeated later, or given up. Raises if Redis fails."""
        entry = slice_.begun.entry
        try:
            payload = await asyncio.to_thread(unpack, slice_.begun.payload)
            await self._drop_deleted(slice_.name.tenant, payload.tenant)
            if slice_.name.stage == EMBED:
                return await self._embed(slice_, payload)
            return await self._summarise(slice_, payload)
        except Unavailable as error:
            log.warning("queue.slice_failed stage=%s code=%s", slice_.name.stage, error.code)
            code, tries = error.code, entry.tries + 1
        except RedisError:
            raise
        except Exception:
            log.exception("queue.slice_failed stage=%s", slice_.name.stage)
            code, tries = "internal_error", entry.tries + 1
        if slice_.name.stage == EMBED:
            self.done.fail(code)
        return SliceOutcome(entry.tokens, entry.count, back_off(tries), tries, tries >= MAX_TRIES)

    # -- stage 2 -----------------------------------------------------------------------------

    async def _embed(self, slice_: TimeSlice, payload: Payload) -> SliceOutcome:
        assert self._passages
        history, end = payload.history(), self._clock.monotonic() + EMBED_SLICE
        recipe = await self._passages.recipe()
        ids = await unembedded(self._store, payload.tenant, recipe, payload.ids)
        work = payload.leaves(ids)
        # At least one batch, however long the look-up took: otherwise a job could return for ever
        # without progress. A worker that was held up beyond its lease finds out before a batch that
        # another one has the job.
        while work and not self._stop.is_set() and await self._goes_on(slice_, work):
            batch = first_batch(work, BATCH_TOKENS)
            begun = self._clock.monotonic()
            await embed_leaves(self._store, self._passages, history, batch)
            self.done.add(sum(leaf.tokens for leaf in batch), self._clock.monotonic() - begun)
            work = work[len(batch) :]
            if self._clock.monotonic() >= end:
                break
        return _left(work)

    # -- stage 3 -----------------------------------------------------------------------------

    async def _summarise(self, slice_: TimeSlice, payload: Payload) -> SliceOutcome:
        assert self._summaries
        work = await self._unsummarised(payload)
        if not work:
            return SliceOutcome()
        history, end = payload.history(), self._clock.monotonic() + SUMMARY_SLICE
        nodes = await self._store.descendants(payload.tenant, [node.id for node in work])
        job = SummaryJob(
            payload.tenant,
            payload.start,
            history,
            {each.id: each for each in work},
            self._clock.monotonic(),
            slice_.begun.entry.backfill,
            nodes=nodes,
        )
        job.tries = slice_.begun.entry.tries
        self._summaries.add(job)
        while not job.ended.is_set() and self._clock.monotonic() < end and not self._stop.is_set():
            try:
                await asyncio.wait_for(job.ended.wait(), LOOK)
            except TimeoutError:
                if not await self._goes_on(slice_, list(job.work.values())):
                    job.forgotten = True
                    break
        now = self._clock.monotonic()
        wait, finished = self._summaries.wait(job, now), job.ended.is_set()
        await self._withdraw(job)
        state = self._summaries.state(payload.tenant)
        await asyncio.to_thread(self._report, slice_.name.tenant, state)
        left = _left(await self._unsummarised(payload))
        given_up = state == "limit_reached" or job.tries >= MAX_SUMMARY_TRIES
        return SliceOutcome(left.tokens, left.count, wait, job.tries, finished and given_up)

    async def _withdraw(self, job: SummaryJob) -> None:
        """Withdraw a job. Running calls are paid for, so they may finish, but only briefly if the
        process is stopping."""
        assert self._summaries
        self._summaries.withdraw(job)
        waited = 0.0
        while calls := self._summaries.under_way(job):
            if waited >= self._patience:
                for call in calls:
                    call.cancel()
            await asyncio.wait(calls, timeout=LOOK)
            waited += LOOK if self._stop.is_set() else 0.0

    async def _unsummarised(self, payload: Payload) -> list[NodeWork]:
        return payload.nodes(await unsummarised(self._store, payload.tenant, payload.ids))

    # ----------------------------------------------------------------------------------------

    async def _goes_on(self, slice_: TimeSlice, work: Sequence[LeafWork | NodeWork]) -> bool:
        """Report progress; returns False if the job is gone, or another worker has it."""
        version = slice_.begun.entry.version
        step = partial(self._ledger.progress, slice_.name, slice_.who, version, _left(work))
        return await asyncio.to_thread(step)

    async def _drop_deleted(self, name: str, tenant: str) -> None:
        """Drop a tenant's cached vectors if something of it was deleted since its last slice."""
        now = await asyncio.to_thread(self._ledger.forgot, name)
        before = self._forgot.get(name)
        remember(self._forgot, name, now)
        if before is not None and before != now and self._passages:
            self._passages.forget(tenant)


def _left(work: Sequence[LeafWork | NodeWork]) -> SliceOutcome:
    return SliceOutcome(sum(item.tokens for item in work), len(work))


NAMES = (RUN, "memtree_indexer.redis.rq_job.run")

_here = threading.local()


class Ticket(Job):
    """An RQ job as workers read it."""

    @property
    def func(self) -> Callable[[str, str, str], None]:
        """Return `run`. Raises `ValueError` for a job that names another function."""
        if self.func_name not in NAMES:
            raise ValueError("the job names a function that is not for workers of MemTree")
        return run


@contextmanager
def handed_to(do: Callable[[JobName], None]) -> Iterator[None]:
    """Pass tickets of this thread to `do` while the block runs."""
    _here.do = do
    try:
        yield
    finally:
        del _here.do


def run(stage: str, tenant: str, id_: str) -> None:
    """Do nothing. One of RQ's own workers would call this, and it lacks the parts for the work."""
    _here.do(JobName(stage, tenant, id_))


# ---------------------------------------------------------------- lanes


WAIT = 1  # seconds that a lane waits for a ticket before it checks if it must stop
AGAIN, AGAIN_MOST = 0.5, 5.0  # seconds between attempts while Redis is down
TTL = 2 * LEASE


class IdleWatch:
    """Reports when all lanes have been idle since the last of them had work."""

    def __init__(self, lanes: int) -> None:
        self._lanes, self._idle = lanes, set[int]()
        self._lock = threading.Lock()

    def busy(self) -> None:
        with self._lock:
            self._idle.clear()

    def idle(self, lane: int) -> bool:
        with self._lock:
            self._idle.add(lane)
            return len(self._idle) >= self._lanes


class _NoTimeLimit(BaseDeathPenalty):
    """Disables RQ's time limits: they are alarms, which only a main thread may set; a slice ends by
    itself."""

    def setup_death_penalty(self) -> None:
        pass

    def cancel_death_penalty(self) -> None:
        pass


class _Worker(SimpleWorker):
    """RQ's side of a lane, for the lifetime of one connection."""

    death_penalty_class = _NoTimeLimit
    job_class = Ticket
    log_result_lifespan = False
    at: tuple[Job, Execution] | None = None

    def execute_job(self, job: Job, queue: Queue) -> None:
        execution = self.prepare_execution(job)
        self.at = job, execution
        try:
            self.perform_job(job, queue, execution)
        finally:
            self.at = None
        self.set_state("idle")

    def get_heartbeat_ttl(self, job: Job, working_time: float = 0.0) -> int:
        return TTL

    def beat(self) -> None:
        at = self.at  # a copy: the lane's own thread may change it meanwhile
        if at:
            self.maintain_heartbeats(*at)
        else:
            self.heartbeat(TTL)


class WorkerThread(threading.Thread):
    """One lane: works on one job at a time, of one stage."""

    def __init__(
        self,
        number: int,
        stage: str,
        client: Redis,
        link: RedisConnection,
        slices: SliceRunner,
        loop: asyncio.AbstractEventLoop,
        stop: threading.Event,
        idle: IdleWatch | None = None,
    ) -> None:
        """`idle`: set in a burst, which ends when all lanes are idle."""
        super().__init__(name=f"lane-{stage}-{number}", daemon=True)
        self._number, self._stage = number, stage
        self._client, self._link = client, link
        self._ledger = JobLedger(client)
        self._slices, self._loop, self._stop_asked, self._burst = slices, loop, stop, idle
        self._worker: _Worker | None = None
        self._holds: tuple[JobName, str] | None = None
        self._after: Callable[[], None] | None = None

    def run(self) -> None:
        pause = AGAIN
        while True:
            try:
                self._live()
                return
            except (RedisError, OSError) as error:
                self._link.lost(error)
            except Exception:
                log.exception("queue.lane_failed")
            if self._stop_asked.wait(pause):
                return
            pause = min(AGAIN_MOST, 2 * pause)

    def beat(self) -> None:
        """Renew RQ's heartbeat and the lease of its job. Called from another thread."""
        worker, holds = self._worker, self._holds
        if worker:
            worker.beat()
        if holds:
            self._ledger.hold(*holds)

    # ----------------------------------------------------------------------------------------

    def _live(self) -> None:
        worker = _Worker(
            self._ledger.queues(self._stage),
            name=f"memtree-{self._stage}-{secrets.token_hex(6)}",
            connection=self._client,
            serializer=JSONSerializer,
            log_job_description=False,
        )
        worker.register_birth()  # type: ignore[no-untyped-call]
        worker.heartbeat(TTL)
        self._worker = worker
        try:
            self._release()  # of work that was done when the connection was lost
            self._take_tickets(worker)
            worker.register_death()  # type: ignore[no-untyped-call]
        finally:
            self._worker = None

    def _take_tickets(self, worker: _Worker) -> None:
        with handed_to(partial(self._do, worker.name)):
            while not self._stop_asked.is_set():
                taken = self._next(worker)
                self._link.answered()
                if taken is not None:
                    if self._burst:
                        self._burst.busy()
                    worker.execute_job(*taken)
                    self._release()
                elif self._burst and self._burst.idle(self._number):
                    return
                elif self._burst:
                    self._stop_asked.wait(0.05)

    def _next(self, worker: _Worker) -> tuple[Job, Queue] | None:
        try:
            taken: Any = Queue.dequeue_any(
                worker.queues,
                None if self._burst else WAIT,
                job_class=Ticket,
                connection=self._client,
                serializer=JSONSerializer,
                death_penalty_class=_NoTimeLimit,
            )
        except DequeueTimeout:
            return None
        return taken  # type: ignore[no-any-return]

    def _do(self, who: str, name: JobName) -> None:
        """Run the body of an RQ job, in this thread. The job is returned after RQ's own ending,
        which deletes data that a new ticket with the same name would need."""
        begun = self._ledger.begin(name, who)
        if begun is None:
            return
        entry = begun.entry
        self._holds = name, who
        as_it_was = SliceOutcome(entry.tokens, entry.count, 0.0, entry.tries)
        self._after = partial(self._ledger.release, name, who, entry.version, as_it_was)
        slice_ = self._slices.run(TimeSlice(name, begun, who))
        left = asyncio.run_coroutine_threadsafe(slice_, self._loop).result()
        self._after = partial(self._ledger.release, name, who, entry.version, left)

    def _release(self) -> None:
        if self._after:
            self._after()
        self._after = self._holds = None

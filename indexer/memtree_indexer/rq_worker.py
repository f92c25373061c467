"""Worker threads (lanes) that take tickets from RQ's queues and hand them to the event loop.

RQ's own worker forks for each job. Its `SimpleWorker` quits when Redis is down for a moment, takes
the process's signals, and sends no heartbeat while a job runs. Forking is impossible here: the
models are loaded and have threads (docs/decisions/0012). So a lane runs `SimpleWorker` in its own
loop, `QueueRecovery` sends its heartbeats, and it reconnects without limit.

`Ticket` resolves the name of its function in this release and in the one before, and no other: data
in Redis never chooses which function a worker imports.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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

from memtree_indexer.connection import RedisConnection
from memtree_indexer.ledger import LEASE, RUN, JobLedger, JobName, SliceOutcome
from memtree_indexer.time_slice import SliceRunner, TimeSlice

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

log = logging.getLogger("memtree.queue")

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

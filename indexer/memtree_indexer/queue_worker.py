"""A worker process: one event loop with store, embedder and summariser, and lanes around it.

The lanes only wait for tickets. The work runs as in a single process, in one loop and without a
fork, so models are loaded once and their threads survive. One more thread sends the heartbeats of
jobs and recovers those whose worker died.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from redis import Redis
from redis.exceptions import RedisError
from rq.registry import clean_registries
from rq.worker_registration import clean_worker_registry

from memtree.clock import DAY, Clock
from memtree.config import Settings
from memtree.jobs.embedding import VectorCache
from memtree.jobs.summary_stage import SummaryStage
from memtree.ports.context_store import Store
from memtree.ports.models import Embedder
from memtree_indexer.ledger import EMBED, LEASE, STAGES, SUMMARIES, JobLedger, JobName
from memtree_indexer.peers import RedisPeers
from memtree_indexer.redis_connection import RedisConnection, blocking
from memtree_indexer.redis_queues import STATE, WORKERS
from memtree_indexer.worker_threads import IdleWatch, SliceRunner, WorkerThread

log = logging.getLogger("memtree.queue")

TICK, BEAT, LOOK = 1.0, 3.0, 5.0  # seconds
TIDY = 60.0  # seconds between two cleanings of RQ's registries, which also renew payloads


class QueueRecovery(threading.Thread):
    """`lanes`: worker threads of this process, whose jobs it keeps alive; `stop` ends it."""

    def __init__(
        self,
        name: str,
        lanes: Sequence[WorkerThread],
        ledger: JobLedger,
        link: RedisConnection,
        stop: threading.Event,
    ) -> None:
        super().__init__(name="recovery", daemon=True)
        self._process, self._lanes, self._ledger, self._link = name, lanes, ledger, link
        self._ended = stop
        self._doubted: set[JobName] = set()
        self._next = {"beat": 0.0, "look": 0.0, "tidy": 0.0}

    def run(self) -> None:
        while True:
            try:
                self.step(time.monotonic())
                self._link.answered()
            except (RedisError, OSError) as error:
                self._link.lost(error)
            except Exception:
                log.exception("queue.upkeep_failed")
            if self._ended.wait(TICK):
                break
        try:
            self._ledger.client.zrem(WORKERS, self._process)
        except (RedisError, OSError) as error:
            self._link.lost(error)

    def step(self, now: float) -> None:
        """Run the tasks that are due at `now` (monotonic seconds)."""
        if self._is_due("beat", now, BEAT):
            self.beat()
        self._ledger.due(time.time())
        client = self._ledger.client
        if self._is_due("look", now, LOOK) and client.set(
            "memtree:looking", self._process, nx=True, ex=int(LOOK) - 1
        ):
            self.look()
        if self._is_due("tidy", now, TIDY):
            self.tidy()

    def beat(self) -> None:
        self._ledger.client.zadd(WORKERS, {self._process: time.time() + LEASE})
        for lane in self._lanes:
            lane.beat()

    def look(self) -> None:
        """Recover jobs that no worker holds."""
        out = self._ledger.out()
        queued = self._ledger.queued()
        leased = self._ledger.leased(list(out))
        dead, self._doubted = missing(out, queued, leased, self._doubted)
        for name in dead:
            log.warning("queue.job_recovered stage=%s job=%s", name.stage, name.id)
            self._ledger.recover(name)

    def tidy(self) -> None:
        self._ledger.prolong()
        self._ledger.client.zremrangebyscore(WORKERS, 0, time.time() - TIDY)
        for stage in STAGES:
            for queue in self._ledger.queues(stage):
                clean_registries(queue)
                clean_worker_registry(queue)

    def _is_due(self, what: str, now: float, every: float) -> bool:
        if now < self._next[what]:
            return False
        self._next[what] = now + every
        return True


def missing(
    out: Mapping[JobName, bool],
    queued: Collection[str],
    leased: Collection[JobName],
    doubted: Collection[JobName],
) -> tuple[set[JobName], set[JobName]]:
    """Return, among jobs with a ticket (True: a worker began), those that are lost, and those that
    may be: a ticket that no worker began may have been taken from the queue a moment ago."""
    alone = {name for name in out if name not in leased}
    dead = {name for name in alone if out[name]}
    doubts = {name for name in alone - dead if name.id not in queued}
    return dead | {name for name in doubts if name in doubted}, doubts


# ---------------------------------------------------------------- the process

STATE_SECONDS = 120  # how long a tenant's summary state is valid: its next slice sets it again


@dataclass(frozen=True, slots=True)
class WorkerParts:
    """Parts that do the work; the opener closes them. `embedder`: None leaves stage 2 to others;
    `three`: None leaves stage 3."""

    store: Store
    clock: Clock
    embedder: Embedder | None
    three: SummaryStage | None


class Worker:
    """A worker's lanes and heartbeats. `burst`: end when there is no work left."""

    def __init__(
        self, settings: Settings, parts: WorkerParts, link: RedisConnection, *, burst: bool = False
    ):
        self.name = f"worker-{secrets.token_hex(6)}"
        self.stop = threading.Event()
        self.link = link
        self._done = threading.Event()  # for recovery, which must outlive the lanes
        self._clock = parts.clock
        self._client = blocking(settings.queue)
        self._ledger = JobLedger(self._client)
        self.passages = (
            VectorCache(parts.embedder, settings.cache_limits.vectors) if parts.embedder else None
        )
        self.summaries = parts.three.queue if parts.three else None
        self.slices = SliceRunner(
            parts.store, parts.clock, self._ledger, self.passages, self.summaries, self.stop,
            patience=settings.worker_seconds,
            report=self._report,
        )  # fmt: skip
        stages = [EMBED] * bool(self.passages)
        stages += [SUMMARIES] * (settings.worker_lanes if self.summaries else 0)
        idle = IdleWatch(len(stages)) if burst else None
        self._clients = [blocking(settings.queue) for _ in stages]
        loop = asyncio.get_running_loop()
        self.lanes = [
            WorkerThread(at, stage, client, link, self.slices, loop, self.stop, idle)
            for at, (stage, client) in enumerate(zip(stages, self._clients, strict=True))
        ]
        self._recovery = QueueRecovery(self.name, self.lanes, self._ledger, link, self._done)
        self._burst = burst

    async def run(self) -> None:
        """Run until `stop` is set, or in a burst until there is no work left."""
        if self._burst:
            await asyncio.to_thread(self._ledger.due, float("inf"))
        self._recovery.start()
        for lane in self.lanes:
            lane.start()
        try:
            for lane in self.lanes:
                await asyncio.to_thread(lane.join)
        finally:
            self.stop.set()
            self._done.set()
            await asyncio.to_thread(self._recovery.join)
            for client in (*self._clients, self._client):
                client.close()

    def forgotten(self, tenant: str | None) -> None:
        """Handle a deletion by a proxy of something of this tenant (None: of an unknown one)."""
        if self.passages is None:
            return
        if tenant is None:
            self.passages.forget_all()
        else:
            self.passages.forget(tenant)

    def _report(self, tenant: str, state: str) -> None:
        """Publish the state of a tenant's summaries, for the proxies' status. Called in a
        thread."""
        client: Redis = self._client
        if state == "ok":
            client.delete(STATE + tenant)
            return
        limited = state == "limit_reached"
        rest = DAY - int(self._clock.now()) % DAY
        client.set(STATE + tenant, state, ex=rest if limited else STATE_SECONDS)


def quiet_rq() -> None:
    """Silence RQ's log: job ends and lost connections are logged here, without tracebacks."""
    for name in ("rq", "rq.worker", "rq.job", "rq.queue", "rq.registry", "rq.scheduler"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


@asynccontextmanager
async def open_workshop(
    settings: Settings, parts: WorkerParts, *, burst: bool = False
) -> AsyncIterator[Worker]:
    """Open a worker that is not running yet."""
    link = RedisConnection(settings.queue)
    peers = RedisPeers(link)
    quiet_rq()
    try:
        worker = Worker(settings, parts, link, burst=burst)
        await peers.start(worker.forgotten)
        yield worker
    finally:
        await peers.close()
        await link.close()

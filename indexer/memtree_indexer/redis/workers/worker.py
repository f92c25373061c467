"""A worker process: one event loop with store, embedder and summariser, and lanes around it.

The lanes only wait for tickets. The work runs as in a single process, in one loop and without a
fork, so models are loaded once and their threads survive.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from redis import Redis

from memtree.background.embedding.vector_cache import VectorCache
from memtree.background.summarizing.open import SummaryStage
from memtree.config import Settings
from memtree.days import DAY
from memtree.ports.clock import Clock
from memtree.ports.models import Embedder
from memtree.ports.store import Store
from memtree_indexer.redis.connection import RedisConnection, blocking
from memtree_indexer.redis.jobs.ledger import EMBED, SUMMARIES, JobLedger
from memtree_indexer.redis.peers import RedisPeers
from memtree_indexer.redis.queue import STATE
from memtree_indexer.redis.workers.recovery import QueueRecovery
from memtree_indexer.redis.workers.rq_worker import IdleWatch, WorkerThread
from memtree_indexer.redis.workers.time_slice import SliceRunner

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

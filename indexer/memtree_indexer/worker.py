"""Heartbeats of a worker's jobs, and recovery of those whose worker died. One thread a process.

A running job has a lease of 15 seconds, renewed every 3. A killed worker renews none, and within 5
more seconds the first process that checks queues the job again. A ticket that no worker began is
lost if it is in no queue at two checks in a row: at one it may just have been taken.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Mapping, Sequence

from redis.exceptions import RedisError
from rq.registry import clean_registries
from rq.worker_registration import clean_worker_registry

from memtree_indexer.redis.connection import RedisConnection
from memtree_indexer.redis.jobs.ledger import LEASE, STAGES, JobLedger, JobName
from memtree_indexer.redis.queue import WORKERS
from memtree_indexer.redis.workers.rq_worker import WorkerThread

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
        self._leave()

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

    def _leave(self) -> None:
        try:
            self._ledger.client.zrem(WORKERS, self._process)
        except (RedisError, OSError) as error:
            self._link.lost(error)


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

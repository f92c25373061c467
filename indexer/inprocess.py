"""The embedded queue: jobs in memory, one worker task in the server's own loop.

Nothing is lost with the process but work: what a job did is committed batch by batch, and the rest
begins again when its history is posted again. The model runs in the embedder's own threads at a
low priority, so requests stay quick.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence

from indexer.embed import embed_leaves
from indexer.job import Job
from indexer.passages import Passages
from memtree.errors import Unavailable
from memtree.history import History
from memtree.ports import Clock, Embedder, LeafWork, Pending, TreeStore

log = logging.getLogger("memtree.indexer")

BATCH_TOKENS = 12_000  # about a second of two cores: a kill loses no more, DESIGN section 3
MAX_JOBS = 256
MAX_BYTES = 512 * 1024 * 1024
MAX_TRIES = 6
BACK_OFF, BACK_OFF_LIMIT = 1.0, 60.0


class InProcessQueue:
    """An `IndexQueue` that also does the work. `start()` and `close()` belong to a running loop."""

    def __init__(
        self,
        store: TreeStore,
        embedder: Embedder,
        clock: Clock,
        *,
        batch_tokens: int = BATCH_TOKENS,
        max_jobs: int = MAX_JOBS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._store, self._clock = store, clock
        self._passages = Passages(embedder)
        self._batch_tokens, self._max_jobs, self._max_bytes = batch_tokens, max_jobs, max_bytes
        self._jobs: OrderedDict[tuple[str, bytes], Job] = OrderedDict()
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._task: asyncio.Task[None] | None = None
        self.dropped = 0

    def submit(self, history: History, start: bytes, leaves: Sequence[LeafWork]) -> None:
        if not leaves:
            return
        self._replace(Job(history.tenant, start, history, list(leaves)))
        self._bound()
        self._idle.clear()
        self._wake.set()

    def pending(self, tenant: str) -> Pending:
        mine = [job for job in self._jobs.values() if job.tenant == tenant]
        return Pending(sum(job.tokens for job in mine), len(mine))

    def forget(self, tenant: str, addresses: Collection[bytes] | None) -> int:
        gone = [
            job
            for job in self._jobs.values()
            if job.tenant == tenant
            and (addresses is None or job.history.addresses[-1] in addresses)
        ]
        for job in gone:
            self._drop(job)
        self._passages.forget(tenant)
        self._wake.set()
        return len(gone)

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="indexer")

    async def join(self) -> None:
        """Until nothing is left to do."""
        await self._idle.wait()

    async def close(self, patience: float = 5.0) -> None:
        """Work on for at most `patience` seconds, then stop between two batches."""
        if self._task is None:
            return
        try:
            async with asyncio.timeout(patience):
                await self.join()
        except TimeoutError:
            log.info("indexer.stopped jobs_left=%d", len(self._jobs))
        self._jobs.clear()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._task = None

    def _replace(self, job: Job) -> None:
        """Put a job in the place of those whose work it knows of.

        These began at an address of the same history: what they still have to do is in the new
        payload, or was thrown away by a revert. Or the new payload holds all their leaves.
        """
        ids, addresses = job.leaf_ids(), set(job.history.addresses)
        for name, other in list(self._jobs.items()):
            if other.tenant != job.tenant:
                continue
            if other.start in addresses or other.leaf_ids() <= ids:
                del self._jobs[name]
                job.tries = max(job.tries, other.tries)
                job.not_before = max(job.not_before, other.not_before)
        self._jobs[job.name] = job

    def _bound(self) -> None:
        while len(self._jobs) > self._max_jobs or (
            len(self._jobs) > 1 and sum(job.size for job in self._jobs.values()) > self._max_bytes
        ):
            name, _ = self._jobs.popitem(last=False)
            self.dropped += 1
            log.warning("indexer.job_dropped tenant=%s", name[0][:10])

    async def _run(self) -> None:
        while True:
            job = self._next()
            if job is None:
                await self._sleep()
                continue
            try:
                await self._batch(job)
            except Unavailable as error:
                self._later(job, error)
            except Exception:
                log.exception("indexer.job_failed")
                self._drop(job)

    def _next(self) -> Job | None:
        """The first job whose time has come; it goes to the end, so that tenants take turns."""
        now = self._clock.monotonic()
        for job in self._due(now):
            self._jobs.move_to_end(job.name)
            return job
        return None

    def _due(self, now: float) -> Iterator[Job]:
        return (job for job in self._jobs.values() if job.not_before <= now)

    async def _sleep(self) -> None:
        if not self._jobs:
            self._idle.set()
        self._wake.clear()
        waits = [job.not_before - self._clock.monotonic() for job in self._jobs.values()]
        try:
            async with asyncio.timeout(max(0.01, min(waits)) if waits else None):
                await self._wake.wait()
        except TimeoutError:
            pass

    async def _batch(self, job: Job) -> None:
        taken, size = 0, 0
        while taken < len(job.work) and (not taken or size < self._batch_tokens):
            size += job.work[taken].leaf.tokens
            taken += 1
        batch = job.work[:taken]
        await embed_leaves(self._store, self._passages, job.history, batch)
        job.tries = 0
        done = {one.leaf.id for one in batch}
        for other in list(self._jobs.values()):  # a newer payload may have come meanwhile
            if other.tenant == job.tenant:
                other.work = [one for one in other.work if one.leaf.id not in done]
                if not other.work:
                    self._drop(other)

    def _drop(self, job: Job) -> None:
        if self._jobs.get(job.name) is job:
            del self._jobs[job.name]

    def _later(self, job: Job, error: Unavailable) -> None:
        job.tries += 1
        if job.tries >= MAX_TRIES:
            self._drop(job)
            self.dropped += 1
            log.warning("indexer.job_given_up code=%s", error.code)
            return
        wait = min(BACK_OFF_LIMIT, BACK_OFF * 2 ** (job.tries - 1))
        job.not_before = self._clock.monotonic() + wait
        log.warning("indexer.job_delayed code=%s seconds=%.0f", error.code, wait)


class NoQueue:
    """For installs without an embedder: there is no stage 2, so nothing is ever pending."""

    def submit(self, history: History, start: bytes, leaves: Sequence[LeafWork]) -> None:
        return None

    def pending(self, tenant: str) -> Pending:
        return Pending(0, 0)

    def forget(self, tenant: str, addresses: Collection[bytes] | None) -> int:
        return 0

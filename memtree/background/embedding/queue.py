"""The embedded queue of stage 2: jobs in memory, one worker task in the server's own loop.

If the process ends, no data is lost: results are committed batch by batch, and the remaining leaves
are submitted again when their history is posted again. The model runs in the embedder's own threads
at a low priority, so requests stay quick.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Collection, Sequence

from memtree.background.embedding.embed import embed_leaves, first_batch
from memtree.background.embedding.vector_cache import VectorCache
from memtree.background.jobs import MAX_BYTES, MAX_JOBS, Job, Jobs, job
from memtree.background.progress import Backlog, StageTotals, waiting
from memtree.conversation.history import History
from memtree.errors import Unavailable
from memtree.ports.clock import Clock
from memtree.ports.models import Embedder
from memtree.ports.queues import Pending
from memtree.ports.store import TreeStore
from memtree.process import tracing
from memtree.process.cache_limits import CacheLimits
from memtree.tree.node import LeafWork

log = logging.getLogger("memtree.indexer")

# about a second of two cores; a killed process loses at most this much, DESIGN section 3
BATCH_TOKENS = 12_000


class InProcessQueue:
    """An `IndexQueue` that also does the work. Call `start()` and `close()` in a running event
    loop."""

    def __init__(
        self,
        store: TreeStore,
        embedder: Embedder,
        clock: Clock,
        *,
        batch_tokens: int = BATCH_TOKENS,
        max_jobs: int = MAX_JOBS,
        max_bytes: int = MAX_BYTES,
        cache_bytes: int = CacheLimits.of().vectors,
    ) -> None:
        self._store, self._clock = store, clock
        self._passages = VectorCache(embedder, cache_bytes)
        self._batch_tokens = batch_tokens
        self.jobs: Jobs[Job[LeafWork]] = Jobs(max_jobs, max_bytes)
        self.done = StageTotals()
        self._task: asyncio.Task[None] | None = None

    @property
    def dropped(self) -> int:
        return self.jobs.dropped

    @property
    def passages(self) -> VectorCache:
        """Return the cache of passage vectors that the queue fills."""
        return self._passages

    @property
    def embedded(self) -> Counter[str]:
        """Calls of the embedder by outcome."""
        return self._passages.calls

    async def backlog(self) -> Backlog:
        return waiting(self.jobs, self._clock.monotonic())

    def submit(
        self,
        history: History,
        start: bytes,
        leaves: Sequence[LeafWork],
        *,
        backfill: bool = False,
    ) -> None:
        if leaves:
            new = job(history, start, leaves, backfill=backfill)
            new.since = self._clock.monotonic()
            self.jobs.add(new)

    async def pending(self, tenant: str) -> Pending:
        return self.jobs.pending(tenant)

    async def forget(self, tenant: str, addresses: Collection[bytes] | None) -> int:
        gone = self.jobs.forget(tenant, addresses)
        self._passages.forget(tenant)
        return gone

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="indexer")

    async def join(self) -> None:
        """Wait until the queue is empty."""
        await self.jobs.join()

    async def close(self, patience: float = 5.0) -> None:
        """Continue for at most `patience` seconds, then stop between two batches."""
        if self._task is None:
            return
        try:
            async with asyncio.timeout(patience):
                await self.join()
        except TimeoutError:
            log.info("indexer.stopped jobs_left=%d", len(self.jobs))
        self.jobs.clear()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._task = None

    async def _run(self) -> None:
        while True:
            now = self._clock.monotonic()
            job = next(self.jobs.due(now), None)
            if job is None:
                await self.jobs.sleep(now)
                continue
            self.jobs.move_to_end(job)  # tenants take turns
            try:
                with tracing.behind("embed", job.watch):
                    await self._batch(job)
            except Unavailable as error:
                self.done.fail(error.code)
                self.jobs.retry(job, self._clock.monotonic(), error.code)
            except Exception:
                self.done.fail("internal_error")
                log.exception("indexer.job_failed")
                self.jobs.give_up(job)

    async def _batch(self, job: Job[LeafWork]) -> None:
        batch = first_batch(job.work.values(), self._batch_tokens)
        begun = self._clock.monotonic()
        await embed_leaves(self._store, self._passages, job.history, batch)
        tokens = sum(leaf.tokens for leaf in batch)
        self.done.add(tokens, self._clock.monotonic() - begun)
        job.tries = 0
        self.jobs.done(job.tenant, [leaf.id for leaf in batch])


class NoQueue:
    """Queue of installs without an embedder: there is no stage 2, so nothing is ever pending."""

    def submit(
        self,
        history: History,
        start: bytes,
        leaves: Sequence[LeafWork],
        *,
        backfill: bool = False,
    ) -> None:
        return None

    async def pending(self, tenant: str) -> Pending:
        return Pending(0, 0)

    async def forget(self, tenant: str, addresses: Collection[bytes] | None) -> int:
        return 0

"""Work on one ticket for a worker: a time slice of one job, then the next job has its turn.

The store knows which work is unfinished, so a slice begins where the last one ended, in whichever
worker.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from redis.exceptions import RedisError

from memtree.errors import Unavailable
from memtree.history.chat_history import History
from memtree.jobs.background_summary_queue import MAX_TRIES as MAX_SUMMARY_TRIES
from memtree.jobs.background_summary_queue import InProcessSummaries
from memtree.jobs.embedding_queue import BATCH_TOKENS, VectorCache, embed_leaves, first_batch
from memtree.jobs.job_queue import MAX_TRIES, StageTotals, SummaryJob, back_off
from memtree.ports.clock import Clock
from memtree.ports.store import Store
from memtree.process.bounded import remember
from memtree.tree.node import LeafWork, NodeWork
from memtree_indexer.ledger import EMBED, JobLedger, JobName, SliceOutcome, StartedJob
from memtree_indexer.payloads import Payload, unembedded, unpack, unsummarised

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
        work = await self._unembedded(payload)
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

    async def _unembedded(self, payload: Payload) -> list[LeafWork]:
        assert self._passages
        recipe = await self._passages.recipe()
        return payload.leaves(await unembedded(self._store, payload.tenant, recipe, payload.ids))

    # -- stage 3 -----------------------------------------------------------------------------

    async def _summarise(self, slice_: TimeSlice, payload: Payload) -> SliceOutcome:
        assert self._summaries
        work = await self._unsummarised(payload)
        if not work:
            return SliceOutcome()
        history, end = payload.history(), self._clock.monotonic() + SUMMARY_SLICE
        job = await self._job(slice_, payload, history, work)
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

    async def _job(
        self, slice_: TimeSlice, payload: Payload, history: History, work: Sequence[NodeWork]
    ) -> SummaryJob:
        nodes = await self._store.descendants(payload.tenant, [node.id for node in work])
        entry = slice_.begun.entry
        job = SummaryJob(
            payload.tenant,
            payload.start,
            history,
            {each.id: each for each in work},
            self._clock.monotonic(),
            entry.backfill,
            nodes=nodes,
        )
        job.tries = entry.tries
        return job

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

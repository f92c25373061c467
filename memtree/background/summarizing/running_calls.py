"""Running calls, one task each, and the costs of first drafts that were rejected.

Nodes are chosen in `scheduler.py`; `call.py` makes the call.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Collection

from memtree.background.progress import StageTotals
from memtree.background.summarizing.call import CallOutcome, Cost, SummaryCall, SummaryCaller
from memtree.background.summarizing.summary_job import SummaryJob
from memtree.errors import Unavailable
from memtree.ports.clock import Clock
from memtree.process import tracing
from memtree.summaries.batching import CallBatch

log = logging.getLogger("memtree.indexer")

MAX_REJECTED = 10_000  # nodes whose first draft was rejected

# Result of a call: its outcome, the error, or None if it was cancelled.
CallResult = CallOutcome | Exception | None
Ended = Callable[[SummaryJob, CallBatch, CallResult], None]


class RunningCalls:
    """Running calls. `ended` is called in the event loop for every started call, exactly once."""

    def __init__(self, caller: SummaryCaller, clock: Clock, ended: Ended) -> None:
        self._caller, self._clock, self._on_end = caller, clock, ended
        self._tasks: dict[asyncio.Task[CallResult], SummaryJob] = {}
        self._rejected: OrderedDict[tuple[str, bytes], Cost] = OrderedDict()
        self.done = StageTotals()

    def start(self, job: SummaryJob, batch: CallBatch) -> None:
        """Start a task that makes a call for these nodes of the job."""
        task = asyncio.create_task(self._call(job, batch), name="summary")
        self._tasks[task] = job
        task.add_done_callback(lambda task: self._ended(task, job, batch))

    def of(self, job: SummaryJob) -> list[asyncio.Task[CallResult]]:
        """Return the running calls of this job."""
        return [task for task, whose in self._tasks.items() if whose is job]

    def rejected(self, tenant: str, nodes: Collection[bytes]) -> dict[bytes, Cost]:
        """Return those of these nodes whose first draft was rejected, with its cost."""
        keys = [(tenant, node) for node in nodes]
        return {key[1]: self._rejected[key] for key in keys if key in self._rejected}

    def forget(self, tenant: str, addresses: Collection[bytes] | None) -> None:
        """Discard the results of running calls for histories that end at these addresses (None: all
        of the tenant)."""
        for key in [key for key in self._rejected if key[0] == tenant]:
            del self._rejected[key]
        for job in self._tasks.values():
            end = job.history.addresses[-1]
            if job.tenant == tenant and (addresses is None or end in addresses):
                job.forgotten = True

    async def close(self, patience: float) -> None:
        """Let calls finish for `patience` seconds, then cancel them."""
        if not self._tasks:
            return
        _, unfinished = await asyncio.wait(tuple(self._tasks), timeout=patience)
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)

    async def _call(self, job: SummaryJob, batch: CallBatch) -> CallResult:
        before = self.rejected(job.tenant, [work.id for work in batch.work])
        call = SummaryCall(
            job.history, batch.work, batch.kind, job.nodes, before, lambda: not job.forgotten
        )
        begun = self._clock.monotonic()
        try:
            with tracing.behind("summarise", job.watch):
                outcome = await self._caller.run(call)
        except Unavailable as error:
            self.done.fail(error.code)
            return error
        except Exception as error:
            self.done.fail("internal_error")
            log.exception("summaries.call_failed")
            return error
        tokens = sum(work.tokens for work in batch.work if work.id in outcome.done)
        self.done.add(tokens, self._clock.monotonic() - begun)
        self._remember(job.tenant, outcome)
        return outcome

    def _remember(self, tenant: str, outcome: CallOutcome) -> None:
        for node in outcome.done | outcome.gone:
            self._rejected.pop((tenant, node), None)
        for node, cost in outcome.rejected.items():
            self._rejected[tenant, node] = cost
        while len(self._rejected) > MAX_REJECTED:
            self._rejected.popitem(last=False)

    def _ended(self, task: asyncio.Task[CallResult], job: SummaryJob, batch: CallBatch) -> None:
        del self._tasks[task]
        self._on_end(job, batch, None if task.cancelled() else task.result())

"""Stage 3: keep the jobs in memory, and choose for which of them the next call is made.

Several calls run at once, beside stage 2. Tenants take turns by their running calls, so that one
with a million tokens does not delay one with ten thousand, and no node is in two calls. A full call
is made immediately; one that is not full waits a little for more nodes of its conversation, since
the instructions are paid once a call. A tenant whose drafts the model fails is slowed down.

If the process ends, only running calls are lost: the rest stays owed and is submitted again when
its history is posted. A tenant that has reached its day's limit waits for a post on another day.

`InProcessSummaries` connects the jobs (`job_queue.py`), the `Scheduler`, which decides, the calls
(`summary_calls.py`) and the limits (`spending.py`).
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count

from memtree.errors import SummarizerUnavailable, Unavailable
from memtree.history.chat_history import History
from memtree.jobs.job_queue import BACK_OFF_LIMIT, Jobs, StageTotals, SummaryJob, WorkingQueue
from memtree.jobs.summary_calls import (
    CallOutcome,
    CallResult,
    CallTotals,
    RunningCalls,
    SummaryCaller,
)
from memtree.ports.indexing_stages import Pending, SummaryStatus
from memtree.process.bounded import MAX_TENANTS, remember
from memtree.tree import summary_batches
from memtree.tree.node import Node, NodeWork
from memtree.tree.summary_batches import CallBatch, CompletedSummaries, Kinds

# So many nodes of a tenant in a row without an accepted draft mean that something is wrong with the
# model, or with the text. Such calls must neither be paid for at full speed nor delay other
# tenants.
USELESS = 8


class ModelHealth:
    """Health of the model: whether it answers at all, and for each tenant whether its drafts are
    accepted."""

    def __init__(self) -> None:
        self.down = False  # the last call failed
        self._rejected: OrderedDict[str, int] = OrderedDict()  # tenant -> rejected nodes in a row

    def observe(self, tenant: str, outcome: CallOutcome) -> bool:
        """Count the result of a call. Returns True if so many drafts in a row were rejected that
        the tenant's next calls must wait."""
        if outcome.done or outcome.rejected:
            self.down = False  # the model answers
        slow_down = False
        if outcome.done - outcome.kept:
            self._rejected.pop(tenant, None)
        elif outcome.kept:
            self._rejected[tenant] = self._rejected.get(tenant, 0) + len(outcome.kept)
            slow_down = self.useless(tenant)
        while len(self._rejected) > MAX_TENANTS:
            self._rejected.popitem(last=False)
        return slow_down

    def useless(self, tenant: str) -> bool:
        """Return True if all drafts of the tenant's last nodes were rejected."""
        return self._rejected.get(tenant, 0) >= USELESS


# ---------------------------------------------------------------- whose turn it is

PARALLEL = 4
GATHER = 15.0  # seconds that a call which is not full waits for more
LEASED_AGAIN = 5.0  # seconds before a node that another process leases is checked again


class Scheduler:
    """Chooses the next job to make a call for: fair between tenants, no node twice, waiting for
    fuller calls. Tenants take turns by their running calls, at most `parallel` of them in all.

        job = scheduler.pick(jobs, now)              # None: nothing to do before `wake_times`
        busy = scheduler.served(job, now)            # its turn; nodes of the tenant under way
        batch = ...                                  # planned among the rest
        if batch and scheduler.may_start(job, batch, busy, now, hurry=False):
            scheduler.started(job, batch)
        ...
        scheduler.ended(job, batch)                  # frees its nodes

    Decisions only: no task, no clock, no store. `now` is always monotonic seconds."""

    def __init__(self, parallel: int = PARALLEL, gather: float = GATHER) -> None:
        self._parallel, self._gather = parallel, gather
        # (tenant, node) -> until when the node is busy; infinity: in a call of this process
        self._busy: dict[tuple[str, bytes], float] = {}
        self._open: Counter[str] = Counter()  # running calls by tenant
        self._turns: OrderedDict[str, int] = OrderedDict()  # tenant -> number of its last turn
        self._numbers = count(1)
        self._paused = 0.0

    @property
    def calls_under_way(self) -> int:
        """Return the number of running calls of all tenants."""
        return self._open.total()

    # -- turns -------------------------------------------------------------------------------

    def pick(self, jobs: Iterable[SummaryJob], now: float) -> SummaryJob | None:
        """Return the next job to look at; None if none is due or no call may start.

        Backfill comes last; then first the tenant with the fewest running calls, then the one whose
        last turn is longest ago; of its jobs the first one in `jobs`.
        """
        if self.calls_under_way >= self._parallel or now < self._paused:
            return None
        due = [job for job in jobs if job.not_before <= now >= job.blocked]

        def order(job: SummaryJob) -> tuple[bool, int, int]:
            return job.backfill, self._open[job.tenant], self._turns.get(job.tenant, 0)

        return min(due, key=order, default=None)

    def served(self, job: SummaryJob, now: float) -> Mapping[bytes, float]:
        """Count this turn of the tenant, and block the job as long as nodes of the tenant are busy:
        until `may_start` decides otherwise, or a call ends and unblocks it. Returns these nodes,
        each with the time until which it is busy."""
        remember(self._turns, job.tenant, next(self._numbers))
        for key in [key for key, until in self._busy.items() if until <= now]:
            del self._busy[key]
        busy = {node: until for (of, node), until in self._busy.items() if of == job.tenant}
        job.blocked = min(busy.values(), default=math.inf)
        return busy

    def may_start(
        self,
        job: SummaryJob,
        batch: CallBatch,
        busy: Collection[bytes],
        now: float,
        *,
        hurry: bool,
    ) -> bool:
        """Return True to make this call now, False to wait for more nodes. `busy`: as returned by
        `served`. `hurry`: somebody waits for the end, so no call waits."""
        if not batch.full and not hurry:
            if any(node in job.work for node in busy):
                return False  # running calls may make more nodes ready
            gathered = job.since + self._gather
            if now < gathered:
                job.blocked = min(job.blocked, gathered)
                return False
        job.blocked = 0.0
        return True

    def wake_times(self, jobs: Iterable[SummaryJob]) -> list[float]:
        """Return the times at which there may be work again, besides the jobs' own `not_before`."""
        times = [self._paused, *(job.blocked for job in jobs)]
        return [time for time in times if time < math.inf]

    def pause(self, until: float) -> None:
        """Start no call before this time: all calls share one server."""
        self._paused = max(self._paused, until)

    def paused(self, now: float) -> float:
        """Return the seconds until calls may start again."""
        return max(0.0, self._paused - now)

    # -- running calls -----------------------------------------------------------------------

    def started(self, job: SummaryJob, batch: CallBatch) -> None:
        """Record a running call, until `ended`."""
        self._open[job.tenant] += 1
        for work in batch.work:
            self._busy[job.tenant, work.id] = math.inf

    def ended(self, job: SummaryJob, batch: CallBatch) -> None:
        """Record the end of a call, whatever its result: its nodes may be requested again."""
        self._open[job.tenant] -= 1
        if not self._open[job.tenant]:
            del self._open[job.tenant]
        for work in batch.work:
            if self._busy.get((job.tenant, work.id)) == math.inf:
                del self._busy[job.tenant, work.id]

    def leased_elsewhere(self, tenant: str, nodes: Iterable[bytes], now: float) -> None:
        """Record that another process leases these nodes: they are checked again later."""
        for node in nodes:
            self._busy[tenant, node] = now + LEASED_AGAIN


log = logging.getLogger("memtree.indexer")

PARTS = 4
MAX_TRIES = 10  # the model may be away for an hour: it announces long waits itself


class InProcessSummaries(WorkingQueue[SummaryJob]):
    """A `SummaryQueue` that also does the work. Call `start()` and `close()` in a running event
    loop."""

    def __init__(
        self,
        caller: SummaryCaller,
        completed: CompletedSummaries,
        *,
        parallel: int = PARALLEL,
        parts: int = PARTS,
        gather: float = GATHER,
        max_tries: int = MAX_TRIES,
    ) -> None:
        """`completed` is told every finished node; `parts`: most nodes of one call."""
        super().__init__(Jobs(max_tries=max_tries), caller.clock, "summaries")
        self._caller, self._spending = caller, caller.spending
        self._completed, self._parts = completed, parts
        self.scheduler = Scheduler(parallel, gather)
        self._calls = RunningCalls(caller, caller.clock, self._ended)
        self._limited: OrderedDict[str, int] = OrderedDict()  # tenant -> day of its limit
        self._health = ModelHealth()
        # number of callers in `join`: while there are any, no call waits for more nodes
        self._joins = 0

    @property
    def done(self) -> StageTotals:
        return self._calls.done

    @property
    def totals(self) -> CallTotals:
        return self._caller.totals

    @property
    def waiting(self) -> int:
        """Return the number of waiting nodes of all tenants."""
        return sum(len(job.work) for job in self.jobs)

    @property
    def running(self) -> bool:
        """Return True between `start` and `close`."""
        return self._task is not None

    # -- the port ----------------------------------------------------------------------------

    def submit(
        self,
        history: History,
        start: bytes,
        work: Sequence[NodeWork],
        nodes: Mapping[bytes, Node],
        *,
        backfill: bool = False,
    ) -> None:
        if work:
            by_id = {each.id: each for each in work}
            now = self._clock.monotonic()
            self.add(SummaryJob(history.tenant, start, history, by_id, now, backfill, nodes=nodes))

    async def pending(self, tenant: str) -> Pending:
        return self.jobs.pending(tenant)

    async def status(self, tenant: str) -> SummaryStatus:
        nodes = sum(len(job.work) for job in self.jobs.of(tenant)) + self.jobs.owed(tenant)
        return await self._spending.status(tenant, self.state(tenant), nodes)

    def state(self, tenant: str) -> str:
        """Return the state as `SummaryStatus.state` does, as far as this process knows."""
        if self._at_limit(tenant):
            return "limit_reached"
        unavailable = self._health.down or self._health.useless(tenant)
        return "unavailable" if unavailable else "ok"

    async def forget(self, tenant: str, addresses: Collection[bytes] | None) -> int:
        self._calls.forget(tenant, addresses)
        return self.jobs.forget(tenant, addresses)

    # -- jobs of a worker, which has its own queue -------------------------------------------

    def add(self, new: SummaryJob) -> None:
        """Add a job as `submit` does; `new.ended` is set when it is done, abandoned or replaced."""
        for old in self.jobs.add(new):
            new.kinds |= old.kinds
        if self._at_limit(new.tenant):
            self.jobs.give_up(new)

    def withdraw(self, job: SummaryJob) -> None:
        """Start no more calls for this job."""
        self.jobs.drop(job)

    def under_way(self, job: SummaryJob) -> list[asyncio.Task[CallResult]]:
        """Return its running calls."""
        return self._calls.of(job)

    def wait(self, job: SummaryJob, now: float) -> float:
        """Return the seconds that a failed job still waits before its next attempt."""
        return max(0.0, job.not_before - now, self.scheduler.paused(now))

    # -- life --------------------------------------------------------------------------------

    async def join(self) -> None:
        """Wait until the queue is empty; meanwhile calls that are not full do not wait for more
        nodes."""
        self._joins += 1
        self._unblock(self.jobs)
        try:
            await self.jobs.join()
        finally:
            self._joins -= 1

    async def close(self, patience: float = 5.0) -> None:
        """Start no more calls, and give running ones, which are paid for, `patience` seconds to
        finish."""
        if self._task is None:
            return
        await self._stop()
        await self._calls.close(patience)
        if len(self.jobs):
            log.info("summaries.stopped jobs_left=%d", len(self.jobs))
        self.jobs.clear()

    # -- work --------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            now = self._clock.monotonic()
            job = self.scheduler.pick(self.jobs, now)
            if job is None:
                times = self.scheduler.wake_times(self.jobs)
                await self.jobs.sleep(now, times, busy=self.scheduler.calls_under_way > 0)
                continue
            try:
                await self._turn(job, now)
            except Exception:
                log.exception("summaries.plan_failed")
                self.jobs.give_up(job)

    async def _turn(self, job: SummaryJob, now: float) -> None:
        """Start a call for this job, if there is something to summarise now."""
        self.jobs.move_to_end(job)
        busy = self.scheduler.served(job, now)
        alone = self._calls.rejected(job.tenant, job.work)
        batch = await asyncio.to_thread(self._planned, job, dict(job.work), busy, alone)
        if batch is None or job not in self.jobs:
            return
        if self.scheduler.may_start(job, batch, busy, now, hurry=self._joins > 0):
            self.scheduler.started(job, batch)
            self._calls.start(job, batch)

    def _planned(
        self,
        job: SummaryJob,
        work: Mapping[bytes, NodeWork],
        busy: Collection[bytes],
        alone: Collection[bytes],
    ) -> CallBatch | None:
        """Plan a call in a thread: detecting the kind of text takes milliseconds."""
        kinds = Kinds(job.history, job.nodes, job.kinds)
        ready = summary_batches.ready(work, busy, summary_batches.REACH * self._parts)
        return summary_batches.batch(ready, kinds.of, alone, self._parts)

    # -- results of a call -------------------------------------------------------------------

    def _ended(self, job: SummaryJob, batch: CallBatch, result: CallResult) -> None:
        try:
            match result:
                case CallOutcome():
                    self._succeeded(job.tenant, result)
                case Unavailable():
                    self._failed(job, result)
                case Exception():
                    self.jobs.give_up(job)
        finally:
            self.scheduler.ended(job, batch)
            self._unblock(self.jobs.of(job.tenant))

    def _succeeded(self, tenant: str, outcome: CallOutcome) -> None:
        if outcome.limited:
            # no more calls until a post on another day
            remember(self._limited, tenant, self._spending.today)
            log.info("summaries.limit_reached tenant=%s", tenant[:10])
            for job in self.jobs.of(tenant):
                self.jobs.give_up(job)
        self._completed.add(tenant, outcome.done)
        now = self._clock.monotonic()
        self.scheduler.leased_elsewhere(tenant, outcome.leased, now)
        for job in self.jobs.of(tenant):
            job.tries = 0
        self.jobs.done(tenant, outcome.done | outcome.gone)
        if self._health.observe(tenant, outcome):
            log.warning("summaries.all_rejected tenant=%s", tenant[:10])
            for job in self.jobs.of(tenant):
                job.not_before = max(job.not_before, now + BACK_OFF_LIMIT)

    def _failed(self, job: SummaryJob, error: Unavailable) -> None:
        now, wait = self._clock.monotonic(), 0.0
        if isinstance(error, SummarizerUnavailable):
            self._health.down, wait = True, error.wait
            self.scheduler.pause(now + wait)
        self.jobs.retry(job, now, error.code, wait)

    def _at_limit(self, tenant: str) -> bool:
        return self._limited.get(tenant) == self._spending.today

    def _unblock(self, jobs: Iterable[SummaryJob]) -> None:
        for job in jobs:
            job.blocked = 0.0
        self.jobs.wake()

"""The embedded queue of stage 3: jobs in memory, up to some calls at once, beside stage 2.

Tenants take turns by calls under way, so that one with a million tokens does not hold up one with
ten thousand. A call goes out when it is full; what would go alone waits a little for more of its
conversation, since the instructions are paid once a call.

Nothing is lost with the process but the calls under way: the rest is a debt that comes in again
with its text. A tenant whose day's limit is reached owes it until the text comes on another day.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import Counter, OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from indexer.jobs import BACK_OFF_LIMIT, MAX_BYTES, MAX_JOBS, Job, Jobs
from indexer.progress import Backlog, StageTotals, waiting
from indexer.summarizing.call import Cost, Outcome, SummaryCall, SummaryCaller, Totals
from indexer.summarizing.spending import Spending
from memtree import tracing
from memtree.bounded import MAX_TENANTS, remember
from memtree.conversation.history import History
from memtree.errors import SummarizerUnavailable, Unavailable
from memtree.ports.clock import Clock
from memtree.ports.queues import Pending, SummaryStatus
from memtree.summaries import batching
from memtree.summaries.batching import CallBatch, Kinds
from memtree.summaries.completed import CompletedSummaries
from memtree.tree.node import Node
from memtree.tree.work import NodeWork

log = logging.getLogger("memtree.indexer")

PARALLEL, PARTS = 4, 4
GATHER = 15.0  # seconds that a call which is not full waits for more
ELSEWHERE = 5.0  # seconds after which a node that another worker has is looked at again
MAX_TRIES = 10  # the model may be away for an hour: it names long waits itself
# Nodes of a tenant in a row of which no draft was accepted: something is wrong with the model, or
# with the text. Either must not be paid for at full speed, nor hold up other tenants.
USELESS = 8
NODE_BYTES = 5_000  # about, of a decoded node
MAX_REFUSED = 10_000  # nodes whose first draft was rejected


@dataclass(slots=True, eq=False)
class SummaryJob(Job[NodeWork]):
    """`nodes`: the whole tree; `kinds`: of nodes, as far as they were needed. `blocked`: until then
    (monotonic seconds) there is nothing to do for it, unless something changes. `forgotten`: its
    history was deleted, so what a call still brings is not kept."""

    nodes: Mapping[bytes, Node] = field(default_factory=dict)
    kinds: dict[bytes, str] = field(default_factory=dict)
    blocked: float = 0.0
    forgotten: bool = False

    def __post_init__(self) -> None:
        Job.__post_init__(self)  # `super()` does not work in a class that is made anew for slots
        self.size += NODE_BYTES * len(self.nodes)


class InProcessSummaries:
    """A `SummaryQueue` that also does the work. `start()` and `close()` belong to a running
    loop."""

    def __init__(
        self,
        refiner: SummaryCaller,
        spending: Spending,
        clock: Clock,
        settled: CompletedSummaries,
        *,
        parallel: int = PARALLEL,
        parts: int = PARTS,
        gather: float = GATHER,
        max_tries: int = MAX_TRIES,
        max_jobs: int = MAX_JOBS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """`settled` learns of every node that is done; `parts`: most nodes of one call."""
        self._refiner, self._spending, self._clock = refiner, spending, clock
        self._settled = settled
        self._parallel, self._parts, self._gather = parallel, parts, gather
        self.jobs: Jobs[NodeWork] = Jobs(max_jobs, max_bytes, max_tries)
        # (tenant, node) -> monotonic seconds until which somebody is at it; here: no end
        self._busy: dict[tuple[str, bytes], float] = {}
        self._refused: OrderedDict[tuple[str, bytes], Cost] = OrderedDict()
        self._limited: OrderedDict[str, int] = OrderedDict()  # tenant -> day
        self._calls: dict[asyncio.Task[None], SummaryJob] = {}
        self._open: Counter[str] = Counter()  # calls under way by tenant
        self._served: OrderedDict[str, int] = OrderedDict()  # tenant -> number of its last turn
        self._turns = count(1)
        self._pause = 0.0  # monotonic seconds before which the model is not asked
        self._down = False
        self._kept: OrderedDict[str, int] = OrderedDict()  # by tenant, see USELESS
        self._hurries = 0  # who waits for the end
        self._task: asyncio.Task[None] | None = None
        self.done = StageTotals()

    async def backlog(self) -> Backlog:
        return waiting(self.jobs, self._clock.monotonic())

    @property
    def totals(self) -> Totals:
        return self._refiner.totals

    @property
    def waiting(self) -> int:
        """Nodes that wait, of all tenants."""
        return sum(len(one.work) for one in self.jobs)

    @property
    def dropped(self) -> int:
        return self.jobs.dropped

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
            by_id = {one.id: one for one in work}
            now = self._clock.monotonic()
            self.add(SummaryJob(history.tenant, start, history, by_id, now, backfill, nodes=nodes))

    def add(self, new: SummaryJob) -> None:
        """As `submit`; `new.ended` tells when it is done, given up or replaced."""
        for other in self.jobs.add(new):
            assert isinstance(other, SummaryJob)
            new.kinds |= other.kinds
        if self._at_limit(new.tenant):
            self.jobs.give_up(new)

    def withdraw(self, one: SummaryJob) -> None:
        """Begin no call for this job any more."""
        self.jobs.drop(one)

    def under_way(self, one: SummaryJob) -> list[asyncio.Task[None]]:
        """Its calls that are not answered yet."""
        return [task for task, whose in self._calls.items() if whose is one]

    def wait(self, one: SummaryJob, now: float) -> float:
        """Seconds before which it would not be asked for, because something failed."""
        return max(0.0, one.not_before - now, self._pause - now)

    async def pending(self, tenant: str) -> Pending:
        return self.jobs.pending(tenant)

    async def status(self, tenant: str) -> SummaryStatus:
        nodes = sum(len(one.work) for one in self.jobs.of(tenant)) + self.jobs.owed(tenant)
        return await self._spending.status(tenant, self.state(tenant), nodes)

    def state(self, tenant: str) -> str:
        """As `SummaryStatus.state`, as far as this process knows."""
        if self._at_limit(tenant):
            return "limit_reached"
        useless = self._kept.get(tenant, 0) >= USELESS
        return "unavailable" if self._down or useless else "ok"

    async def forget(self, tenant: str, addresses: Collection[bytes] | None) -> int:
        for key in [key for key in self._refused if key[0] == tenant]:
            del self._refused[key]
        for one in self._calls.values():
            end = one.history.addresses[-1]
            if one.tenant == tenant and (addresses is None or end in addresses):
                one.forgotten = True
        return self.jobs.forget(tenant, addresses)

    # -- life --------------------------------------------------------------------------------

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="summaries")

    async def join(self) -> None:
        """Until nothing is left to do; calls that are not full do not wait for more meanwhile."""
        self._hurries += 1
        self._unblock(None)
        try:
            await self.jobs.join()
        finally:
            self._hurries -= 1

    async def close(self, patience: float = 5.0) -> None:
        """Begin no call any more, and give those under way, which are paid for, `patience` seconds
        to come to their end."""
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._task = None
        if self._calls:
            _, late = await asyncio.wait(tuple(self._calls), timeout=patience)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        if len(self.jobs):
            log.info("summaries.stopped jobs_left=%d", len(self.jobs))
        self.jobs.clear()

    # -- whose turn it is --------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            now = self._clock.monotonic()
            one = self._pick(now)
            if one is None:
                await self.jobs.sleep(now, self._times(), busy=bool(self._calls))
                continue
            try:
                await self._begin(one, now)
            except Exception:
                log.exception("summaries.plan_failed")
                self.jobs.give_up(one)

    def _pick(self, now: float) -> SummaryJob | None:
        """What somebody talks in comes first; then the tenant with the fewest calls under way, then
        the one whose last turn is longest ago; of its jobs the one whose last turn is."""
        if len(self._calls) >= self._parallel or now < self._pause:
            return None
        due = [one for one in self._summary_jobs(None) if one.not_before <= now >= one.blocked]

        def order(one: SummaryJob) -> tuple[bool, int, int]:
            return one.backfill, self._open[one.tenant], self._served.get(one.tenant, 0)

        return min(due, key=order, default=None)

    def _times(self) -> list[float]:
        """When there may be something to do again."""
        blocked = [one.blocked for one in self._summary_jobs(None)]
        return [time for time in (self._pause, *blocked) if time < math.inf]

    async def _begin(self, one: SummaryJob, now: float) -> None:
        """Start a call for this job, where there is something to ask now."""
        self._turn(one)
        busy = self._busy_of(one.tenant, now)
        one.blocked = min(busy.values(), default=math.inf)  # an end meanwhile takes it back
        refused = {node for node in one.work if (one.tenant, node) in self._refused}
        batch = await asyncio.to_thread(self._planned, one, dict(one.work), busy, refused)
        if batch is None or one not in self.jobs:
            return
        if not batch.full and not self._hurries:
            if not busy.keys().isdisjoint(one.work):
                return  # what is under way may make more of it ready
            if now < one.since + self._gather:
                one.blocked = min(one.blocked, one.since + self._gather)
                return
        one.blocked = 0.0
        self._start(one, batch)

    def _planned(
        self,
        one: SummaryJob,
        work: Mapping[bytes, NodeWork],
        busy: Collection[bytes],
        alone: Collection[bytes],
    ) -> CallBatch | None:
        """In a thread: reading text for its kind takes milliseconds."""
        kinds = Kinds(one.history, one.nodes, one.kinds)
        found = batching.ready(work, busy, batching.REACH * self._parts)
        return batching.batch(found, kinds.of, alone, self._parts)

    def _turn(self, one: SummaryJob) -> None:
        self.jobs.turn(one)
        remember(self._served, one.tenant, next(self._turns))

    def _busy_of(self, tenant: str, now: float) -> dict[bytes, float]:
        for key in [key for key, until in self._busy.items() if until <= now]:
            del self._busy[key]
        return {node: until for (whose, node), until in self._busy.items() if whose == tenant}

    # -- calls -------------------------------------------------------------------------------

    def _start(self, one: SummaryJob, batch: CallBatch) -> None:
        for work in batch.work:
            self._busy[one.tenant, work.id] = math.inf
        self._open[one.tenant] += 1
        task = asyncio.create_task(self._call(one, batch), name="summary")
        self._calls[task] = one
        task.add_done_callback(lambda _: self._ended(task, one.tenant))

    async def _call(self, one: SummaryJob, batch: CallBatch) -> None:
        keys = [(one.tenant, work.id) for work in batch.work]
        before = {key[1]: self._refused[key] for key in keys if key in self._refused}
        call = SummaryCall(
            one.history, batch.work, batch.kind, one.nodes, before, lambda: not one.forgotten
        )
        begun = self._clock.monotonic()
        try:
            with tracing.behind("summarise", one.watch):
                outcome = await self._refiner.refine(call)
        except Unavailable as error:
            self.done.fail(error.code)
            self._failed(one, error)
        except Exception:
            self.done.fail("internal_error")
            log.exception("summaries.call_failed")
            self.jobs.give_up(one)
        else:
            settled = sum(work.tokens for work in batch.work if work.id in outcome.settled)
            self.done.add(settled, self._clock.monotonic() - begun)
            self._learn(one.tenant, outcome)
        finally:
            for key in keys:
                if self._busy.get(key) == math.inf:
                    del self._busy[key]

    def _ended(self, task: asyncio.Task[None], tenant: str) -> None:
        self._calls.pop(task, None)
        self._open[tenant] -= 1
        if not self._open[tenant]:
            del self._open[tenant]
        self._unblock(tenant)

    def _learn(self, tenant: str, outcome: Outcome) -> None:
        if outcome.limited:
            self._stop(tenant)
        self._settled.add(tenant, outcome.settled)
        for node in outcome.settled | outcome.gone:
            self._refused.pop((tenant, node), None)
        for node, cost in outcome.rejected.items():
            self._refused[tenant, node] = cost
        while len(self._refused) > MAX_REFUSED:
            self._refused.popitem(last=False)
        now = self._clock.monotonic()
        for node in outcome.elsewhere:
            self._busy[tenant, node] = now + ELSEWHERE
        for one in self.jobs.of(tenant):
            one.tries = 0
        self.jobs.done(tenant, outcome.settled | outcome.gone)
        self._watch(tenant, outcome, now)

    def _watch(self, tenant: str, outcome: Outcome, now: float) -> None:
        """Whether the model is of any use: one that never is would cost all for nothing."""
        if outcome.settled or outcome.rejected:
            self._down = False  # it answers
        if outcome.settled - outcome.kept:
            self._kept.pop(tenant, None)
        elif outcome.kept:
            self._kept[tenant] = self._kept.get(tenant, 0) + len(outcome.kept)
            if self._kept[tenant] >= USELESS:
                log.warning("summaries.useless tenant=%s", tenant[:10])
                for one in self.jobs.of(tenant):
                    one.not_before = max(one.not_before, now + BACK_OFF_LIMIT)
        while len(self._kept) > MAX_TENANTS:
            self._kept.popitem(last=False)

    def _failed(self, one: SummaryJob, error: Unavailable) -> None:
        now, wait = self._clock.monotonic(), 0.0
        if isinstance(error, SummarizerUnavailable):
            self._down, wait = True, error.wait
            self._pause = max(self._pause, now + wait)  # it is one server for all
        self.jobs.later(one, now, error.code, wait)

    # -- limits ------------------------------------------------------------------------------

    def _at_limit(self, tenant: str) -> bool:
        return self._limited.get(tenant) == self._spending.today

    def _stop(self, tenant: str) -> None:
        """The tenant's day is over: nothing more is asked until its text comes on another one."""
        remember(self._limited, tenant, self._spending.today)
        log.info("summaries.limit_reached tenant=%s", tenant[:10])
        for one in self.jobs.of(tenant):
            self.jobs.give_up(one)

    # ----------------------------------------------------------------------------------------

    def _summary_jobs(self, tenant: str | None) -> list[SummaryJob]:
        """Those of a tenant, or all (None)."""
        jobs = self.jobs if tenant is None else self.jobs.of(tenant)
        return [one for one in jobs if isinstance(one, SummaryJob)]

    def _unblock(self, tenant: str | None) -> None:
        for one in self._summary_jobs(tenant):
            one.blocked = 0.0
        self.jobs.wake()

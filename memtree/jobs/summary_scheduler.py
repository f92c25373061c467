"""Choose the next job to make a call for: fair between tenants, no node twice, waiting for fuller
calls; and know whose drafts the model fails.

    job = scheduler.pick(jobs, now)              # None: nothing to do before `wake_times`
    busy = scheduler.served(job, now)            # its turn; nodes of the tenant under way
    batch = ...                                  # planned among the rest
    if batch and scheduler.may_start(job, batch, busy, now, hurry=False):
        scheduler.started(job, batch)
    ...
    scheduler.ended(job, batch)                  # frees its nodes

Decisions only: no task, no clock, no store. `now` is always monotonic seconds.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Mapping
from itertools import count

from memtree.jobs.job_queue import SummaryJob
from memtree.jobs.summary_calls import CallOutcome
from memtree.process.bounded import MAX_TENANTS, remember
from memtree.tree.summary_batches import CallBatch

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
    """Tenants take turns by their running calls, at most `parallel` of them in all."""

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
        busy = self._under_way(job.tenant, now)
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

    def _under_way(self, tenant: str, now: float) -> dict[bytes, float]:
        for key in [key for key, until in self._busy.items() if until <= now]:
            del self._busy[key]
        return {node: until for (whose, node), until in self._busy.items() if whose == tenant}

"""Calls for summaries, from the claim to the commit, one task each.

    claim -> reserve the money -> ask the model -> check each draft -> commit -> settle, release

A node is claimed (leased) before its call, so two workers never pay for it; the claim is short and
is renewed during the call, so a killed worker blocks nothing for long. Results are committed
immediately: a killed process loses one call. A draft that is rejected, or missing, is requested
once more in a call of its own; after that the extraction is kept as the final summary, and no
further call is paid.

Nodes are chosen in `memtree/tree/summary_batches.py` and `summary_queue.py`, which also retries.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from memtree.clock import Clock
from memtree.errors import StoreUnavailable, SummarizerUnavailable, Unavailable
from memtree.history.chat_history import History
from memtree.jobs.job_queue import StageTotals, SummaryJob
from memtree.jobs.spending import Spending
from memtree.ports.context_store import Claims, TreeStore
from memtree.ports.models import Summarizer, SummaryDrafts, Usage
from memtree.process import tracing
from memtree.text import secrets, tokens
from memtree.tree import summary_batches, summary_prompts
from memtree.tree.node import Node, NodeWork, Summary
from memtree.tree.summary_batches import CallBatch
from memtree.tree.summary_check import check
from memtree.tree.summary_prompts import Task
from memtree.tree.summary_replies import Draft, mended

log = logging.getLogger("memtree.indexer")

# Seconds that a claim lasts, and after which it is renewed. If a process or its store is held up,
# it misses a few renewals and still keeps the claim: otherwise another process would pay for the
# same nodes.
HOLD, PROLONG = 60.0, 10.0
# An answer may take twice its caps, since models count other tokens, plus its JSON.
ROOM_TIMES, ROOM_BESIDE = 2, 40
MISSING = "missing"
# seconds to wait after a failed commit; after the last attempt it is given up
PUT_AGAIN = (0.5, 2.0, 0.0)

Cost = tuple[int, int]  # tokens: input, output


class ClaimingStore(TreeStore, Claims, Protocol):
    """Ports of the store that a call needs."""


@dataclass(frozen=True, slots=True)
class SummaryCall:
    """Nodes to summarise in one call.

    `nodes`: the whole tree. `before`: cost of the first draft, for nodes where it was rejected.
    `wanted`: returns False if the answer may not be stored any more.
    """

    history: History
    work: tuple[NodeWork, ...]
    kind: str
    nodes: Mapping[bytes, Node]
    before: Mapping[bytes, Cost]
    wanted: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """Outcome of a call for each of its nodes.

    `done`: they have a later summary now; of these, `kept` kept their extraction, because the
    model's drafts were rejected. `rejected`: to be requested once more, with the cost of the first
    draft. `leased`: another worker holds their lease. `gone`: not stored any more. `limited`: the
    day's limit is reached, so no call was made.
    """

    done: frozenset[bytes] = frozenset()
    kept: frozenset[bytes] = frozenset()
    rejected: Mapping[bytes, Cost] = field(default_factory=dict)
    leased: frozenset[bytes] = frozenset()
    gone: frozenset[bytes] = frozenset()
    limited: bool = False


@dataclass(slots=True)
class CallTotals:
    """Counts of this process for its metrics: calls by outcome, tokens by kind, nodes by outcome,
    rejected drafts by the first problem of each."""

    calls: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    nodes: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    micros: int = 0
    seconds: float = 0.0


class SummaryCaller:
    """Makes calls; safe for several at once."""

    def __init__(
        self,
        store: ClaimingStore,
        summarizer: Summarizer,
        spending: Spending,
        clock: Clock,
        owner: str,
        *,
        both: bool = False,
    ) -> None:
        """`owner`: names this process in claims. `both`: extractions are shown together with the
        model's summaries."""
        self._store, self._summarizer = store, summarizer
        self.spending, self.clock = spending, clock
        self._owner, self._both = owner, both
        self.totals = CallTotals()

    async def run(self, call: SummaryCall) -> CallOutcome:
        """Make the call. Raises `SummarizerUnavailable` and store errors, and then stores
        nothing."""
        tenant = call.history.tenant
        ids = {node.id for node in call.work}
        mine = await self._claim(tenant, ids)
        try:
            unclaimed = await self._others(tenant, ids - mine)
            work = tuple(node for node in call.work if node.id in mine)
            if not work:
                return unclaimed
            async with self._holding(tenant, mine):
                outcome = await self._ask(call, work)
            return _joined(unclaimed, outcome)
        finally:
            if mine:
                await self._release(tenant, mine)

    # -- claims ------------------------------------------------------------------------------

    async def _claim(self, tenant: str, ids: Collection[bytes]) -> set[bytes]:
        now = self.clock.now()
        return await self._store.claim(tenant, list(ids), self._owner, now, now + HOLD)

    @asynccontextmanager
    async def _holding(self, tenant: str, ids: Collection[bytes]) -> AsyncIterator[None]:
        """Renew the claims while the block runs."""

        async def prolong() -> None:
            while True:
                await asyncio.sleep(PROLONG)
                try:
                    await self._claim(tenant, ids)
                except Unavailable as error:
                    log.warning("summaries.claim_not_renewed code=%s", error.code)

        task = asyncio.create_task(prolong())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _release(self, tenant: str, ids: Collection[bytes]) -> None:
        try:
            await self._store.release(tenant, list(ids), self._owner)
        except Unavailable as error:  # the claims expire by themselves
            log.warning("summaries.claim_not_released code=%s", error.code)

    async def _others(self, tenant: str, ids: set[bytes]) -> CallOutcome:
        """Return why nodes could not be claimed."""
        if not ids:
            return CallOutcome()
        newest = await self._store.newest_summaries(tenant, list(ids))
        later = {id_ for id_, summary in newest.items() if summary.version > 0}
        left = ids - later
        stored = (await self._store.nodes(tenant, list(left))).keys() if left else set()
        return CallOutcome(
            done=frozenset(later),
            leased=frozenset(left & stored),
            gone=frozenset(left - stored),
        )

    # -- the call ----------------------------------------------------------------------------

    async def _ask(self, call: SummaryCall, work: tuple[NodeWork, ...]) -> CallOutcome:
        tenant = call.history.tenant
        children = await self._children(tenant, work, call.nodes)
        tasks, size = await asyncio.to_thread(_prepared, call, work, children)
        room = sum(ROOM_TIMES * (task.cap + task.headline_cap) + ROOM_BESIDE for task in tasks)
        reserved = await self.spending.reserve(tenant, size, room)
        if reserved is None:
            return CallOutcome(limited=True)
        started = self.clock.monotonic()
        try:
            written = await self._summarizer.write(tasks)
        except SummarizerUnavailable as error:
            usage = Usage(*error.cost)
            counts = {"failed": 1, "calls": int(any(error.cost))}
            micros = await self.spending.settle(reserved, usage, counts)
            self._count("failed", usage, micros, started)
            raise
        judged = await asyncio.to_thread(self._judged, call, work, tasks, written)
        micros = await self.spending.settle(reserved, written.usage, judged.counts())
        self._count("answered", written.usage, micros, started)
        self.totals.problems.update(judged.problems)
        if not call.wanted():  # deleted meanwhile
            return CallOutcome()
        await self._put(tenant, judged.rows)
        outcome = judged.outcome()
        self.totals.nodes["written"] += len(outcome.done) - len(outcome.kept)
        self.totals.nodes["kept"] += len(outcome.kept)
        return outcome

    async def _put(self, tenant: str, rows: Mapping[bytes, Summary]) -> None:
        """Commit with retries: the rows are paid for, and a store may be locked briefly."""
        for wait in PUT_AGAIN if rows else ():
            try:
                await self._store.put_summaries(tenant, rows)
            except StoreUnavailable:
                if not wait:
                    raise
                await asyncio.sleep(wait)
            else:
                return

    async def _children(
        self, tenant: str, work: Sequence[NodeWork], nodes: Mapping[bytes, Node]
    ) -> dict[bytes, Summary]:
        """Return the newest summaries of all children; the extraction if there is no later one."""
        ids = [id_ for node in work for id_ in node.node.children]
        if not ids:
            return {}
        later = await self._store.newest_summaries(tenant, ids)
        return {id_: later.get(id_) or nodes[id_].summary for id_ in ids}

    def _judged(
        self,
        call: SummaryCall,
        work: Sequence[NodeWork],
        tasks: Sequence[Task],
        written: SummaryDrafts,
    ) -> _Verdict:
        judged = _Verdict()
        costs = _costs(written.usage, tasks)
        for node, task, cost in zip(work, tasks, costs, strict=True):
            draft = _clean(written.drafts.get(task.id))
            problem = _problem(draft, task)
            before = call.before.get(node.id, (0, 0))
            whole = before[0] + cost[0], before[1] + cost[1]
            recipe = self._summarizer.recipe
            if draft is not None and not problem:
                judged.rows[node.id] = summary_batches.written(
                    node.node, draft, recipe, whole, both=self._both
                )
                continue
            judged.problems.append(problem)
            if node.id in call.before:
                judged.rows[node.id] = summary_batches.settled(node.node, recipe, whole)
            else:
                judged.rejected[node.id] = whole
        return judged

    def _count(self, outcome: str, usage: Usage, micros: int, started: float) -> None:
        totals = self.totals
        totals.calls[outcome] += 1
        totals.tokens.update(input=usage.input, cached=usage.cached, output=usage.output)
        totals.micros += micros
        totals.seconds += self.clock.monotonic() - started


@dataclass(slots=True)
class _Verdict:
    """Accepted summaries of an answer, and the problems of the rest."""

    rows: dict[bytes, Summary] = field(default_factory=dict)
    rejected: dict[bytes, Cost] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def outcome(self) -> CallOutcome:
        kept = frozenset(id_ for id_, summary in self.rows.items() if summary.settled)
        return CallOutcome(frozenset(self.rows), kept, self.rejected)

    def counts(self) -> dict[str, int]:
        nodes = sum(summary.by_model for summary in self.rows.values())
        return {"calls": 1, "nodes": nodes, "rejected": len(self.problems)}


def _prepared(
    call: SummaryCall, work: Sequence[NodeWork], children: Mapping[bytes, Summary]
) -> tuple[list[Task], int]:
    """Build the tasks of a call, and count their tokens."""
    tasks = summary_batches.tasks(call.history, work, call.kind, children)
    texts = [
        message["content"].encode(errors="replace").decode()
        for message in summary_prompts.prompt(tasks)
    ]
    return tasks, sum(tokens.count_many(texts))


def _costs(usage: Usage, tasks: Sequence[Task]) -> Iterator[Cost]:
    """Yield the tokens of a call for each of its tasks: input in proportion to the text read,
    output in proportion to the room."""
    read, room = [summary_batches.length(task) for task in tasks], [task.cap for task in tasks]
    return zip(
        summary_batches.shares(usage.input, read),
        summary_batches.shares(usage.output, room),
        strict=True,
    )


def _clean(draft: Draft | None) -> Draft | None:
    """Return the draft without harmless extras, secrets, and characters that no store can hold."""
    if draft is None:
        return None
    draft = mended(draft)
    return Draft(_kept(draft.headline), _kept(draft.body))


def _kept(text: str) -> str:
    return secrets.mask(text.encode(errors="replace").decode())


def _problem(draft: Draft | None, task: Task) -> str:
    """Return the name of the draft's first problem; "" if there is none."""
    if draft is None:
        return MISSING
    return next((problem.name for problem in check(draft, task, tokens.count)), "")


def _joined(unclaimed: CallOutcome, outcome: CallOutcome) -> CallOutcome:
    return CallOutcome(
        unclaimed.done | outcome.done,
        outcome.kept,
        outcome.rejected,
        unclaimed.leased,
        unclaimed.gone,
        outcome.limited,
    )


# ---------------------------------------------------------------- calls under way


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

"""Measure a process for Prometheus, server or worker, and the work of indexing and extraction.

Of the process: its version, its warnings, its event loop, its caches. Of indexing and extraction:
backlog, progress and cost. Extraction is the reading of conversations for memories. No tenants, no
users and no text.

Stages: 1 cuts a history into a tree, 2 embeds it, 3 has a model summarise it. Stage 1 runs inside
the request, so it has no queue. The `Backlog` of each queue is read before each page
(`Metrics.gather`), possibly over the network. A queue that does not answer is shown as down and
without a backlog: an old number would look like a current one.
"""

from __future__ import annotations

import asyncio
import platform
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress

from prometheus_client import Histogram
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from memtree import __version__
from memtree.errors import Unavailable
from memtree.jobs.conversation_extraction import ExtractionParts
from memtree.jobs.job_queue import Backlog, PendingQueue, StageTotals
from memtree.jobs.model_readers import NO_ANSWER, NOT_GROUNDED
from memtree.jobs.spending import MILLION, ModelTotals
from memtree.jobs.summary_queue import InProcessSummaries
from memtree.memories.message_extraction import EXPIRED, LIMIT, UNSTORABLE
from memtree.process.bounded import SizedCache
from memtree.statements.grammar import SkipReason
from memtree_proxy.http.log import Tally
from memtree_proxy.http.metrics import by_label

# By name: the help, the label unless that is the stage, and the field of a `Backlog`, of
# `StageTotals`, or of the totals of summaries.
BACKLOG = {
    "memtree_queue_jobs": ("Histories that wait to be indexed.", "jobs"),
    "memtree_queue_tokens": ("Tokens that wait to be indexed.", "tokens"),
    "memtree_index_lag_seconds": (
        "Age of the job that waits longest; 0 where none does.",
        "oldest",
    ),
}
DONE = {
    "memtree_indexed_tokens": ("Tokens that this process has indexed.", "tokens"),
    "memtree_index_busy_seconds": ("Seconds that this took.", "seconds"),
}
SUMMARIES = {
    "memtree_summary_calls": ("Calls for summaries by what came of them.", "outcome", "calls"),
    "memtree_summary_tokens": (
        "Tokens of these calls; cached ones are part of the input.",
        "kind",
        "tokens",
    ),
    "memtree_summary_nodes": (
        "Nodes that are done: summaries that a model wrote, and extractions that were kept "
        "because its summaries were rejected.",
        "outcome",
        "nodes",
    ),
    "memtree_summary_rejected": (
        "Summaries that were rejected, by the first problem.",
        "problem",
        "problems",
    ),
}
REASONS = frozenset((*SkipReason, EXPIRED, LIMIT, UNSTORABLE, NOT_GROUNDED, NO_ANSWER))
OUTCOMES, KINDS = ("answered", "failed", "limited"), ("input", "cached", "output")
OTHER = "other"  # limits the label's values, whatever an extractor reports


class IndexMetrics(Collector):
    """`queues` and `done`: by stage; a worker has only `done`. `embedded`: calls of the embedder by
    outcome."""

    def __init__(
        self,
        queues: Mapping[str, PendingQueue],
        done: Mapping[str, StageTotals],
        embedded: Mapping[str, int] | None = None,
    ) -> None:
        self._queues, self._done = queues, done
        self._embedded = {} if embedded is None else embedded  # the caller updates it
        self._backlogs: dict[str, Backlog] = {}

    async def ask(self) -> None:
        """Read all queues; one that does not answer counts as down until the next read."""
        self._backlogs.clear()
        for stage, queue in self._queues.items():
            with suppress(Unavailable):
                self._backlogs[stage] = await queue.backlog()

    def collect(self) -> Iterable[Metric]:
        up = {stage: float(stage in self._backlogs) for stage in self._queues}
        help_ = "1 where the queue of a stage tells what waits in it."
        yield by_label(GaugeMetricFamily, "memtree_queue_up", help_, "stage", up)
        for name, (help_, field) in BACKLOG.items():
            waiting = {stage: getattr(known, field) for stage, known in self._backlogs.items()}
            yield by_label(GaugeMetricFamily, name, help_, "stage", waiting)
        for name, (help_, field) in DONE.items():
            done = {stage: getattr(totals, field) for stage, totals in self._done.items()}
            yield by_label(CounterMetricFamily, name, help_, "stage", done)
        help_ = "Pieces of this work by outcome: done, or the code of an error."
        labels = ("stage", "outcome")
        batches = CounterMetricFamily("memtree_index_batches", help_, labels=labels)
        for stage, totals in self._done.items():
            for outcome, count in sorted(totals.batches.items()):
                batches.add_metric([stage, outcome], count)
        yield batches
        help_, calls = "Calls of the embedder for passages.", dict(sorted(self._embedded.items()))
        yield by_label(CounterMetricFamily, "memtree_embedder_batches", help_, "outcome", calls)


class SummaryMetrics(Collector):
    """Cost of summaries by a model, and how many were accepted: the queue's own counts."""

    def __init__(self, queue: InProcessSummaries) -> None:
        self._queue = queue

    def collect(self) -> Iterable[Metric]:
        totals = self._queue.totals
        for name, (help_, label, field) in SUMMARIES.items():
            counts = dict(sorted(getattr(totals, field).items()))
            yield by_label(CounterMetricFamily, name, help_, label, counts)
        yield CounterMetricFamily(
            "memtree_summary_money",
            "What the calls cost at the prices that are set.",
            value=totals.micros / MILLION,
        )
        yield CounterMetricFamily(
            "memtree_summary_jobs_dropped",
            "Histories whose summaries were given up until their text comes again.",
            value=self._queue.dropped,
        )
        yield GaugeMetricFamily(
            "memtree_summary_pending_nodes", "Nodes that wait.", value=self._queue.waiting
        )
        yield SummaryMetricFamily(
            "memtree_summary_call_seconds",
            "Seconds that calls took, waits for their turn included.",
            count_value=sum(totals.calls.values()),
            sum_value=totals.seconds,
        )


class ExtractionMetrics(Collector):
    def __init__(self, parts: ExtractionParts) -> None:
        self._parts = parts

    def collect(self) -> Iterable[Metric]:
        made, queue = self._parts.conversations.totals, self._parts.queue
        help_ = "Messages of users that were read for memories."
        yield CounterMetricFamily("memtree_extraction_messages", help_, value=made.messages)
        yield _counted(
            "memories",
            "Memories that were stored: of a sentence, or snapshots, new or changed.",
            "kind",
            {"memory": made.stored, "snapshot": made.snapshots},
        )
        help_ = "Sentences that no memory was made of, by reason."
        skipped: Counter[str] = Counter()
        for reason, count in made.skipped.items():
            skipped[str(reason) if reason in REASONS else OTHER] += count
        yield _counted("skipped", help_, "reason", dict(sorted(skipped.items())))
        help_ = "Conversations that wait."
        yield GaugeMetricFamily("memtree_extraction_queue_jobs", help_, value=len(queue))
        help_ = "Bytes of their messages."
        yield GaugeMetricFamily("memtree_extraction_queue_bytes", help_, value=queue.size)
        yield _counted(
            "jobs_dropped",
            "Conversations that were let go until their next request: too many waited (full), or "
            "reading them failed too often (failed).",
            "reason",
            {"full": queue.totals.dropped, "failed": queue.totals.given_up},
        )
        yield SummaryMetricFamily(
            "memtree_extraction_seconds",
            "Seconds that conversations were read for.",
            count_value=queue.totals.read,
            sum_value=queue.totals.seconds,
        )
        totals = self._parts.model.totals if self._parts.model else ModelTotals()
        calls = {outcome: totals.calls[outcome] for outcome in OUTCOMES}
        yield _counted("model_calls", "Calls of the model by outcome.", "outcome", calls)
        tokens = {kind: totals.tokens[kind] for kind in KINDS}
        yield _counted("model_tokens", "Tokens of these calls.", "kind", tokens)


def _counted(name: str, help_: str, label: str, numbers: Mapping[str, int]) -> Metric:
    return by_label(CounterMetricFamily, f"memtree_extraction_{name}", help_, label, numbers)


BEAT = 0.5  # seconds between two measurements of the event loop
# Seconds. Request handlers block the loop for up to 25 ms; a tenth of a second is noticeable in
# streams.
LAGS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)


class ProcessMetrics(Collector):
    """Version of the build, and warnings."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def collect(self) -> Iterable[Metric]:
        yield InfoMetricFamily(
            "memtree_build",
            "What runs here.",
            {"version": __version__, "python": platform.python_version()},
        )
        help_ = "Log lines of warnings and errors by event, as in `store.unavailable`."
        warnings = dict(sorted(self._tally.counts.items()))
        yield by_label(CounterMetricFamily, "memtree_warnings", help_, "event", warnings)


class LoopLag(Collector):
    """Delay of the event loop, which delays every task of the process."""

    def __init__(self, beat: float = BEAT) -> None:
        self._beat = beat
        self._lags = Histogram(
            "memtree_loop_lag_seconds",
            "How much later than asked for the event loop woke up a task; looked at twice a "
            "second.",
            buckets=LAGS,
            registry=None,
        )
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="pulse")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def collect(self) -> Iterable[Metric]:
        return self._lags.collect()

    async def _run(self) -> None:
        while True:
            begun = time.perf_counter()
            await asyncio.sleep(self._beat)
            self._lags.observe(max(0.0, time.perf_counter() - begun - self._beat))


class CacheMetrics(Collector):
    """Sizes of `caches`, by name."""

    def __init__(self, caches: Mapping[str, SizedCache]) -> None:
        self._caches = caches

    def collect(self) -> Iterable[Metric]:
        help_ = "Bytes that each cache of posted conversations holds, estimated."
        held = {name: cache.nbytes for name, cache in sorted(self._caches.items())}
        yield by_label(GaugeMetricFamily, "memtree_cache_bytes", help_, "cache", held)

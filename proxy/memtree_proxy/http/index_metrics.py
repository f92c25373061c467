"""Backlog, progress and cost of indexing and of extraction, for Prometheus.

Stages: 1 cuts a history into a tree, 2 embeds it, 3 has a model summarise it. Stage 1 runs inside
the request, so it has no queue. The `Backlog` of each queue is read before each page
(`Metrics.gather`), possibly over the network. A queue that does not answer is shown as down and
without a backlog: an old number would look like a current one. Extraction is the reading of
conversations for memories. No tenants, no users and no text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from memtree.errors import Unavailable
from memtree.jobs.background_summary_queue import InProcessSummaries
from memtree.jobs.conversation_extraction import ExtractionParts
from memtree.jobs.job_queue import Backlog, PendingQueue, StageTotals
from memtree.jobs.model_readers import NO_ANSWER, NOT_GROUNDED
from memtree.jobs.spending import MILLION, ModelTotals
from memtree.memories.message_extraction import EXPIRED, LIMIT, UNSTORABLE
from memtree.statements.skip_reasons import SkipReason
from memtree_proxy.http.label_series import by_label

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
        yield _counted("skipped", help_, "reason", dict(sorted(_bounded(made.skipped).items())))
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


def _bounded(skipped: Counter[str]) -> Counter[str]:
    bounded: Counter[str] = Counter()
    for reason, count in skipped.items():
        bounded[str(reason) if reason in REASONS else OTHER] += count
    return bounded

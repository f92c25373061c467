"""Metrics of extraction, the reading of conversations for memories, for Prometheus.

Read from the counts of this process for each page. No tenants, no users and no text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from memtree.background.extracting.metered_model import ModelTotals
from memtree.background.extracting.model_reader import NO_ANSWER, NOT_GROUNDED
from memtree.background.extracting.open import ExtractionParts
from memtree.memories.extraction.candidates import SkipReason
from memtree.memories.message_extraction import EXPIRED, LIMIT, UNSTORABLE

REASONS = frozenset((*SkipReason, EXPIRED, LIMIT, UNSTORABLE, NOT_GROUNDED, NO_ANSWER))
OUTCOMES, KINDS = ("answered", "failed", "limited"), ("input", "cached", "output")
OTHER = "other"  # limits the label's values, whatever an extractor reports


class ExtractionMetrics(Collector):
    def __init__(self, parts: ExtractionParts) -> None:
        self._parts = parts

    def collect(self) -> Iterable[Metric]:
        made, queue = self._parts.conversations.totals, self._parts.queue
        yield CounterMetricFamily(
            "memtree_extraction_messages",
            "Messages of users that were read for memories.",
            value=made.messages,
        )
        yield _kinds(made.stored, made.snapshots)
        skipped = CounterMetricFamily(
            "memtree_extraction_skipped",
            "Sentences that no memory was made of, by reason.",
            labels=["reason"],
        )
        for reason, count in sorted(_bounded(made.skipped).items()):
            skipped.add_metric([reason], count)
        yield skipped
        yield from self._queue(queue.totals.dropped, queue.totals.given_up)
        yield SummaryMetricFamily(
            "memtree_extraction_seconds",
            "Seconds that conversations were read for.",
            count_value=queue.totals.read,
            sum_value=queue.totals.seconds,
        )
        totals = self._parts.model.totals if self._parts.model else ModelTotals()
        yield _counted("calls", "Calls of the model by outcome.", "outcome", OUTCOMES, totals.calls)
        yield _counted("tokens", "Tokens of these calls.", "kind", KINDS, totals.tokens)

    def _queue(self, dropped: int, given_up: int) -> Iterable[Metric]:
        queue = self._parts.queue
        yield GaugeMetricFamily(
            "memtree_extraction_queue_jobs", "Conversations that wait.", value=len(queue)
        )
        yield GaugeMetricFamily(
            "memtree_extraction_queue_bytes", "Bytes of their messages.", value=queue.size
        )
        lost = CounterMetricFamily(
            "memtree_extraction_jobs_dropped",
            "Conversations that were let go until their next request: too many waited (full), or "
            "reading them failed too often (failed).",
            labels=["reason"],
        )
        lost.add_metric(["full"], dropped)
        lost.add_metric(["failed"], given_up)
        yield lost


def _kinds(memories: int, snapshots: int) -> CounterMetricFamily:
    family = CounterMetricFamily(
        "memtree_extraction_memories",
        "Memories that were stored: of a sentence, or snapshots, new or changed.",
        labels=["kind"],
    )
    family.add_metric(["memory"], memories)
    family.add_metric(["snapshot"], snapshots)
    return family


def _bounded(skipped: Counter[str]) -> Counter[str]:
    bounded: Counter[str] = Counter()
    for reason, count in skipped.items():
        bounded[str(reason) if reason in REASONS else OTHER] += count
    return bounded


def _counted(
    name: str, help_: str, label: str, values: Sequence[str], counts: Counter[str]
) -> CounterMetricFamily:
    family = CounterMetricFamily(f"memtree_extraction_model_{name}", help_, labels=[label])
    for value in values:
        family.add_metric([value], counts[value])
    return family

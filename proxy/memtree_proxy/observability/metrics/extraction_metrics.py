"""Metrics of extraction, the reading of conversations for memories, for Prometheus.

Read from the counts of this process for each page. No tenants, no users and no text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from memtree.background.extraction import ExtractionParts
from memtree.background.model_readers import NO_ANSWER, NOT_GROUNDED
from memtree.background.spending import ModelTotals
from memtree.memories.extraction.candidates import SkipReason
from memtree.memories.message_extraction import EXPIRED, LIMIT, UNSTORABLE
from memtree_proxy.observability.metrics.label_series import by_label

REASONS = frozenset((*SkipReason, EXPIRED, LIMIT, UNSTORABLE, NOT_GROUNDED, NO_ANSWER))
OUTCOMES, KINDS = ("answered", "failed", "limited"), ("input", "cached", "output")
OTHER = "other"  # limits the label's values, whatever an extractor reports


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

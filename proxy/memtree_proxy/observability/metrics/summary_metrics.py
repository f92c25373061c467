"""Metrics of summaries by a model for Prometheus: their cost, and how many were accepted.

Read from the queue's own counts for each page. No tenants and no text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from memtree.background.summarizing.queue import InProcessSummaries
from memtree.background.summarizing.spending import MILLION


class SummaryMetrics(Collector):
    def __init__(self, queue: InProcessSummaries) -> None:
        self._queue = queue

    def collect(self) -> Iterable[Metric]:
        totals = self._queue.totals
        yield _counted("calls", "Calls for summaries by what came of them.", "outcome",
                       totals.calls)  # fmt: skip
        yield _counted(
            "tokens",
            "Tokens of these calls; cached ones are part of the input.",
            "kind",
            totals.tokens,
        )
        yield _counted(
            "nodes",
            "Nodes that are done: summaries that a model wrote, and extractions that were kept "
            "because its summaries were rejected.",
            "outcome",
            totals.nodes,
        )
        yield _counted(
            "rejected", "Summaries that were rejected, by the first problem.", "problem",
            totals.problems,
        )  # fmt: skip
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


def _counted(name: str, help_: str, label: str, counts: Mapping[str, int]) -> CounterMetricFamily:
    family = CounterMetricFamily(f"memtree_summary_{name}", help_, labels=[label])
    for value, count in sorted(counts.items()):
        family.add_metric([value], count)
    return family

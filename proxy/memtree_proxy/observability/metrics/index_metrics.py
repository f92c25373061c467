"""Backlog and progress of indexing, for Prometheus, wherever its queue is kept.

Stages: 1 cuts a history into a tree, 2 embeds it, 3 has a model summarise it. Stage 1 runs inside
the request, so it has no queue. The `Backlog` of each queue is read before each page
(`Metrics.gather`), possibly over the network. A queue that does not answer is shown as down and
without a backlog: an old number would look like a current one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from memtree.background.progress import Backlog, PendingQueue, StageTotals
from memtree.errors import Unavailable


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
        yield from self._backlog_metrics()
        yield from self._work_metrics()
        calls = CounterMetricFamily(
            "memtree_embedder_batches", "Calls of the embedder for passages.", labels=["outcome"]
        )
        for outcome, count in sorted(self._embedded.items()):
            calls.add_metric([outcome], count)
        yield calls

    def _backlog_metrics(self) -> Iterable[Metric]:
        up = _by_stage("queue_up", "1 where the queue of a stage tells what waits in it.")
        jobs = _by_stage("queue_jobs", "Histories that wait to be indexed.")
        tokens = _by_stage("queue_tokens", "Tokens that wait to be indexed.")
        oldest = _by_stage(
            "index_lag_seconds", "Age of the job that waits longest; 0 where none does."
        )
        for stage in self._queues:
            backlog = self._backlogs.get(stage)
            up.add_metric([stage], float(backlog is not None))
            if backlog is not None:
                jobs.add_metric([stage], backlog.jobs)
                tokens.add_metric([stage], backlog.tokens)
                oldest.add_metric([stage], backlog.oldest)
        return (up, jobs, tokens, oldest)

    def _work_metrics(self) -> Iterable[Metric]:
        tokens = CounterMetricFamily(
            "memtree_indexed_tokens", "Tokens that this process has indexed.", labels=["stage"]
        )
        seconds = CounterMetricFamily(
            "memtree_index_busy_seconds", "Seconds that this took.", labels=["stage"]
        )
        batches = CounterMetricFamily(
            "memtree_index_batches",
            "Pieces of this work by outcome: done, or the code of an error.",
            labels=["stage", "outcome"],
        )
        for stage, done in self._done.items():
            tokens.add_metric([stage], done.tokens)
            seconds.add_metric([stage], done.seconds)
            for outcome, count in sorted(done.batches.items()):
                batches.add_metric([stage, outcome], count)
        return (tokens, seconds, batches)


def _by_stage(name: str, help_: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"memtree_{name}", help_, labels=["stage"])

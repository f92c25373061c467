"""Count requests, the time of each part, the work of memory and its savings, for Prometheus.

Counters and histograms that every request updates are a dictionary's entry, without a lock. Those
of `prometheus_client` take a lock for each number, look up labels under another one and scan all
bounds of a histogram. Ours may be used by the thread of the event loop only; counts made in other
threads, and the page itself, use the library.

Each app has a registry of its own, so that two apps in one process do not share counts. Access to
the page is decided in `auth.Gate.operator`. Every name is explained in docs/observability.md. No
tenants, no models, no text. Labels have few values: our routes, our steps, the codes of our errors,
and the statuses in `STATUSES`; any other status is counted by its class.
"""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString
from starlette.responses import Response

from memtree_proxy.http.request_trace import Trace

Labels = tuple[str, ...]


def counters(
    registry: CollectorRegistry, table: Mapping[str, tuple[str, ...]]
) -> dict[str, Counter]:
    """Make the library's counters of a table: by name, the counter's help and its labels."""
    return {
        name: Counter(name, help_, labels, registry=registry)
        for name, (help_, *labels) in table.items()
    }


def by_label(
    kind: type[CounterMetricFamily | GaugeMetricFamily],
    name: str,
    help_: str,
    label: str,
    numbers: Mapping[str, float],
) -> Metric:
    """Return a metric of this kind with one label, whose values the keys of `numbers` are."""
    family = kind(name, help_, labels=[label])
    for value, number in numbers.items():
        family.add_metric([value], number)
    return family


class LabelCounts(Collector):
    """One counter, by the values of its labels."""

    def __init__(
        self, registry: CollectorRegistry, name: str, help_: str, labels: Sequence[str]
    ) -> None:
        self._shown = (name, help_, labels)
        self._counts: dict[Labels, int] = {}
        registry.register(self)

    def add(self, *labels: str) -> None:
        self._counts[labels] = self._counts.get(labels, 0) + 1

    def describe(self) -> list[Metric]:
        name, help_, labels = self._shown
        return [CounterMetricFamily(name, help_, labels=labels)]

    def collect(self) -> Iterator[Metric]:
        name, help_, labels = self._shown
        family = CounterMetricFamily(name, help_, labels=labels)
        for values, count in self._counts.items():
            family.add_metric(values, count)
        yield family


class LabelTimes(Collector):
    """One histogram of seconds, by the value of its label; without a label it exists from the
    start."""

    def __init__(
        self,
        registry: CollectorRegistry,
        name: str,
        help_: str,
        bounds: Sequence[float],
        labels: Sequence[str] = (),
    ) -> None:
        self._shown = (name, help_, labels)
        self._bounds = bounds
        # By label: the number of observations up to each bound and above all bounds, then their
        # sum.
        self._counts: dict[str, list[float]] = {}
        if not labels:
            self._row("")
        registry.register(self)

    def observe(self, seconds: float, label: str = "") -> None:
        row = self._counts.get(label) or self._row(label)
        row[bisect_left(self._bounds, seconds)] += 1
        row[-1] += seconds

    def _row(self, label: str) -> list[float]:
        row = self._counts[label] = [0.0] * (len(self._bounds) + 2)
        return row

    def describe(self) -> list[Metric]:
        name, help_, labels = self._shown
        return [HistogramMetricFamily(name, help_, labels=labels)]

    def collect(self) -> Iterator[Metric]:
        name, help_, labels = self._shown
        family = HistogramMetricFamily(name, help_, labels=labels)
        for label, row in self._counts.items():
            buckets, seen = [], 0.0
            for bound, count in zip((*self._bounds, float("inf")), row, strict=False):
                seen += count
                buckets.append((floatToGoString(bound), seen))  # type: ignore[no-untyped-call]
            family.add_metric((label,) if labels else (), buckets, row[-1])
        yield family


log = logging.getLogger("memtree")

# A creation time for each series would double the size of the page, and Prometheus does not read
# it.
disable_created_metrics()  # type: ignore[no-untyped-call]

# seconds to wait for numbers that are kept elsewhere; Prometheus itself waits for ten
PATIENCE = 5.0
# Seconds. A relayed request takes less than a millisecond, a tree of a million tokens three
# seconds; clients wait for five minutes.
FINE = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120)
COARSE = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
STATUSES = {status: str(status) for status in (
    200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 431, 499, 500,
    502, 503, 504, 529,
)}  # fmt: skip

COUNTERS = {
    "memtree_step_failures": ("Steps that failed; the answer went on without them.", "step"),
    "memtree_refusals": ("Requests that ended with an error of ours, by its code.", "code"),
    "memtree_overflows": (
        "Prompts that the upstream found too long, packed smaller and sent again.",
    ),
    "memtree_thinking_replays": (
        "Requests whose thinking the upstream took for another prompt's, sent again without.",
    ),
    "memtree_recall_rounds": ("Rounds in which a model called recall tools.",),
    "memtree_injected_memories": ("Memories that stood in requests to a model, each time.",),
    "memtree_injections_degraded": (
        "Chat requests whose memories were chosen by words alone, or not at all, by what failed.",
        "cause",
    ),
    "memtree_background_failures": ("Such work that failed.", "work"),
}
MEMORY_COUNTERS = {
    "memtree_raw_tokens": ("Tokens that were posted to memory.",),
    "memtree_sent_tokens": ("Tokens that memory sent in their place.",),
    "memtree_recall_tokens": ("Tokens sent in recall blocks.",),
    "memtree_folding_saved_tokens": (
        "Input cost saved by requests that were cheaper than sending everything, in uncached "
        "input tokens at the prices in effect.",
    ),
    "memtree_folding_lost_tokens": (
        "Input cost lost by requests that were dearer than sending everything, in the same unit.",
    ),
    "memtree_deletions": ("Deletions carried out, by what was named.", "scope"),
    "memtree_epoch_answers": (
        "Packed answers that went on with an epoch, or began one: only what goes on is cached "
        "by the provider.",
        "kind",
    ),
    "memtree_prefix_tokens": (
        "Tokens of these answers that stayed as the request before them had sent them, and "
        "those that changed or were new; system messages and tools included.",
        "kind",
    ),
}


@runtime_checkable
class AsyncCollector(Protocol):
    """A collector whose numbers are kept elsewhere."""

    async def ask(self) -> None:
        """Fetch the numbers that the next page shows."""
        ...


class Metrics:
    """The counters of one app. Tokens as counted here, savings in uncached input tokens."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._async_collectors: list[AsyncCollector] = []
        self._under_way = 0
        in_flight = "memtree_requests_in_flight", "Requests that are under way."
        Gauge(*in_flight, registry=registry).set_function(lambda: self._under_way)
        help_ = "Requests by route of ours (`/*`: relayed) and status."
        self._requests = LabelCounts(registry, "memtree_requests", help_, ("route", "status"))
        help_ = "From a request's head to the end of its answer."
        self._whole = LabelTimes(registry, "memtree_request_seconds", help_, COARSE, ("route",))
        help_ = (
            "What memory added to a request: from its whole body read to the request for the "
            "model ready."
        )
        self._added = LabelTimes(registry, "memtree_added_seconds", help_, FINE)
        help_ = "Parts of that by step, one observation a request that took it; steps may overlap."
        self._steps = LabelTimes(registry, "memtree_step_seconds", help_, FINE, ("step",))
        help_ = "From a request sent to the head of its answer."
        self._upstream = LabelTimes(registry, "memtree_upstream_seconds", help_, COARSE)
        help_ = "Requests to the upstream by status, or by why there was none."
        self._replies = LabelCounts(registry, "memtree_upstream_answers", help_, ("status",))
        self._counters = counters(registry, COUNTERS)
        help_ = "Work in the background that requests began, by kind."
        self._behind = Histogram(
            "memtree_background_seconds", help_, ["work"], buckets=COARSE, registry=registry
        )
        help_ = (
            "Requests by what memory made of them (x-memtree-state), and why where a state alone "
            "does not say (x-memtree-reason, without its numbers); no mode where memory was not "
            "asked."
        )
        labels = ("state", "mode", "reason")
        self._answers = LabelCounts(registry, "memtree_answers", help_, labels)
        self._counters |= counters(registry, MEMORY_COUNTERS)

    def begin(self) -> None:
        self._under_way += 1

    def end(self, seen: Trace) -> None:
        """Count an ended request."""
        self._under_way -= 1
        self._requests.add(seen.pattern, status(seen.status))
        self._whole.observe(seen.work.seconds, seen.pattern)
        if seen.error is not None:
            self._counters["memtree_refusals"].labels(seen.error).inc()
        for call in seen.work.calls:
            self._replies.add(status(call.status))
            if isinstance(call.status, int):
                self._upstream.observe(call.seconds)
        if seen.memory.ms is not None:
            self._added.observe(seen.memory.ms / 1000)
        for name, took in seen.work.steps.items():
            self._steps.observe(took, name)
        for name in seen.work.failed:
            self._counters["memtree_step_failures"].labels(name).inc()
        for name, count in (
            ("memtree_overflows", seen.rounds.overflows),
            ("memtree_thinking_replays", seen.rounds.thinking_replays),
            ("memtree_recall_rounds", seen.rounds.recalls),
            ("memtree_injected_memories", len(seen.memory.saved)),
        ):
            if count:
                self._counters[name].inc(count)
        for cause in seen.memory.degraded:
            self._counters["memtree_injections_degraded"].labels(cause).inc()
        if seen.counted:
            self._count_memory(seen)

    def _count_memory(self, seen: Trace) -> None:
        memory, saved = seen.memory, seen.entry.saving.saved
        self._answers.add(memory.state or "", memory.mode or "", memory.word)
        if memory.raw_tokens is not None:
            self._counters["memtree_raw_tokens"].inc(memory.raw_tokens)
        if memory.sent_tokens is not None:
            self._counters["memtree_sent_tokens"].inc(memory.sent_tokens)
            self._counters["memtree_recall_tokens"].inc(memory.recall_tokens or 0)
        if memory.epoch is not None and memory.sent_tokens is not None:
            kind = "continued" if memory.continued else "begun"
            self._counters["memtree_epoch_answers"].labels(kind).inc()
            prefix, stays = self._counters["memtree_prefix_tokens"], memory.stays
            prefix.labels("stays").inc(min(stays, memory.sent_tokens))
            prefix.labels("changes").inc(max(0, memory.sent_tokens - stays))
        # A counter cannot decrease, so savings and losses are counted separately.
        if saved:
            gained = "memtree_folding_saved_tokens" if saved > 0 else "memtree_folding_lost_tokens"
            self._counters[gained].inc(abs(saved))

    def worked(self, name: str, seconds: float, failed: bool) -> None:
        """Count background work that has ended. Implements `timing.BackgroundSink`."""
        self._behind.labels(name).observe(seconds)
        if failed:
            self._counters["memtree_background_failures"].labels(name).inc()

    def deleted(self, scope: str) -> None:
        self._counters["memtree_deletions"].labels(scope).inc()

    def show_also(self, collector: Collector) -> None:
        """Show the numbers of another collector, too. An `AsyncCollector` is read before each page,
        which waits for it at most `PATIENCE`."""
        if isinstance(collector, AsyncCollector):
            self._async_collectors.append(collector)
        self._registry.register(collector)

    async def gather(self) -> None:
        """Read all collectors whose numbers are kept elsewhere, before a page."""
        for collector in self._async_collectors:
            try:
                async with asyncio.timeout(PATIENCE):
                    await collector.ask()
            except TimeoutError:
                log.warning("metrics.source_late")

    def page(self, accept: str = "") -> Response:
        """Return all metrics in the text format that the reader accepts."""
        encode, content_type = choose_encoder(accept)
        return Response(encode(self._registry), headers={"content-type": content_type})


def status(given: int | str) -> str:
    """Return a label with few values, since an upstream may answer with any number."""
    if isinstance(given, str):
        return given
    if shown := STATUSES.get(given):
        return shown
    return f"{given // 100}xx" if 100 <= given <= 599 else "other"

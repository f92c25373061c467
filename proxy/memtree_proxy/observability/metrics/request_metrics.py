"""Metrics of requests for Prometheus: their number, the time of each part, failures.

Labels have few values: our routes, our steps, the codes of our errors, and the statuses in
`STATUSES`; any other status is counted by its class.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Gauge, Histogram

from memtree_proxy.observability.metrics.label_series import LabelCounts, LabelTimes, counters
from memtree_proxy.observability.request_trace import Trace
from memtree_proxy.observability.timing import UpstreamTiming

# Seconds. A relayed request takes less than a millisecond, a tree of a million tokens three
# seconds; clients wait for five minutes.
FINE = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120)
COARSE = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
STATUSES = {status: str(status) for status in (
    200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 431, 499, 500,
    502, 503, 504, 529,
)}  # fmt: skip


COUNTERS = {
    "failures": (
        "memtree_step_failures",
        "Steps that failed; the answer went on without them.",
        "step",
    ),
    "refusals": (
        "memtree_refusals",
        "Requests that ended with an error of ours, by its code.",
        "code",
    ),
    "overflows": (
        "memtree_overflows",
        "Prompts that the upstream found too long, packed smaller and sent again.",
    ),
    "replays": (
        "memtree_thinking_replays",
        "Requests whose thinking the upstream took for another prompt's, sent again without.",
    ),
    "rounds": ("memtree_recall_rounds", "Rounds in which a model called recall tools."),
    "memories": (
        "memtree_injected_memories",
        "Memories that stood in requests to a model, each time.",
    ),
    "memories_degraded": (
        "memtree_injections_degraded",
        "Chat requests whose memories were chosen by words alone, or not at all, by what failed.",
        "cause",
    ),
    "behind_failures": ("memtree_background_failures", "Such work that failed.", "work"),
}


class RequestMetrics:
    """Sums over the `Trace`s of all requests."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._under_way = 0
        in_flight = Gauge(
            "memtree_requests_in_flight", "Requests that are under way.", registry=registry
        )
        in_flight.set_function(lambda: self._under_way)
        self._requests = LabelCounts(
            registry, "memtree_requests", "Requests by route of ours (`/*`: relayed) and status.",
            ("route", "status"),
        )  # fmt: skip
        self._whole = LabelTimes(
            registry, "memtree_request_seconds", "From a request's head to the end of its answer.",
            COARSE, ("route",),
        )  # fmt: skip
        self._added = LabelTimes(
            registry,
            "memtree_added_seconds",
            "What memory added to a request: from its whole body read to the request for the "
            "model ready.",
            FINE,
        )
        self._steps = LabelTimes(
            registry,
            "memtree_step_seconds",
            "Parts of that by step, one observation a request that took it; steps may overlap.",
            FINE,
            ("step",),
        )
        self._upstream = LabelTimes(
            registry,
            "memtree_upstream_seconds",
            "From a request sent to the head of its answer.",
            COARSE,
        )
        self._answers = LabelCounts(
            registry,
            "memtree_upstream_answers",
            "Requests to the upstream by status, or by why there was none.",
            ("status",),
        )
        self._counters = counters(registry, COUNTERS)
        self._behind = Histogram(
            "memtree_background_seconds",
            "Work in the background that requests began, by kind.",
            ["work"],
            buckets=COARSE,
            registry=registry,
        )

    def begin(self) -> None:
        self._under_way += 1

    def end(self, seen: Trace, seconds: float) -> None:
        """Count an ended request."""
        self._under_way -= 1
        self._requests.add(seen.pattern, status(seen.status))
        self._whole.observe(seconds, seen.pattern)
        if seen.error is not None:
            self._counters["refusals"].labels(seen.error).inc()
        for call in seen.work.calls:
            self._called(call)
        if seen.memory.ms is not None:
            self._added.observe(seen.memory.ms / 1000)
        for name, took in seen.work.steps.items():
            self._steps.observe(took, name)
        for name in seen.work.failed:
            self._counters["failures"].labels(name).inc()
        if seen.rounds.overflows:
            self._counters["overflows"].inc(seen.rounds.overflows)
        if seen.rounds.thinking_replays:
            self._counters["replays"].inc(seen.rounds.thinking_replays)
        if seen.rounds.recalls:
            self._counters["rounds"].inc(seen.rounds.recalls)
        if seen.memory.saved:
            self._counters["memories"].inc(len(seen.memory.saved))
        for cause in seen.memory.degraded:
            self._counters["memories_degraded"].labels(cause).inc()

    def worked(self, name: str, seconds: float, failed: bool) -> None:
        """Count background work that has ended. Implements `timing.BackgroundSink`."""
        self._behind.labels(name).observe(seconds)
        if failed:
            self._counters["behind_failures"].labels(name).inc()

    def _called(self, call: UpstreamTiming) -> None:
        self._answers.add(status(call.status))
        if isinstance(call.status, int):
            self._upstream.observe(call.seconds)


def status(given: int | str) -> str:
    """Return a label with few values, since an upstream may answer with any number."""
    if isinstance(given, str):
        return given
    if shown := STATUSES.get(given):
        return shown
    return f"{given // 100}xx" if 100 <= given <= 599 else "other"

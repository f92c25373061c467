"""Metrics of the process itself for Prometheus: its version, its warnings, its event loop."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress

from prometheus_client import Histogram
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from memtree import __version__
from memtree.process.bounded import SizedCache
from memtree_proxy.http.label_series import by_label
from memtree_proxy.http.log import Tally

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

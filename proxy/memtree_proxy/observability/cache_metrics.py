"""Show what each cache of posted conversations holds, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from memtree.bounded import SizedCache


class CacheMetrics(Collector):
    """`caches`: by name."""

    def __init__(self, caches: Mapping[str, SizedCache]) -> None:
        self._caches = caches

    def collect(self) -> Iterable[Metric]:
        held = GaugeMetricFamily(
            "memtree_cache_bytes",
            "Bytes that each cache of posted conversations holds, estimated.",
            labels=["cache"],
        )
        for name, cache in sorted(self._caches.items()):
            held.add_metric([name], cache.nbytes)
        yield held

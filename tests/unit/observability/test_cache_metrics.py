"""The metrics page shows what each cache holds now."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, generate_latest

from memtree.process.bounded import SizedRows
from memtree_proxy.observability.process_metrics import CacheMetrics


class Rows(SizedRows[str, bytes]):
    def __init__(self) -> None:
        super().__init__(100, lambda _, value: len(value))


def test_each_cache_has_a_sample() -> None:
    titles, nodes = Rows(), Rows()
    registry = CollectorRegistry()
    registry.register(CacheMetrics({"titles": titles, "nodes": nodes}))
    titles.put("a", b"four")
    shown = generate_latest(registry).decode().splitlines()
    assert 'memtree_cache_bytes{cache="titles"} 4.0' in shown
    assert 'memtree_cache_bytes{cache="nodes"} 0.0' in shown

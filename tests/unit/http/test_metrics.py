"""The page of metrics."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from memtree.config import Settings
from memtree.history.message import Message
from memtree.jobs.extraction_queue import ExtractionQueue
from memtree.jobs.memory_services import open_memory_services
from memtree.jobs.runtime import SystemClock
from memtree.memories.scope import Scope
from memtree.memories.user_memories import SettingsChange, UserSettings
from memtree.process.bounded import SizedRows
from memtree.stores import RamStore, open_memories
from memtree_proxy.http.process_metrics import CacheMetrics, ExtractionMetrics
from memtree_proxy.http.usage_tallies import BOUNDS, bucket, percentile

# ------------------------------------------------------------------------------------------------
# The metrics page shows what each cache holds now.


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


# ------------------------------------------------------------------------------------------------
# Percentiles of counts by bucket are close to those of the times themselves.


def test_a_time_falls_into_the_bucket_that_ends_behind_it() -> None:
    assert [bucket(ms) for ms in (0.0, 0.25, 0.26, 30.0, 32.0, 33.0)] == [
        0.25, 0.25, 0.35, 32, 32, 45,
    ]  # fmt: skip
    assert bucket(1e12) == BOUNDS[-1]
    assert list(BOUNDS) == sorted(set(BOUNDS))
    assert [float(f"{bound:g}") for bound in BOUNDS] == list(BOUNDS)  # as tallies name them


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95, 0.99])
def test_a_percentile_is_off_by_a_sixth_at_most(share: float) -> None:
    random = Random(7)
    times = sorted(random.lognormvariate(3, 1.2) for _ in range(20_000))
    true = times[int(share * len(times))]
    found = percentile(Counter(map(bucket, times)), share)
    assert found is not None
    assert abs(found - true) <= true / 6


def test_of_nothing_there_is_none() -> None:
    assert percentile({}, 0.5) is None
    assert percentile({32: 0}, 0.5) is None


def test_one_value_and_numbers_that_were_taken_back() -> None:
    assert percentile({32: 1}, 0.5) == 27.5
    assert percentile({32: 1}, 1.0) == 32
    assert percentile({0.25: 1}, 0.5) == 0.1
    assert percentile({32: 5, 64: -1}, 0.5) is not None
    assert percentile({16: 1, 7.5: 3}, 0.9) == BOUNDS[-1]  # a bound that is none


# ------------------------------------------------------------------------------------------------
# Check what is told of memories out of conversations: counts under few labels, and no text.


ME = Scope.of_user("t", "me")


def page(metrics: ExtractionMetrics) -> dict[str, float]:
    registry = CollectorRegistry()
    registry.register(metrics)
    lines = generate_latest(registry).decode().splitlines()
    rows = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name: float(value) for name, value in rows}


async def test_what_is_read_stored_left_out_and_waits_is_told() -> None:
    memories = open_memories(RamStore())
    services = open_memory_services(Settings(), memories, SystemClock(), None)
    await services.users.change_settings(ME, SettingsChange(save=True))
    metrics = ExtractionMetrics(services.extracting)
    posted = [Message.of({"role": "user", "content": "I live in Rome. What is the time?"})]
    services.extraction.submit(ME, posted, UserSettings(save=True))
    shown = page(metrics)
    assert shown["memtree_extraction_queue_jobs"] == 1
    assert shown["memtree_extraction_queue_bytes"] == len(posted[0].raw)
    assert shown["memtree_extraction_messages_total"] == 0
    services.start()
    await services.extraction.join()
    shown = page(metrics)
    assert shown["memtree_extraction_messages_total"] == 1
    assert shown['memtree_extraction_memories_total{kind="memory"}'] == 1
    assert shown['memtree_extraction_skipped_total{reason="question"}'] == 1
    assert shown["memtree_extraction_queue_jobs"] == 0
    assert shown["memtree_extraction_seconds_count"] == 1
    assert shown['memtree_extraction_model_calls_total{outcome="answered"}'] == 0
    await services.close()


async def test_labels_are_few_whatever_is_counted() -> None:
    services = open_memory_services(Settings(), open_memories(RamStore()), SystemClock(), None)
    totals = services.extracting.conversations.totals
    totals.skipped.update({"a sentence of somebody": 2, "another one": 3, "secret": 1})
    shown = page(ExtractionMetrics(services.extracting))
    assert shown['memtree_extraction_skipped_total{reason="other"}'] == 5
    assert shown['memtree_extraction_skipped_total{reason="secret"}'] == 1
    assert not any("sentence" in name for name in shown)
    assert isinstance(services.extraction, ExtractionQueue)
    await services.close()

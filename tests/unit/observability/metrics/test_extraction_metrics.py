"""Check what is told of memories out of conversations: counts under few labels, and no text."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, generate_latest

from memtree.background.extraction_queue import ExtractionQueue
from memtree.background.memory_services import open_memory_services
from memtree.background.runtime import SystemClock
from memtree.config import Settings
from memtree.conversation.message import Message
from memtree.memories.scope import Scope
from memtree.memories.user_memories import SettingsChange, UserSettings
from memtree.stores import RamStore, open_memories
from memtree_proxy.observability.index_metrics import ExtractionMetrics

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

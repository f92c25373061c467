"""Deletions, counted by tenant."""

from __future__ import annotations

import pytest

from memtree.background.embedding_queue import NoQueue
from memtree.background.runtime import SystemClock
from memtree.background.stage_one import StageOne
from memtree.context.context_memory import ContextMemory
from memtree.context.indexing import deletion_counts
from memtree.context.indexing.deletion_counts import Generations
from memtree.stores import open_store


def test_a_deletion_changes_the_number_of_its_tenant_alone() -> None:
    counted = Generations()
    before = counted.of("a"), counted.of("b")
    counted.change("a")
    assert counted.of("a") != before[0]
    assert counted.of("b") == before[1]


def test_a_deletion_of_some_tenant_changes_all_numbers() -> None:
    counted = Generations()
    counted.change("a")
    before = counted.of("a"), counted.of("b")
    counted.change_all()
    assert counted.of("a") != before[0]
    assert counted.of("b") != before[1]


def test_no_number_comes_twice() -> None:
    counted, seen = Generations(), set()
    for _ in range(5):
        counted.change("a")
        seen.add(counted.of("a"))
        counted.change_all()
        seen.add(counted.of("a"))
    assert len(seen) == 10


def test_of_many_tenants_the_oldest_deletions_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deletion_counts, "MAX_TENANTS", 2)
    counted = Generations()
    for tenant in "abc":
        counted.change(tenant)
    assert counted.of("a") == Generations().of("a")
    assert counted.of("c") > counted.of("b") > counted.of("a")


async def test_whoever_keeps_posted_text_is_told_of_each_deletion() -> None:
    told: list[str | None] = []
    memory = ContextMemory(open_store("memory:"), StageOne(child=False), NoQueue(), SystemClock())
    memory.on_deletion(told.append)
    await memory.forget_tenant("a")
    memory.forgotten("b")
    memory.forgotten(None)
    assert told == ["a", "b", None]

"""The schemas of a file beside those of the tenant."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.memories.agents.schemas.memory_schema import MemorySchema
from memtree.memories.agents.schemas.schema_book import SchemaBook
from memtree.memories.agents.structured_memory import structured_memory
from memtree.memories.memory import MemoryFields, NewMemory
from memtree.memories.transfer.file_items import FileSchema
from memtree.memories.transfer.file_schemas import FileSchemas
from memtree.stores import RamStore, open_memories
from tests.unit.memories.books import HandClock

SHOE = {"type": "object", "properties": {"size": {"type": "integer"}}}


class CountingBook(SchemaBook):
    """How often data was held against the stored schemas."""

    checks = 0

    async def violations(self, *args: Any, **named: Any) -> Any:
        self.checks += 1
        return await super().violations(*args, **named)


@pytest.fixture
def book() -> CountingBook:
    return CountingBook(open_memories(RamStore()), HandClock(), most=2)


def line(kind: str = "Shoe", description: str = "") -> FileSchema:
    return FileSchema(3, MemorySchema(kind, json.dumps(SHOE), (), description))


def memory(kind: str, data: dict[str, Any]) -> NewMemory:
    return structured_memory("mem_1", MemoryFields(kind=kind, data=data), 0.0).memory


async def test_one_that_was_made_after_the_import_began_stays(book):
    schemas = FileSchemas(book, "tenant", dry_run=False)
    await schemas.begin()
    await book.put("tenant", "Shoe", {"type": "object"})
    before = await book.list("tenant")
    for _ in range(2):
        result = await schemas.take(line())
        assert result is not None
        assert (result.line, result.status.value, result.reason) == (
            3, "skipped", "schema_differs",
        )  # fmt: skip
    assert (await book.list("tenant"), schemas.kept) == (before, 0)


async def test_the_same_that_was_made_after_the_import_began(book):
    schemas = FileSchemas(book, "tenant", dry_run=False)
    await schemas.begin()
    await book.put("tenant", "Shoe", SHOE, (), "Other words.")
    assert await schemas.take(line(description="What they wear.")) is None
    assert schemas.kept == 0
    assert (await book.get("tenant", "Shoe")).description == "Other words."


async def test_more_than_are_allowed(book):
    schemas = FileSchemas(book, "tenant", dry_run=False)
    await schemas.begin()
    taken = [await schemas.take(line(kind)) for kind in ("Shoe", "Hat", "Cap")]
    assert [result and result.reason for result in taken] == [None, None, "schema"]
    assert schemas.kept == 2


async def test_many_memories_are_checked_at_once(book):
    schemas = FileSchemas(book, "tenant", dry_run=False)
    await book.put("tenant", "Shoe", SHOE)
    await schemas.begin()
    sound, broken = memory("Shoe", {"size": 40}), memory("Shoe", {"size": "large"})
    told = await schemas.problems([sound, broken, memory("Sho", {}), sound])
    assert [one.partition(":")[0] for one in told] == ["", "data.size", "kind", ""]
    assert book.checks == 1


async def test_a_rehearsal_stores_none_and_checks_as_an_import_does(book):
    schemas = FileSchemas(book, "tenant", dry_run=True)
    await book.put("tenant", "Hat", SHOE)
    await schemas.begin()
    assert await schemas.take(line()) is None
    memories = [
        memory(kind, {"size": size}) for kind in ("Shoe", "Hat", "Cap") for size in (40, "large")
    ]
    told = await schemas.problems(memories)
    assert [one.partition(":")[0] for one in told] == [
        "", "data.size", "", "data.size", "kind", "kind",
    ]  # fmt: skip
    assert (book.checks, schemas.kept) == (1, 1)
    assert [schema.kind for schema in await book.list("tenant")] == ["Hat"]

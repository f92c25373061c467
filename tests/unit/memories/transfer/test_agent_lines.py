"""Check what an import finds in an agent's scope, and what it costs to look."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from types import FrameType
from typing import Any

import pytest

from memtree.memories.agents.schemas.schema_book import SchemaBook
from memtree.memories.agents.structured_memory import structured_memory
from memtree.memories.memory import MemoryFields
from memtree.memories.scope import Scope
from memtree.memories.transfer.agent_import import AgentLines
from memtree.memories.transfer.file_schemas import FileSchemas
from memtree.memories.transfer.import_options import ImportParts
from tests.fakes import HashingEmbedder
from tests.programs.garbage import uncollected
from tests.unit.memories.transfer.test_agent_import import (
    AGENT,
    HEAD,
    SHOES,
    TWIN,
    data,
    shoe,
    told,
    written,
)
from tests.unit.memories.transfer.transfers import transferring

END = {"type": "end"}


def steps(work: Coroutine[Any, Any, object]) -> int:
    """Lines of Python, also those of a loop, of work that waits for nothing."""
    seen = 0

    def count(frame: FrameType, event: str, value: object) -> Any:
        nonlocal seen
        seen += event == "line"
        return count

    before = sys.gettrace()
    with uncollected():
        sys.settrace(count)
        try:
            with pytest.raises(StopIteration):
                work.send(None)
        finally:
            sys.settrace(before)
    return seen


async def test_a_line_costs_the_same_however_many_memories_there_are():
    async def costs(scope: Scope, there: int) -> int:
        async with transferring() as t:
            await written(t, *range(there), scope=scope)
            book = SchemaBook(t.store, t.clock)
            parts = ImportParts(t.store, book, t.book.saving, t.clock, str, str, 1_000, 0)
            schemas = FileSchemas(book, "tenant", dry_run=True)
            lines = AgentLines(parts, scope, schemas, dry_run=True)
            await lines.begin()
            given = MemoryFields(kind="Shoe", data={"size": 0})
            shoe = structured_memory("mem_1", given, 0.0)
            return steps(lines.store([shoe.memory]))

    await costs(AGENT, 5)  # what a process does once
    assert await costs(AGENT, 5) == await costs(TWIN, 50)


@pytest.mark.parametrize("dry_run", [True, False])
async def test_what_was_there_stays_under_a_schema_that_the_file_brings(dry_run: bool):
    newer = {"kind": "Shoe", "data": {"size": 40, "worn": True}}
    async with transferring() as t:
        await written(t, 39, 40, 40)
        before = await t.memories(AGENT)
        report = await t.imported([HEAD, SHOES, newer, shoe(41), END], AGENT, dry_run=dry_run)
        assert told(report) == [(3, "duplicate", ""), (4, "imported", "")]
        assert report.lines[0].id == before[-1].id  # the newest holds what is unique
        assert (await t.memories(AGENT))[:3] == before


@pytest.mark.slow
async def test_what_the_same_file_brought_before_its_schema_was_not_there():
    newer = {"kind": "Shoe", "data": {"size": 40, "worn": True}}
    many = [shoe(size) for size in range(300)]  # more than a batch
    async with transferring() as t:
        await written(t, 500)
        report = await t.imported([HEAD, *many, SHOES, newer, shoe(500), END], AGENT)
        assert [line.status.value for line in report.lines][-2:] == ["imported", "duplicate"]
        kept = [each for each in await data(t) if each["size"] == 40]
        assert kept == [newer["data"]]


@pytest.mark.slow
async def test_what_an_import_stored_before_it_was_hung_up_on_gets_its_vectors():
    async with transferring(HashingEmbedder()) as t:
        task = asyncio.create_task(t.imported([shoe(size) for size in range(2_000)], AGENT))
        for _ in range(100_000):
            if task.done() or (await t.store.state(AGENT)).total:
                break
            await asyncio.sleep(0)
        task.cancel()
        assert isinstance(*await asyncio.gather(task, return_exceptions=True), BaseException)
        assert (await t.store.state(AGENT)).total
        await t.book.join()
        assert await t.store.without_vectors(AGENT, HashingEmbedder().recipe, 10) == []

from __future__ import annotations

from memtree.memories.schemas.compiled_schemas import CompiledSchemas
from memtree.memories.schemas.memory_schema import MemorySchema


def schema(title: str) -> MemorySchema:
    return MemorySchema("Kind", '{"type":"object","title":"' + title + '"}')


async def test_a_schema_is_compiled_once():
    cache = CompiledSchemas()
    first = await cache.of("tenant", schema("a"))
    assert await cache.of("tenant", schema("a")) is first
    assert await cache.of("tenant", schema("b")) is not first
    assert await cache.of("another", schema("a")) is not first
    assert len(cache) == 3


async def test_the_one_that_was_used_longest_ago_goes_first():
    cache = CompiledSchemas(entries=2)
    first = await cache.of("tenant", schema("a"))
    second = await cache.of("tenant", schema("b"))
    assert await cache.of("tenant", schema("a")) is first
    await cache.of("tenant", schema("c"))
    assert len(cache) == 2
    assert await cache.of("tenant", schema("a")) is first
    assert await cache.of("tenant", schema("b")) is not second


async def test_long_schemas_leave_room_for_fewer():
    cache = CompiledSchemas(size=1_000)
    for letter in "abcdef":
        await cache.of("tenant", schema(letter * 300))
    assert len(cache) == 3
    await cache.of("tenant", schema("x" * 5_000))
    assert len(cache) == 1

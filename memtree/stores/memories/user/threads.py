"""A thread that is put as one is replaced as one: the passages of a document."""

from __future__ import annotations

from collections.abc import Sequence

from memtree.memories.memory import NewMemory
from memtree.memories.scope import Scope
from memtree.stores.memories import saving
from memtree.stores.memories.counters import begin, commit, count_vectors, take_numbers
from memtree.stores.memories.rows import plain
from memtree.stores.memories.sql import Sql

_LIVE = """
    SELECT number, text_hash FROM memories
    WHERE scope = :scope AND thread_id = :thread AND thread_id <> '' AND counted = 1
    ORDER BY number"""
_DELETE = """
    UPDATE memories SET deleted = :deleted, counted = 0, changed = :changed, told = :changed
    WHERE scope = :scope AND number IN :numbers[]"""
_COPY_VECTORS = """
    INSERT INTO memory_vectors (scope, recipe, number, data)
    SELECT scope, recipe, :heir, data FROM memory_vectors
    WHERE scope = :scope AND number = :number"""
_COUNT_VECTORS = """
    UPDATE memories SET vectors = (
        SELECT count(*) FROM memory_vectors WHERE memory_vectors.scope = memories.scope
        AND memory_vectors.number = memories.number)
    WHERE scope = :scope AND number IN :numbers[]"""
# Nobody brings a part of a document back, so what was replaced waits for the next sweep alone.
_LONG_AGO = 1.0


async def replace_thread(
    sql: Sql,
    scope: Scope,
    thread_id: str,
    memories: Sequence[NewMemory],
    *,
    most: int,
    now: float,
) -> int:
    at = await begin(sql, scope)
    place = {"scope": at.number}
    old = await sql.fetch(_LIVE, {**place, "thread": plain(thread_id)})
    numbers = [number for number, _ in old]
    if not memories and not old:
        return 0
    if old:
        marks = {"numbers": numbers, "deleted": _LONG_AGO, "changed": at.next}
        await sql.run(_DELETE, {**place, **marks})
        await count_vectors(sql, at, numbers, -1)
    if memories:
        count = len(memories)
        first = await take_numbers(sql, at, count, most=most, now=now, leaving=len(old))
        await saving.insert(sql, at, memories, first)
        known = {text_hash: number for number, text_hash in old}
        heirs = [
            {**place, "number": known[memory.text_hash], "heir": first + index}
            for index, memory in enumerate(memories)
            if memory.text_hash in known
        ]
        if heirs:
            await sql.run_many(_COPY_VECTORS, heirs)
            there = [heir["heir"] for heir in heirs]
            await sql.run(_COUNT_VECTORS, {**place, "numbers": there})
            await count_vectors(sql, at, there, 1)
    await commit(sql, at, counted=len(memories) - len(old))
    return len(old)

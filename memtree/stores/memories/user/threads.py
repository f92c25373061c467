"""Replace a thread as a whole: the passages of a document."""

from __future__ import annotations

from collections.abc import Sequence

from memtree.memories.memory import NewMemory
from memtree.memories.scope import Scope
from memtree.stores.memories.removal.deletion import FOR_GOOD, remove
from memtree.stores.memories.saving import insert
from memtree.stores.memories.tables.counters import begin, commit, count_vectors, take_numbers
from memtree.stores.memories.tables.rows import STANDING, plain, standing
from memtree.stores.sql import Sql

_THREAD = f"""
    SELECT {STANDING} FROM memories
    WHERE scope = :scope AND counted = 1 AND thread_id <> '' AND thread_id = :thread_id
    ORDER BY number"""
_COPY_VECTORS = """
    INSERT INTO memory_vectors (scope, recipe, number, data)
    SELECT scope, recipe, :number, data FROM memory_vectors
    WHERE scope = :scope AND number = :old"""
_COUNT_VECTORS = """
    UPDATE memories SET vectors = (
        SELECT count(*) FROM memory_vectors
        WHERE memory_vectors.scope = memories.scope AND memory_vectors.number = memories.number)
    WHERE scope = :scope AND number IN :numbers[]"""


async def replace_thread(
    sql: Sql,
    scope: Scope,
    thread_id: str,
    memories: Sequence[NewMemory],
    *,
    most: int,
    now: float,
) -> int:
    """Replace the thread's memories by these. Unchanged texts keep their vectors."""
    at = await begin(sql, scope)
    values = {"scope": at.number, "thread_id": plain(thread_id)}
    old = standing(await sql.fetch(_THREAD, values))
    if old:
        await remove(sql, at, old, reason=None, now=now, deleted=FOR_GOOD)
    if memories:
        first = await take_numbers(
            sql, at, len(memories), most=most, now=now, live=len(memories) - len(old)
        )
        await insert(sql, at, memories, first)
        there = {row.text_hash: row.number for row in old if row.vectors}
        hashes = {first + place: each.text_hash for place, each in enumerate(memories)}
        same = {number: there[of] for number, of in hashes.items() if of in there}
        copies = [{"scope": at.number, "number": new, "old": was} for new, was in same.items()]
        if copies:
            await sql.run_many(_COPY_VECTORS, copies)
            await sql.run(_COUNT_VECTORS, {"scope": at.number, "numbers": list(same)})
            await count_vectors(sql, at, list(same), 1)
    if old or memories:
        await commit(sql, at, counted=len(memories) - len(old))
    return len(old)

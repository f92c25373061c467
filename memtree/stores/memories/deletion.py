"""Delete memories, restore deleted ones, and replace whole threads: the passages of documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtree.memories.memory import Memory, NewMemory, Tombstone
from memtree.memories.memory_store import MemoryRef
from memtree.memories.scope import Scope
from memtree.stores.memories import stored_schemas
from memtree.stores.memories.adding import insert
from memtree.stores.memories.changing import put_tombstones
from memtree.stores.memories.lookup import duplicates, lineage, resolved, stored
from memtree.stores.memories.rows import STANDING, RowState, plain, standing
from memtree.stores.memories.scopes import (
    ScopeRow,
    begin,
    begin_known,
    commit,
    count_vectors,
    take_numbers,
)
from memtree.stores.sql import Sql

ROWS = 1_000  # rows read with their texts at a time
# Time of deletion that rules out a restore: the next sweep erases these rows.
FOR_GOOD = 1e-9
MINE = "scope = :scope AND number IN :numbers[]"
_DELETE = f"""
    UPDATE memories SET deleted = :deleted, counted = 0, changed = :changed, event = :changed
    WHERE {MINE}"""
# No event: watchers heard of it when these were superseded.
_DELETE_PAST = f"UPDATE memories SET deleted = :deleted, changed = :changed WHERE {MINE}"
_UNDELETE = f"""
    UPDATE memories SET deleted = 0, changed = :changed, event = :changed,
        counted = CASE WHEN superseded_by = '' AND duplicate_of = '' THEN 1 ELSE 0 END
    WHERE {MINE}"""
_UNDELETE_PAST = f"UPDATE memories SET deleted = 0, changed = :changed WHERE {MINE}"
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


def in_parts(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    return (numbers[at : at + ROWS] for at in range(0, len(numbers), ROWS))


async def remove(
    sql: Sql,
    scope: ScopeRow,
    rows: Sequence[RowState],
    *,
    reason: str | None,
    now: float,
    deleted: float = 0.0,
) -> int:
    """Soft-delete rows, with their duplicates and the memories they superseded. Returns how many of
    them counted. `deleted`: the time of deletion, if it is not now."""
    past = {row.number for row in await lineage(sql, scope.number, rows) if not row.deleted}
    gone = [row.number for row in [*rows, *await duplicates(sql, scope.number, rows)]]
    past -= set(gone)
    values = {"scope": scope.number, "deleted": deleted or now, "changed": scope.next}
    await sql.run(_DELETE, {**values, "numbers": gone})
    if past:
        await sql.run(_DELETE_PAST, {**values, "numbers": sorted(past)})
    counted = [row for row in rows if row.counted]
    await count_vectors(sql, scope, [row.number for row in counted], -1)
    await leave_tombstones(sql, scope, counted, reason, now)
    return len(counted)


async def undelete(
    sql: Sql, scope: Scope, refs: Sequence[MemoryRef], *, now: float
) -> list[Memory]:
    """Restore deleted memories and return them. Skips those that have expired, those superseded by
    a memory that is deleted itself (they return with it), and those whose unique values another
    memory has now."""
    at = await begin_known(sql, scope)
    resolved_rows = await resolved(sql, at.number, refs) if at else []
    rows = [r for r in resolved_rows if r.deleted > FOR_GOOD and not r.deleted < r.expires <= now]
    if at is None or not rows:
        return []
    after = await stored(sql, at.number, [row.superseded_by for row in rows if row.superseded_by])
    ended = {row.id for row in after if row.deleted}
    rows = await _with_their_values(
        sql, at, [row for row in rows if row.superseded_by not in ended], now
    )
    if not rows:
        return []
    values = {"scope": at.number, "changed": at.next}
    times = {row.deleted for row in rows}
    before = [r for r in await lineage(sql, at.number, rows) if r.deleted in times]
    back = {row.number for row in [*rows, *await duplicates(sql, at.number, rows)]}
    past = {row.number for row in before} - back
    counted = [row.number for row in rows if not row.superseded_by]
    await sql.run(_UNDELETE, {**values, "numbers": sorted(back)})
    await sql.run(_UNDELETE_PAST, {**values, "numbers": sorted(past)})
    stones = {"scope": at.number, "numbers": counted}
    await sql.run(f"DELETE FROM memory_tombstones WHERE {MINE}", stones)
    await count_vectors(sql, at, counted, 1)
    await commit(sql, at, counted=len(counted))
    return [row._replace(deleted=0.0).memory() for row in rows]


async def _with_their_values(
    sql: Sql, scope: ScopeRow, rows: Sequence[RowState], now: float
) -> list[RowState]:
    """Return the rows without those whose unique values belong to another live memory, or to a
    later row. A superseded memory has none."""
    back = sorted(row for row in rows if not row.superseded_by)
    keyed = [stored_schemas.keyed(row.memory(), row.unique_key) for row in back]
    keys = await stored_schemas.unique_keys(sql, scope, keyed)
    there = await stored_schemas.holders(sql, scope, keys, now)
    with_keys = list(zip(back, keys, strict=True))
    last = {key: row.number for row, key in with_keys}
    rivals = {
        row.number for row, key in with_keys if key and (key in there or last[key] != row.number)
    }
    new = [
        {"scope": scope.number, "number": row.number, "unique_key": key}
        for row, key in with_keys
        if key != row.unique_key
    ]
    await sql.run_many(stored_schemas.PUT_KEY, new)
    return [row for row in rows if row.number not in rivals]


async def leave_tombstones(
    sql: Sql, scope: ScopeRow, rows: Sequence[RowState], reason: str | None, now: float
) -> None:
    if reason is not None:
        stones = [Tombstone(row.id, row.number, now, reason) for row in rows]
        await put_tombstones(sql, scope, stones)


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

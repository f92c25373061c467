"""Deleting memories, bringing them back, and erasing them for good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memtree.memories.memory import Memory, Tombstone
from memtree.memories.ports import MemoryRef
from memtree.memories.scope import Scope
from memtree.stores.memories.counters import (
    ScopeRow,
    begin_known,
    begin_number,
    commit,
    count_vectors,
)
from memtree.stores.memories.lookup import duplicates, live, resolved, stored
from memtree.stores.memories.rows import STANDING, Standing, encoded, standing
from memtree.stores.memories.saving import PUT_TOMBSTONE
from memtree.stores.memories.sql import Sql

_MINE = "scope = :scope AND number IN :numbers[]"
_DELETE = f"""
    UPDATE memories SET deleted = :now, counted = 0, changed = :changed, told = :changed
    WHERE {_MINE}"""
_UNDELETE = f"""
    UPDATE memories SET deleted = 0, changed = :changed, told = :changed,
        counted = CASE WHEN superseded_by = '' AND duplicate_of = '' THEN 1 ELSE 0 END
    WHERE {_MINE}"""
_BEFORE = f"""
    SELECT {STANDING} FROM memories
    WHERE scope = :scope AND superseded_by <> '' AND superseded_by IN :ids[]"""
_OF_MEMORIES = (
    "memories",
    "memory_vectors",
    "memory_history",
    "memory_tombstones",
    "memory_keys",
    "memory_group_members",
    "shown_memories",
)
# What a scope has beside its memories. The plan of a tenant is not its own to forget.
_OF_SCOPES = (
    "memory_tombstones",
    "memory_groups",
    "memory_group_members",
    "memory_settings",
    "extracted_messages",
)
_TELL = """
    INSERT INTO erased_memories (scope, number, id, version, told, at)
    VALUES (:scope, :number, :id, :version, :told, :at)"""
_UNLINK = "UPDATE memories SET data = :data, changed = :changed WHERE scope = :scope AND id = :id"
# Their bytes may still be in the files: see `retention.scrub`.
_NOTE = "INSERT INTO deletions DEFAULT VALUES"
_ENDED = """
    SELECT scope FROM memories WHERE deleted > 0 AND deleted <= :before
    UNION SELECT scope FROM memories WHERE expires > 0 AND expires <= :before ORDER BY 1"""
_ENDED_HERE = f"""
    SELECT {STANDING} FROM memories WHERE scope = :scope AND number IN (
        SELECT number FROM memories WHERE +scope = :scope AND deleted > 0 AND deleted <= :before
        UNION SELECT number FROM memories
        WHERE scope = :scope AND expires > 0 AND expires <= :before)"""

_SCOPES = "SELECT number FROM memory_scopes WHERE tenant = :tenant ORDER BY number"
_EVERY = f"SELECT {STANDING} FROM memories WHERE scope = :scope"


async def delete(
    sql: Sql,
    scope: Scope,
    refs: Sequence[MemoryRef],
    *,
    reason: str | None,
    now: float,
) -> list[str]:
    at = await begin_known(sql, scope)
    rows = await live(sql, at.number, refs, now) if at else []
    if at is None or not rows:
        return []
    numbers = [row.number for row in rows]
    gone = [*numbers, *(row.number for row in await duplicates(sql, at.number, rows))]
    values = {"scope": at.number, "numbers": gone, "now": now, "changed": at.next}
    await sql.run(_DELETE, values)
    await count_vectors(sql, at, numbers, -1)
    await _leave_tombstones(sql, at, rows, reason, now)
    await commit(sql, at, counted=-len(rows))
    return [row.id for row in rows]


async def undelete(
    sql: Sql, scope: Scope, refs: Sequence[MemoryRef], *, now: float
) -> list[Memory]:
    """But those that expired meanwhile."""
    at = await begin_known(sql, scope)
    found = await resolved(sql, at.number, refs) if at else []
    rows = [row for row in found if row.deleted and not 0 < row.expires <= now]
    if at is None or not rows:
        return []
    numbers = [row.number for row in rows]
    back = [*numbers, *(row.number for row in await duplicates(sql, at.number, rows))]
    values = {"scope": at.number, "numbers": back, "changed": at.next}
    await sql.run(_UNDELETE, values)
    await sql.run(f"DELETE FROM memory_tombstones WHERE {_MINE}", values)
    await count_vectors(sql, at, numbers, 1)
    await commit(sql, at, counted=len(rows))
    return [row._replace(deleted=0.0).memory() for row in rows]


async def purge(
    sql: Sql,
    scope: Scope,
    refs: Sequence[MemoryRef],
    *,
    reason: str | None,
    now: float,
) -> list[str]:
    """Whatever the refs name, live or not."""
    at = await begin_known(sql, scope)
    asked = await stored(sql, at.number, refs) if at else []
    rows = await resolved(sql, at.number, refs) if at else []
    if at is None or not rows:
        return []
    await erase(sql, at, _distinct([*rows, *asked]), now)
    await _leave_tombstones(sql, at, rows, reason, now)
    return [row.id for row in rows]


async def erase(sql: Sql, scope: ScopeRow, rows: Sequence[Standing], now: float) -> int:
    """Rows and all that came of them, and what they had taken the place of: older words for the
    same thing are their history. How many memories went."""
    gone = await _with_lineage(sql, scope, rows)
    counted = [row for row in gone if row.counted]
    await count_vectors(sql, scope, [row.number for row in counted], -1)
    values = {"scope": scope.number, "numbers": [row.number for row in gone]}
    for table in _OF_MEMORIES:
        await sql.run(f"DELETE FROM {table} WHERE {_MINE}", values)
    await sql.run("DELETE FROM memory_segments WHERE scope = :scope", values)
    await _unlink(sql, scope, gone)
    told = {"scope": scope.number, "told": scope.next, "at": now}
    events = [{**told, "number": r.number, "id": r.id, "version": r.version} for r in counted]
    if events:
        await sql.run_many(_TELL, events)
    await commit(sql, scope, counted=-len(counted), purged=True)
    await sql.run(_NOTE, {})
    return len(gone)


async def ended_scopes(sql: Sql, before: float) -> list[int]:
    """Scopes that hold what was deleted or expired before that time."""
    return [number for (number,) in await sql.fetch(_ENDED, {"before": before})]


async def erase_ended(sql: Sql, number: int, before: float, now: float) -> int:
    """Of one scope."""
    scope = await begin_number(sql, number)
    rows = await sql.fetch(_ENDED_HERE, {"scope": number, "before": before})
    return await erase(sql, scope, standing(rows), now) if rows else 0


async def scopes_of(sql: Sql, tenant: str) -> list[int]:
    """All scopes of a tenant, those without live memories as well."""
    return [number for (number,) in await sql.fetch(_SCOPES, {"tenant": tenant})]


async def erase_scope(sql: Sql, number: int, now: float) -> int:
    """Everything in one scope, tombstones too."""
    scope = await begin_number(sql, number)
    values = {"scope": number}
    rows = standing(await sql.fetch(_EVERY, values))
    for table in _OF_SCOPES:
        if await sql.fetch(f"SELECT 1 FROM {table} WHERE scope = :scope LIMIT 1", values):
            await sql.run(f"DELETE FROM {table} WHERE scope = :scope", values)
            await sql.run(_NOTE, {})
    return await erase(sql, scope, rows, now) if rows else 0


async def _with_lineage(sql: Sql, scope: ScopeRow, rows: Sequence[Standing]) -> list[Standing]:
    every = {row.number: row for row in rows}
    new = list(rows)
    while new:
        values = {"scope": scope.number, "ids": [row.id for row in new]}
        before = standing(await sql.fetch(_BEFORE, values))
        new = [
            r for r in [*before, *await duplicates(sql, scope.number, new)] if r.number not in every
        ]
        every |= {row.number: row for row in new}
    return list(every.values())


async def _unlink(sql: Sql, scope: ScopeRow, gone: Sequence[Standing]) -> None:
    """What superseded one of those that are gone no longer names it."""
    ids = {row.id for row in gone}
    after = [row.superseded_by for row in gone if row.superseded_by not in ids | {""}]
    for row in await stored(sql, scope.number, after):
        memory = replace(
            row.memory(), supersedes=None, deleted=None, superseded_by=None, duplicate_of=None
        )
        values = {"scope": scope.number, "id": row.id, "changed": scope.next}
        await sql.run(_UNLINK, {**values, "data": encoded(memory)})


async def _leave_tombstones(
    sql: Sql, scope: ScopeRow, rows: Sequence[Standing], reason: str | None, now: float
) -> None:
    if reason is None:
        return
    left = [
        {
            "scope": scope.number,
            "number": row.number,
            "at": now,
            "data": encoded(Tombstone(row.id, row.number, now, reason)),
        }
        for row in rows
    ]
    await sql.run_many(PUT_TOMBSTONE, left)


def _distinct(rows: Sequence[Standing]) -> list[Standing]:
    return list({row.number: row for row in rows}.values())

"""Changing memories, and letting one count in the place of another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memtree.errors import BadRequest, NotFound, VersionConflict
from memtree.memories.memory import Memory, MemoryChange, NewMemory, Tombstone, Unset
from memtree.memories.ports import MemoryRef
from memtree.memories.scope import Scope
from memtree.stores.memories.counters import (
    ScopeRow,
    begin_known,
    commit,
    count_vectors,
    next_number,
)
from memtree.stores.memories.lookup import duplicates, live
from memtree.stores.memories.rows import (
    Standing,
    changed_memory,
    columns,
    encoded,
    old_version,
    time_column,
)
from memtree.stores.memories.saving import SAID, insert
from memtree.stores.memories.sql import Sql

_CHANGE_COLUMNS = ("changed", "told", "vectors", "text_hash", "terms", *SAID)
_CHANGE = f"""
    UPDATE memories SET {", ".join(f"{name} = :{name}" for name in _CHANGE_COLUMNS)}
    WHERE scope = :scope AND number = :number"""
KEEP_VERSION = """
    INSERT INTO memory_history (scope, number, version, data, updated, expires)
    VALUES (:scope, :number, :version, :data, :updated, :expires)"""
_DROP_VECTORS = "DELETE FROM memory_vectors WHERE scope = :scope AND number = :number"
_SUPERSEDE = """
    UPDATE memories SET superseded_by = :by, replaced = :at, counted = 0, changed = :changed,
        told = :changed
    WHERE scope = :scope AND number = :number"""
_DUPLICATE = """
    UPDATE memories SET duplicate_of = :of, counted = 0, changed = :changed, told = :changed,
        replaced = CASE WHEN replaced > 0 THEN replaced ELSE :at END
    WHERE scope = :scope AND number IN :numbers[]"""
_JOIN_GROUPS = """
    INSERT INTO memory_group_members (scope, group_id, number, added)
    SELECT scope, group_id, :heir, added FROM memory_group_members
    WHERE scope = :scope AND number = :number
    ON CONFLICT DO NOTHING"""
PUT_TOMBSTONE = """
    INSERT INTO memory_tombstones (scope, number, at, data) VALUES (:scope, :number, :at, :data)
    ON CONFLICT (scope, number) DO UPDATE SET at = excluded.at, data = excluded.data"""


async def change(
    sql: Sql,
    scope: Scope,
    ref: MemoryRef,
    change: MemoryChange,
    *,
    if_version: int | None,
    now: float,
) -> Memory:
    at, row = await begin_live(sql, scope, ref, now)
    if if_version is not None and row.version != if_version:
        raise VersionConflict(
            f"The memory has version {row.version}, not {if_version}: somebody changed it."
        )
    return await change_row(sql, at, row, change)


async def change_row(sql: Sql, scope: ScopeRow, row: Standing, change: MemoryChange) -> Memory:
    memory = changed_memory(row.memory(), change)
    hashed = not isinstance(change.text, Unset)
    await put_version(
        sql,
        scope,
        row,
        memory,
        text_hash=change.text_hash if hashed else row.text_hash,
        terms=change.terms if hashed else row.terms,
    )
    await commit(sql, scope)
    return memory


async def put_version(
    sql: Sql, scope: ScopeRow, row: Standing, memory: Memory, *, text_hash: bytes, terms: bytes
) -> None:
    """The next version of a live memory; the one before goes into its history."""
    old, place = row.memory(), {"scope": scope.number, "number": row.number}
    if memory.text != old.text:
        await count_vectors(sql, scope, [row.number], -1)
        await sql.run(_DROP_VECTORS, place)
    await sql.run(KEEP_VERSION, {**place, **old_version(old), "data": row.data})
    values = {"text_hash": text_hash, "terms": terms, "changed": scope.next, "told": scope.next}
    vectors = row.vectors if memory.text == old.text else 0
    await sql.run(_CHANGE, {**values, **columns(memory), **place, "vectors": vectors})


async def supersede(
    sql: Sql, scope: Scope, ref: MemoryRef, by: NewMemory, *, reason: str, now: float
) -> Memory:
    at, row = await begin_live(sql, scope, ref, now)
    number = await next_number(sql, at)
    (memory,) = await insert(sql, at, [replace(by, supersedes=row.id)], number)
    await replace_row(sql, at, row, memory, reason=reason, since=memory.created, now=now)
    await commit(sql, at)
    return memory


async def replace_row(
    sql: Sql, scope: ScopeRow, row: Standing, by: Memory, *, reason: str, since: float, now: float
) -> None:
    """Let `by` count in the place of a live memory, in its groups as well. `since`: of the past,
    when it began to."""
    values: dict[str, Any] = {"scope": scope.number, "number": row.number}
    marks = {"by": by.id, "at": time_column(since), "changed": scope.next}
    await sql.run(_SUPERSEDE, {**values, **marks})
    await count_vectors(sql, scope, [row.number], -1)
    await sql.run(_JOIN_GROUPS, {**values, "heir": by.number})
    tombstone = Tombstone(row.id, row.number, now, reason, row.memory().text, by.id)
    await sql.run(PUT_TOMBSTONE, {**values, "at": now, "data": encoded(tombstone)})


async def merge(
    sql: Sql, scope: Scope, ref: MemoryRef, older: MemoryRef, *, reason: str, now: float
) -> Memory:
    """The one that counts gets a new version, so that its history tells since when. Which memories
    it took the place of is said by their `superseded_by`; its own `supersedes` names the last."""
    at, row = await begin_live(sql, scope, ref, now)
    found = await live(sql, at.number, [older], now)
    if not found:
        raise NotFound("There is no such memory.")
    if found[0].number == row.number:
        raise BadRequest("A memory cannot take its own place.")
    old = row.memory()
    memory = replace(old, supersedes=found[0].id, version=old.version + 1, updated=now)
    await put_version(sql, at, row, memory, text_hash=row.text_hash, terms=row.terms)
    await replace_row(sql, at, found[0], memory, reason=reason, since=now, now=now)
    await commit(sql, at, counted=-1)
    return memory


async def mark_duplicate(sql: Sql, scope: Scope, id_: str, of: str, *, now: float) -> bool:
    at = await begin_known(sql, scope)
    if at is None:
        return False
    first, other = [await live(sql, at.number, [each], now, follow=False) for each in (id_, of)]
    if not first or not other or id_ == of:
        return False
    every = [first[0].number, *(row.number for row in await duplicates(sql, at.number, first))]
    values = {"scope": at.number, "numbers": every, "of": of, "changed": at.next}
    await sql.run(_DUPLICATE, {**values, "at": time_column(now)})
    heirs = {"scope": at.number, "number": first[0].number, "heir": other[0].number}
    await sql.run(_JOIN_GROUPS, heirs)
    await count_vectors(sql, at, [first[0].number], -1)
    await commit(sql, at, counted=-1)
    return True


async def begin_live(
    sql: Sql, scope: Scope, ref: MemoryRef, now: float
) -> tuple[ScopeRow, Standing]:
    at = await begin_known(sql, scope)
    found = await live(sql, at.number, [ref], now) if at else []
    if at is None or not found:
        raise NotFound("There is no such memory.")
    return at, found[0]

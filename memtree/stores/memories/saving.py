"""Adding and changing memories."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memtree.errors import BadRequest, Conflict, NotFound, VersionConflict
from memtree.memories.memory import Memory, MemoryChange, NewMemory, Tombstone, Unset
from memtree.memories.ports import Added, MemoryRef
from memtree.memories.scope import Scope
from memtree.stores.memories.counters import (
    ScopeRow,
    begin,
    begin_known,
    commit,
    count_vectors,
    next_number,
)
from memtree.stores.memories.lookup import counting, duplicates, live, of_text
from memtree.stores.memories.rows import (
    Standing,
    changed_memory,
    columns,
    encoded,
    key_hash,
    new_memory,
    storable,
)
from memtree.stores.memories.sql import Sql, Values

KEY_SECONDS = 86_400.0

_NEW = ("changed", "told", "counted", "vectors", "deleted", "superseded_by", "duplicate_of")
_SAID = "version expires kind category source_type session_id thread_id tags data".split()
_ADD_COLUMNS = ("scope", "number", "id", *_NEW, "text_hash", "terms", *_SAID)
_ADD = f"""
    INSERT INTO memories ({", ".join(_ADD_COLUMNS)})
    VALUES ({", ".join(f":{name}" for name in _ADD_COLUMNS)})"""
_CHANGE_COLUMNS = ("changed", "told", "vectors", "text_hash", "terms", *_SAID)
_CHANGE = f"""
    UPDATE memories SET {", ".join(f"{name} = :{name}" for name in _CHANGE_COLUMNS)}
    WHERE scope = :scope AND number = :number"""
_KEEP_VERSION = """
    INSERT INTO memory_history (scope, number, version, data)
    VALUES (:scope, :number, :version, :data)"""
_DROP_VECTORS = "DELETE FROM memory_vectors WHERE scope = :scope AND number = :number"
_KEY = """
    SELECT number FROM memory_keys WHERE scope = :scope AND key = :key AND at > :after"""
_KEEP_KEY = """
    INSERT INTO memory_keys (scope, key, number, at) VALUES (:scope, :key, :number, :at)
    ON CONFLICT (scope, key) DO UPDATE SET number = excluded.number, at = excluded.at"""
_SUPERSEDE = """
    UPDATE memories SET superseded_by = :by, counted = 0, changed = :changed, told = :changed
    WHERE scope = :scope AND number = :number"""
_DUPLICATE = """
    UPDATE memories SET duplicate_of = :of, counted = 0, changed = :changed, told = :changed
    WHERE scope = :scope AND number IN :numbers[]"""
PUT_TOMBSTONE = """
    INSERT INTO memory_tombstones (scope, number, at, data) VALUES (:scope, :number, :at, :data)
    ON CONFLICT (scope, number) DO UPDATE SET at = excluded.at, data = excluded.data"""


async def add(
    sql: Sql,
    scope: Scope,
    memory: NewMemory,
    *,
    once: bool,
    idempotency_key: str,
    most: int,
    now: float,
) -> Added:
    at = await begin(sql, scope)
    there = await _repeated(sql, at, idempotency_key, now) if idempotency_key else None
    if there is None and once:
        there = await of_text(sql, at.number, memory.text_hash, now)
    if there is not None:
        return Added(there.memory(), existing=True)
    number = await next_number(sql, at, most=most, now=now)
    stored = await _insert(sql, at, memory, number)
    if idempotency_key:
        key = {"key": key_hash(idempotency_key), "number": number, "at": now}
        await sql.run(_KEEP_KEY, {"scope": at.number, **key})
    await commit(sql, at, counted=1)
    return Added(stored)


async def _repeated(sql: Sql, scope: ScopeRow, key: str, now: float) -> Standing | None:
    """What a call with this key added, or what took its place; where that is not live any more, it
    is as if nobody had called."""
    values: dict[str, Any] = {"scope": scope.number, "key": key_hash(key)}
    found = await sql.fetch(_KEY, {**values, "after": now - KEY_SECONDS})
    there = await counting(sql, scope.number, found[0][0]) if found else None
    return there if there and there.live(now) else None


async def _insert(sql: Sql, scope: ScopeRow, new: NewMemory, number: int) -> Memory:
    memory = new_memory(new, number)
    if not storable(new.id):
        raise BadRequest("The id of a memory must be plain text.", param="id")
    if await sql.fetch(
        "SELECT 1 FROM memories WHERE scope = :scope AND id = :id",
        {"scope": scope.number, "id": new.id},
    ):
        raise Conflict("There is a memory with this id.", param="id")
    values = {**dict.fromkeys(_NEW, 0), "superseded_by": "", "duplicate_of": "", "deleted": 0.0}
    values |= {"scope": scope.number, "changed": scope.next, "told": scope.next, "counted": 1}
    values |= {"text_hash": new.text_hash, "terms": new.terms}
    await sql.run(_ADD, {**values, **columns(memory)})
    return memory


async def change(
    sql: Sql,
    scope: Scope,
    ref: MemoryRef,
    change: MemoryChange,
    *,
    if_version: int | None,
    now: float,
) -> Memory:
    at, row = await _begin_live(sql, scope, ref, now)
    if if_version is not None and row.version != if_version:
        raise VersionConflict(
            f"The memory has version {row.version}, not {if_version}: somebody changed it."
        )
    old = row.memory()
    memory = changed_memory(old, change)
    values: dict[str, Any] = {
        "text_hash": row.text_hash,
        "terms": row.terms,
        "vectors": row.vectors,
    }
    if not isinstance(change.text, Unset):
        values |= {"text_hash": change.text_hash, "terms": change.terms}
    place: Values = {"scope": at.number, "number": row.number}
    if memory.text != old.text:
        await count_vectors(sql, at, [row.number], -1)
        await sql.run(_DROP_VECTORS, place)
        values["vectors"] = 0
    await sql.run(_KEEP_VERSION, {**place, "version": row.version, "data": row.data})
    values |= {"changed": at.next, "told": at.next, **columns(memory), **place}
    await sql.run(_CHANGE, values)
    await commit(sql, at)
    return memory


async def supersede(
    sql: Sql, scope: Scope, ref: MemoryRef, by: NewMemory, *, reason: str, now: float
) -> Memory:
    at, row = await _begin_live(sql, scope, ref, now)
    number = await next_number(sql, at)
    memory = await _insert(sql, at, replace(by, supersedes=row.id), number)
    values: dict[str, Any] = {"scope": at.number, "number": row.number}
    await sql.run(_SUPERSEDE, {**values, "by": by.id, "changed": at.next})
    await count_vectors(sql, at, [row.number], -1)
    tombstone = Tombstone(row.id, row.number, now, reason, row.memory().text, by.id)
    await sql.run(PUT_TOMBSTONE, {**values, "at": now, "data": encoded(tombstone)})
    await commit(sql, at)
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
    await sql.run(_DUPLICATE, values)
    await count_vectors(sql, at, [first[0].number], -1)
    await commit(sql, at, counted=-1)
    return True


async def _begin_live(
    sql: Sql, scope: Scope, ref: MemoryRef, now: float
) -> tuple[ScopeRow, Standing]:
    at = await begin_known(sql, scope)
    found = await live(sql, at.number, [ref], now) if at else []
    if at is None or not found:
        raise NotFound("There is no such memory.")
    return at, found[0]

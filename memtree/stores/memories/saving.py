"""Adding and changing memories."""

from __future__ import annotations

from collections.abc import Sequence
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
    take_numbers,
)
from memtree.stores.memories.lookup import counting, duplicates, live, of_text
from memtree.stores.memories.rows import (
    Standing,
    changed_memory,
    columns,
    encoded,
    key_hash,
    new_memory,
    old_version,
    storable,
    time_column,
)
from memtree.stores.memories.sql import Sql

KEY_SECONDS = 86_400.0

_STATE = "changed told counted vectors deleted superseded_by duplicate_of replaced".split()
_SAID = """
    version expires updated tainted kind category source_type session_id thread_id tags data
""".split()
_ADD_COLUMNS = ("scope", "number", "id", "created", *_STATE, "text_hash", "terms", *_SAID)
ADD = f"""
    INSERT INTO memories ({", ".join(_ADD_COLUMNS)})
    VALUES ({", ".join(f":{name}" for name in _ADD_COLUMNS)})"""
_CHANGE_COLUMNS = ("changed", "told", "vectors", "text_hash", "terms", *_SAID)
_CHANGE = f"""
    UPDATE memories SET {", ".join(f"{name} = :{name}" for name in _CHANGE_COLUMNS)}
    WHERE scope = :scope AND number = :number"""
KEEP_VERSION = """
    INSERT INTO memory_history (scope, number, version, data, updated, expires)
    VALUES (:scope, :number, :version, :data, :updated, :expires)"""
_DROP_VECTORS = "DELETE FROM memory_vectors WHERE scope = :scope AND number = :number"
_KEY = """
    SELECT number FROM memory_keys WHERE scope = :scope AND key = :key AND at > :after"""
_KEEP_KEY = """
    INSERT INTO memory_keys (scope, key, number, at) VALUES (:scope, :key, :number, :at)
    ON CONFLICT (scope, key) DO UPDATE SET number = excluded.number, at = excluded.at"""
_SUPERSEDE = """
    UPDATE memories SET superseded_by = :by, replaced = :at, counted = 0, changed = :changed,
        told = :changed
    WHERE scope = :scope AND number = :number"""
_DUPLICATE = """
    UPDATE memories SET duplicate_of = :of, replaced = :at, counted = 0, changed = :changed,
        told = :changed
    WHERE scope = :scope AND number IN :numbers[]"""
_JOIN_GROUPS = """
    INSERT INTO memory_group_members (scope, group_id, number, added)
    SELECT scope, group_id, :heir, added FROM memory_group_members
    WHERE scope = :scope AND number = :number
    ON CONFLICT DO NOTHING"""
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
    (stored,) = await insert(sql, at, [memory], number)
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


async def add_many(
    sql: Sql, scope: Scope, memories: Sequence[NewMemory], *, once: bool, most: int, now: float
) -> list[Added]:
    if not memories:
        return []
    at = await begin(sql, scope)
    added = await add_here(sql, at, memories, once=once, most=most, now=now)
    new = sum(not each.existing for each in added)
    if new:
        await commit(sql, at, counted=new)
    return added


async def add_here(
    sql: Sql,
    scope: ScopeRow,
    memories: Sequence[NewMemory],
    *,
    once: bool,
    most: int,
    now: float,
) -> list[Added]:
    """In a transaction that has begun and that counts the change."""
    there: dict[bytes, Memory] = {}
    for text_hash in dict.fromkeys(each.text_hash for each in memories) if once else ():
        row = await of_text(sql, scope.number, text_hash, now)
        if row is not None:
            there[row.text_hash] = row.memory()
    first = {each.text_hash: each for each in reversed(memories)}
    new = [
        each
        for each in memories
        if not once or (each.text_hash not in there and each is first[each.text_hash])
    ]
    if not new:
        return [Added(there[each.text_hash], existing=True) for each in memories]
    number = await take_numbers(sql, scope, len(new), most=most, now=now)
    stored = await insert(sql, scope, new, number)
    if not once:
        return [Added(each) for each in stored]
    there |= {each.text_hash: kept for each, kept in zip(new, stored, strict=True)}
    ours = {each.id for each in new}
    return [Added(there[m.text_hash], existing=m.id not in ours) for m in memories]


async def insert(
    sql: Sql, scope: ScopeRow, memories: Sequence[NewMemory], first: int
) -> list[Memory]:
    """Live ones, with numbers from `first` on."""
    await refuse_taken(sql, scope.number, [each.id for each in memories])
    stored = [new_memory(each, first + at) for at, each in enumerate(memories)]
    rows = [
        added_row(scope, memory, text_hash=new.text_hash, terms=new.terms)
        for new, memory in zip(memories, stored, strict=True)
    ]
    await sql.run_many(ADD, rows)
    return stored


def added_row(
    scope: ScopeRow, memory: Memory, *, text_hash: bytes, terms: bytes, counted: int = 1
) -> dict[str, Any]:
    return {
        "scope": scope.number,
        "changed": scope.next,
        "told": scope.next,
        "counted": counted,
        "vectors": 0,
        "deleted": 0.0,
        "superseded_by": "",
        "duplicate_of": "",
        "replaced": 0.0,
        "text_hash": text_hash,
        "terms": terms,
        **columns(memory),
    }


async def refuse_taken(sql: Sql, scope: int, ids: Sequence[str]) -> None:
    if not all(storable(each) for each in ids):
        raise BadRequest("The id of a memory must be plain text.", param="id")
    values = {"scope": scope, "ids": list(ids)}
    taken = "SELECT 1 FROM memories WHERE scope = :scope AND id IN :ids[] LIMIT 1"
    if len(set(ids)) < len(ids) or await sql.fetch(taken, values):
        raise Conflict("There is a memory with this id.", param="id")


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

"""Export all stored data of memories out of a scope, and import it into one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from memtree.errors import BadRequest
from memtree.memories.memory import Memory, Tombstone
from memtree.memories.memory_store import MemoryRecord
from memtree.memories.scope import Scope
from memtree.stores.memories import stored_schemas
from memtree.stores.memories.adding import ADD, added_row, refuse_taken
from memtree.stores.memories.changing import KEEP_VERSION, put_tombstones
from memtree.stores.memories.conversation_marks import MARK, marks
from memtree.stores.memories.memory_reading import known, with_updates
from memtree.stores.memories.scopes import ScopeRow, begin, commit, take_numbers
from memtree.stores.memories.table_rows import (
    SCOPE,
    encoded,
    read_memory,
    read_tombstone,
    scope_values,
    storable,
    time_column,
)
from memtree.stores.sql import Sql

_RECORDS = f"""
    SELECT data, superseded_by, duplicate_of, replaced, number FROM memories
    WHERE scope = {SCOPE} AND number > :after AND deleted = 0 ORDER BY number LIMIT :limit"""
_VERSIONS = f"""
    SELECT number, data FROM memory_history
    WHERE scope = {SCOPE} AND number IN :numbers[] ORDER BY number, version"""
_TOMBSTONES = f"""
    SELECT number, data FROM memory_tombstones
    WHERE scope = {SCOPE} AND number IN :numbers[]"""
_LINKED = "SELECT id, created FROM memories WHERE scope = :scope AND id IN :ids[]"


async def records(sql: Sql, scope: Scope, after: int, limit: int, now: float) -> list[MemoryRecord]:
    values: dict[str, Any] = {**scope_values(scope), "after": after, "limit": limit}
    rows = await sql.fetch(_RECORDS, values)
    values["numbers"] = [number for *_, number in rows]
    versions: dict[int, list[Memory]] = {}
    for number, data in await sql.fetch(_VERSIONS, values) if rows else ():
        versions.setdefault(number, []).append(read_memory(data))
    stones = await sql.fetch(_TOMBSTONES, values) if rows else []
    left = {number: read_tombstone(data) for number, data in stones}
    memories = [read_memory(data, 0.0, by, of) for data, by, of, *_ in rows]
    if any(memory.conflicting for memory in memories):
        memories = await with_updates(sql, await known(sql, scope), memories, now)
    return [
        MemoryRecord(
            memory,
            tuple(versions.get(memory.number, ())),
            left.get(memory.number),
            replaced or None,
        )
        for memory, (*_, replaced, _) in zip(memories, rows, strict=True)
    ]


async def restore(
    sql: Sql,
    scope: Scope,
    records: Sequence[MemoryRecord],
    tombstones: Sequence[Tombstone],
    *,
    most: int,
    now: float,
) -> list[Memory]:
    if not records and not tombstones:
        return []
    _require_versions(records)
    at = await begin(sql, scope)
    await refuse_taken(sql, at.number, [each.memory.id for each in records])
    there = await _created(sql, at, records)
    plain = [_linked(each.memory, there) for each in records]
    keys = await _unique(sql, at, plain, there, now)
    counted = sum(_counts(each) for each in plain)
    count = len(records) + len(tombstones)
    first = await take_numbers(sql, at, count, most=most, now=now, live=counted)
    stored = [replace(each, number=first + place) for place, each in enumerate(plain)]
    await _put(sql, at, records, stored, keys, there, now)
    stones = [
        replace(each, number=first + place) for place, each in enumerate(tombstones, len(records))
    ]
    stones += [
        replace(record.tombstone, id=memory.id, number=memory.number)
        for record, memory in zip(records, stored, strict=True)
        if record.tombstone is not None
    ]
    await put_tombstones(sql, at, stones)
    if records:
        await commit(sql, at, counted=counted)
    return stored


def _require_versions(given: Iterable[MemoryRecord]) -> None:
    for record in given:
        before = [each.version for each in record.versions]
        if [*before, record.memory.version] != list(range(1, len(before) + 2)):
            raise BadRequest("The versions of a memory must be all of those before its own.")


async def _created(sql: Sql, scope: ScopeRow, given: Sequence[MemoryRecord]) -> dict[str, float]:
    """Return the creation times of memories that others name, for those that will exist."""
    named = {
        link
        for each in (record.memory for record in given)
        for link in (each.supersedes, each.superseded_by, each.duplicate_of)
        if link and storable(link)
    }
    rows = await sql.fetch(_LINKED, {"scope": scope.number, "ids": sorted(named)}) if named else []
    return {**dict(rows), **{record.memory.id: record.memory.created for record in given}}


def _linked(memory: Memory, there: dict[str, float]) -> Memory:
    """Return the memory with only those links that lead to another existing memory."""

    def kept(link: str | None) -> str | None:
        return link if link in there and link != memory.id else None

    by = memory.superseded_by
    return replace(
        memory,
        supersedes=kept(memory.supersedes),
        superseded_by=by if by and storable(by) and by != memory.id else None,
        duplicate_of=kept(memory.duplicate_of),
    )


def _counts(memory: Memory) -> bool:
    return not (memory.deleted or memory.superseded_by or memory.duplicate_of)


async def _unique(
    sql: Sql, scope: ScopeRow, memories: list[Memory], there: dict[str, float], now: float
) -> list[str]:
    """Return the keys of their unique values. A memory whose values belong to a live memory of the
    scope, or to a later one of these, becomes superseded by that one, in `memories`. Expired ones
    have no key."""
    counting = [at for at, each in enumerate(memories) if each.live(now)]
    taken = await stored_schemas.unique_keys(
        sql, scope, [stored_schemas.keyed(memories[at]) for at in counting]
    )
    keys = dict(zip(counting, taken, strict=True))
    held = await stored_schemas.holders(sql, scope, taken, now)
    ids = {key: memories[at].id for at, key in keys.items() if key}
    ids |= {key: row.id for key, row in held.items()}
    there |= {row.id: row.memory().created for row in held.values()}
    for at, key in keys.items():
        if key and ids[key] != memories[at].id:
            memories[at] = replace(memories[at], superseded_by=ids[key])
    return [keys.get(at, "") for at in range(len(memories))]


async def _put(
    sql: Sql,
    scope: ScopeRow,
    given: Sequence[MemoryRecord],
    stored: Sequence[Memory],
    keys: Sequence[str],
    there: dict[str, float],
    now: float,
) -> None:
    rows: list[dict[str, Any]] = []
    versions: list[dict[str, Any]] = []
    for record, memory, key in zip(given, stored, keys, strict=True):
        rows.append(_row(scope, record, memory, there) | {"unique_key": key})
        place = {"scope": scope.number, "number": memory.number}
        for old in record.versions:
            same = replace(_bare(old), id=memory.id, number=memory.number)
            versions.append({**place, "version": old.version, "data": encoded(same)})
    await sql.run_many(ADD, rows)
    await sql.run_many(KEEP_VERSION, versions)
    done = {key: number for memory in stored for key, number in marks(memory).items()}
    mark = {"scope": scope.number, "at": now}
    await sql.run_many(MARK, [{**mark, "key": k, "number": n} for k, n in done.items()])


def _row(
    scope: ScopeRow, record: MemoryRecord, memory: Memory, there: dict[str, float]
) -> dict[str, Any]:
    # Its successor may follow, or never come: then the memory itself records that the successor may
    # be missing.
    waits = memory.superseded_by if memory.superseded_by not in there else None
    row = added_row(
        scope,
        replace(_bare(memory), superseded_by=waits),
        text_hash=record.text_hash,
        terms=record.terms,
    )
    if _counts(memory):
        return row
    return row | {
        "counted": 0,
        "event": 0,
        "deleted": time_column(memory.deleted),
        "superseded_by": memory.superseded_by or "",
        "duplicate_of": memory.duplicate_of or "",
        "replaced": _replaced(record, memory, there),
    }


def _replaced(record: MemoryRecord, memory: Memory, there: dict[str, float]) -> float:
    """Return the time since when another memory counts in its place."""
    if not (memory.superseded_by or memory.duplicate_of):
        return 0.0
    if record.replaced is not None:
        return time_column(record.replaced)
    if record.tombstone is not None and memory.superseded_by:
        return time_column(record.tombstone.at)
    return time_column(there.get(memory.superseded_by or "", memory.updated))


def _bare(memory: Memory) -> Memory:
    """Return the memory without the fields that have columns of their own."""
    return replace(memory, deleted=None, superseded_by=None, duplicate_of=None)

"""Reading memories: one by one, in pages, as they were, and what changed."""

from __future__ import annotations

from collections.abc import Sequence

from memtree.memories.memory import Memory, Tombstone
from memtree.memories.ports import ChangeEvent, MemoryFilter, MemoryPage, MemoryRef
from memtree.memories.scope import Scope, ScopeKind
from memtree.stores.memories.counters import state
from memtree.stores.memories.lookup import live, resolved, stored
from memtree.stores.memories.rows import (
    LARGEST,
    SCOPE,
    STORED,
    filtering,
    read_memory,
    read_tombstone,
    scope_values,
    storable,
)
from memtree.stores.memories.sql import Sql

_NUMBER = f"SELECT {SCOPE.strip()}"
_PAGE = f"""
    SELECT {STORED} FROM memories WHERE scope = {SCOPE} AND number < :before AND {{}}
    ORDER BY number DESC LIMIT :limit"""
_VERSIONS = """
    SELECT id, memory_history.version, memory_history.data, deleted, superseded_by, duplicate_of
    FROM memories JOIN memory_history
        ON memory_history.scope = memories.scope AND memory_history.number = memories.number
    WHERE memories.scope = :scope AND deleted = 0 AND id IN :ids[]
    UNION ALL
    SELECT id, version, data, deleted, superseded_by, duplicate_of FROM memories
    WHERE scope = :scope AND deleted = 0 AND id IN :ids[]"""
_HISTORY = """
    SELECT data FROM memory_history WHERE scope = :scope AND number = :number
    ORDER BY version DESC"""
_TOMBSTONES = f"""
    SELECT data FROM memory_tombstones WHERE scope = {SCOPE}
    ORDER BY at DESC, number DESC LIMIT :limit"""
_EVENTS = f"""
    SELECT told, counted, id, version, number FROM memories
    WHERE scope = {SCOPE} AND told > :after
    UNION ALL
    SELECT told, 0, id, version, number FROM erased_memories
    WHERE scope = {SCOPE} AND told > :after"""
_LAST = f"SELECT told FROM ({_EVENTS}) AS events ORDER BY told LIMIT 1 OFFSET :skipped"
_CHANGES = f"""
    SELECT told, counted, id, version FROM ({_EVENTS}) AS events
    WHERE told <= :last ORDER BY told, number"""
_SCOPES = """
    SELECT kind, owner, subject, counted - (
        SELECT count(*) FROM memories WHERE scope = memory_scopes.number
        AND counted = 1 AND expires > 0 AND expires <= :now)
    FROM memory_scopes WHERE tenant = :tenant AND counted > 0 ORDER BY kind, owner, subject"""


async def known(sql: Sql, scope: Scope) -> int | None:
    """The scope's number; None where it holds nothing."""
    ((number,),) = await sql.fetch(_NUMBER, scope_values(scope))
    return None if number is None else int(number)


async def get(
    sql: Sql, scope: Scope, refs: Sequence[MemoryRef], *, deleted: bool, now: float
) -> list[Memory]:
    number = await known(sql, scope)
    if number is None:
        return []
    rows = await (stored(sql, number, refs) if deleted else live(sql, number, refs, now))
    return [row.memory() for row in rows]


async def page(
    sql: Sql,
    scope: Scope,
    wanted: MemoryFilter,
    *,
    before: int | None,
    limit: int,
    now: float,
) -> MemoryPage:
    condition, values = filtering(wanted, now)
    last = LARGEST if before is None else max(0, min(before, LARGEST))
    values |= {**scope_values(scope), "before": last, "limit": limit + 1}
    rows = await sql.fetch(_PAGE.format(condition), values)
    memories = tuple(read_memory(*row) for row in rows[:limit])
    return MemoryPage(memories, len(rows) > limit, (await state(sql, scope, now)).total)


async def versions(
    sql: Sql, scope: Scope, wanted: Sequence[tuple[str, int]]
) -> dict[tuple[str, int], Memory]:
    number = await known(sql, scope)
    ids = list(dict.fromkeys(id_ for id_, _ in wanted if storable(id_)))
    if number is None or not ids:
        return {}
    rows = await sql.fetch(_VERSIONS, {"scope": number, "ids": ids})
    found = {(row[0], row[1]): row[2:] for row in rows}
    return {each: read_memory(*found[each]) for each in wanted if each in found}


async def history(sql: Sql, scope: Scope, ref: MemoryRef) -> list[Memory]:
    number = await known(sql, scope)
    found = await resolved(sql, number, [ref]) if number is not None else []
    if not found or found[0].deleted:
        return []
    values = {"scope": number or 0, "number": found[0].number}
    older = await sql.fetch(_HISTORY, values)
    row = found[0]
    every = [row.data, *(data for (data,) in older)]
    return [read_memory(data, 0.0, row.superseded_by, row.duplicate_of) for data in every]


async def tombstones(sql: Sql, scope: Scope, limit: int) -> list[Tombstone]:
    rows = await sql.fetch(_TOMBSTONES, {**scope_values(scope), "limit": limit})
    return [read_tombstone(data) for (data,) in rows]


async def changes(sql: Sql, scope: Scope, after: int, limit: int) -> list[ChangeEvent]:
    """A count is given whole or not at all, so there may be more than `limit`: whoever goes on
    after the last one misses nothing."""
    values = {**scope_values(scope), "after": after}
    last = await sql.fetch(_LAST, {**values, "skipped": max(0, limit - 1)})
    end = last[0][0] if last else LARGEST
    rows = await sql.fetch(_CHANGES, {**values, "last": end})
    return [
        ChangeEvent(told, _event(counted, version), id_, version)
        for told, counted, id_, version in rows
    ]


def _event(counted: int, version: int) -> str:
    return "deleted" if not counted else "created" if version == 1 else "updated"


async def memory_scopes(sql: Sql, tenant: str, now: float) -> list[tuple[Scope, int]]:
    rows = await sql.fetch(_SCOPES, {"tenant": tenant, "now": now})
    return [
        (Scope(tenant, ScopeKind(kind), owner, subject), count)
        for kind, owner, subject, count in rows
        if count
    ]

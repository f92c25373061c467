"""Read memories: by id, in pages, in past versions, and changes since a count."""

from __future__ import annotations

from collections.abc import Sequence

from memtree.memories.memory import Memory, Tombstone
from memtree.memories.memory_store import ChangeEvent, MemoryFilter, MemoryPage, MemoryRef
from memtree.memories.scope import Scope, ScopeKind
from memtree.stores.memories.conflicts import with_updates
from memtree.stores.memories.lookup import duplicates, kept, live, members, resolved, stored
from memtree.stores.memories.rows import (
    LARGEST,
    SCOPE,
    STORED,
    filtering,
    read_memory,
    read_tombstone,
    scope_values,
)
from memtree.stores.memories.scopes import state
from memtree.stores.sql import Sql

_NUMBER = f"SELECT {SCOPE.strip()}"
_PAGE = f"""
    SELECT {STORED} FROM memories WHERE scope = {SCOPE} AND number < :before AND {{}}
    ORDER BY number DESC LIMIT :limit"""
_VERSIONS = """
    SELECT number, version, data FROM memory_history
    WHERE scope = :scope AND number IN :numbers[] AND version IN :versions[]"""
_HISTORY = """
    SELECT data FROM memory_history WHERE scope = :scope AND number = :number
    ORDER BY version DESC"""
_TOMBSTONES = f"""
    SELECT data FROM memory_tombstones WHERE scope = {SCOPE} AND NOT EXISTS (
        SELECT 1 FROM memories WHERE memories.scope = memory_tombstones.scope
        AND memories.number = memory_tombstones.number AND deleted > 0 AND superseded_by <> '')
    ORDER BY at DESC, number DESC LIMIT :limit"""
_EVENTS = f"""
    SELECT event, counted, id, version, number FROM memories
    WHERE scope = {SCOPE} AND event > :after AND event <= :last
    UNION ALL
    SELECT event, 0, id, version, number FROM erased_memories
    WHERE scope = {SCOPE} AND event > :after AND event <= :last"""
_CHANGES = f"""
    SELECT event, counted, id, version FROM ({_EVENTS}) AS events ORDER BY event, number"""
_NEXT = """
    SELECT event FROM (SELECT event FROM {} WHERE scope = {} AND event > :after
    ORDER BY event LIMIT :limit) AS first_{}"""
_LAST = f"""
    {_NEXT.format("memories", SCOPE, "memories")}
    UNION ALL {_NEXT.format("erased_memories", SCOPE, "erased")}
    ORDER BY event LIMIT 1 OFFSET :skipped"""
_SCOPES = """
    SELECT tenant, kind, owner, subject, counted - (
        SELECT count(*) FROM memories WHERE scope = memory_scopes.number
        AND counted = 1 AND expires > 0 AND expires <= :now)
    FROM memory_scopes WHERE {}counted > 0 ORDER BY tenant, kind, owner, subject"""


async def known(sql: Sql, scope: Scope) -> int:
    """Return the scope's number; 0, which no scope has, if it holds nothing."""
    ((number,),) = await sql.fetch(_NUMBER, scope_values(scope))
    return int(number or 0)


async def get(
    sql: Sql, scope: Scope, refs: Sequence[MemoryRef], *, over: bool, deleted: bool, now: float
) -> list[Memory]:
    number = await known(sql, scope)
    if deleted:
        rows = await stored(sql, number, refs)
    else:
        rows = await (kept(sql, number, refs) if over else live(sql, number, refs, now))
    return await with_updates(sql, number, [row.memory() for row in rows], now)


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
    values |= await members(sql, scope, wanted)
    rows = await sql.fetch(_PAGE.format(condition), values)
    memories = [read_memory(*row) for row in rows[:limit]]
    if any(each.conflicting for each in memories):
        memories = await with_updates(sql, await known(sql, scope), memories, now)
    return MemoryPage(tuple(memories), len(rows) > limit, (await state(sql, scope, now)).total)


async def versions(
    sql: Sql, scope: Scope, wanted: Sequence[tuple[str, int]], now: float
) -> dict[tuple[str, int], Memory]:
    number = await known(sql, scope)
    stored_rows = await stored(sql, number, [id_ for id_, _ in wanted])
    rows = [row for row in stored_rows if not row.deleted]
    by_version = {(row.id, row.version): row.memory() for row in rows}
    older = [version for each, version in wanted if (each, version) not in by_version]
    if rows and older:
        by_number = {row.number: row for row in rows}
        values = {"scope": number, "numbers": list(by_number), "versions": _numbers(older)}
        for at, version, data in await sql.fetch(_VERSIONS, values):
            row = by_number[at]
            by_version[row.id, version] = row._replace(data=data).memory()
    updated = await with_updates(sql, number, list(by_version.values()), now)
    by_version = dict(zip(by_version, updated, strict=True))
    return {each: by_version[each] for each in wanted if each in by_version}


async def twins(sql: Sql, scope: Scope, ids: Sequence[str]) -> dict[str, list[str]]:
    number = await known(sql, scope)
    rows = await stored(sql, number, ids)
    by_main: dict[str, list[str]] = {}
    for row in sorted(await duplicates(sql, number, rows)):
        if not row.deleted:
            by_main.setdefault(row.duplicate_of, []).append(row.id)
    return by_main


def _numbers(given: Sequence[int]) -> list[int]:
    """Keep the numbers that a database can hold."""
    return [each for each in given if 0 < each <= LARGEST]


async def history(sql: Sql, scope: Scope, ref: MemoryRef) -> list[Memory]:
    number = await known(sql, scope)
    rows = await resolved(sql, number, [ref])
    if not rows or rows[0].deleted:
        return []
    values = {"scope": number, "number": rows[0].number}
    older = await sql.fetch(_HISTORY, values)
    row = rows[0]
    every = [row.data, *(data for (data,) in older)]
    return [read_memory(data, 0.0, row.superseded_by, row.duplicate_of) for data in every]


async def tombstones(sql: Sql, scope: Scope, limit: int) -> list[Tombstone]:
    rows = await sql.fetch(_TOMBSTONES, {**scope_values(scope), "limit": limit})
    return [read_tombstone(data) for (data,) in rows]


async def changes(sql: Sql, scope: Scope, after: int, limit: int) -> list[ChangeEvent]:
    """Return changes after a count. Changes with one count are returned together, so there may be
    more than `limit`: a reader that continues after the last one misses nothing."""
    values = {**scope_values(scope), "after": min(max(after, 0), LARGEST)}
    skipped = max(0, limit - 1)
    last = await sql.fetch(_LAST, {**values, "limit": skipped + 1, "skipped": skipped})
    end = last[0][0] if last else LARGEST
    rows = await sql.fetch(_CHANGES, {**values, "last": end})
    return [
        ChangeEvent(event, _event(counted, version), id_, version)
        for event, counted, id_, version in rows
    ]


def _event(counted: int, version: int) -> str:
    return "deleted" if not counted else "created" if version == 1 else "updated"


async def memory_scopes(sql: Sql, tenant: str | None, now: float) -> list[tuple[Scope, int]]:
    own = "" if tenant is None else "tenant = :tenant AND "
    rows = await sql.fetch(_SCOPES.format(own), {"tenant": tenant or "", "now": now})
    return [
        (Scope(name, ScopeKind(kind), owner, subject), count)
        for name, kind, owner, subject, count in rows
        if count
    ]

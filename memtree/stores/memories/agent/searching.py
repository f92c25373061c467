"""Read what a search over many scopes needs. Each statement checks the tenant and its visible
agents again, besides the scope numbers that the caller gives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from memtree.memories.agents.agent_memory import (
    AgentScopes,
    LocatedMemory,
    PlacedRow,
    ScopeTotals,
    ScopeVersion,
)
from memtree.memories.ports import MemoryFilter
from memtree.memories.scope import Scope
from memtree.stores.memories.search import PACKED_ROWS, read_rows
from memtree.stores.memories.tables.agent_scopes import meant
from memtree.stores.memories.tables.expiry import LIVE
from memtree.stores.memories.tables.rows import STORED, filtering, read_memory
from memtree.stores.sql import Sql

PAIRS = 32  # rows per query: each scope is searched for each number
_TOTALS = """
    SELECT count(*), coalesce(sum(number), 0), coalesce(sum(changed), 0), coalesce(sum(purges), 0)
    FROM memory_scopes WHERE {of}"""
_VERSIONS = """
    SELECT number, owner, subject, changed, purges, counted FROM memory_scopes
    WHERE {of} ORDER BY number"""
# The scope travels in the session column, since a row of a search has no other place for it.
_ROWS = """
    SELECT memories.number AS number, counted, expires, terms,
        memories.scope || ' ' || session_id AS session_id, (
        SELECT data FROM memory_vectors WHERE memory_vectors.scope = memories.scope
        AND memory_vectors.number = memories.number AND recipe = :recipe) AS vector
    FROM memories
    WHERE scope IN (SELECT number FROM memory_scopes WHERE {of} AND number >= :scope){more}
    AND (scope, memories.number) > (:scope, :above) ORDER BY scope, memories.number LIMIT :limit"""
_PLACES = " AND number IN :places[]"
_COUNTED = " AND counted = 1"
_CHANGES = """
    SELECT memories.number AS number, counted, expires, terms,
        memories.scope || ' ' || session_id AS session_id, (
        SELECT data FROM memory_vectors WHERE memory_vectors.scope = memories.scope
        AND memory_vectors.number = memories.number AND recipe = :recipe) AS vector
    FROM memories WHERE scope = (SELECT number FROM memory_scopes WHERE number = :scope AND {of})
    AND changed > :after ORDER BY memories.number"""
_MATCHING = """
    SELECT number FROM memories WHERE scope IN (SELECT number FROM memory_scopes WHERE {of})
    AND {condition}"""
_MEMORIES = f"""
    SELECT scope, memories.number, owner, subject, {STORED} FROM memories
    JOIN (SELECT number, owner, subject FROM memory_scopes
        WHERE number IN :places[] AND {{of}}) AS places ON memories.scope = places.number
    WHERE memories.scope IN :places[] AND memories.number IN :numbers[] AND {{condition}}"""
_PAST = "deleted = 0 AND duplicate_of = ''"


async def scope_totals(sql: Sql, scopes: AgentScopes) -> ScopeTotals:
    condition, values = meant(scopes)
    (totals,) = await sql.fetch(_TOTALS.format(of=condition), values)
    return ScopeTotals._make(int(each) for each in totals)


async def scope_versions(sql: Sql, scopes: AgentScopes) -> list[ScopeVersion]:
    condition, values = meant(scopes)
    rows = await sql.fetch(_VERSIONS.format(of=condition), values)
    return [ScopeVersion._make(row) for row in rows]


async def placed_rows(
    sql: Sql,
    scopes: AgentScopes,
    recipe: str,
    places: Collection[int] | None,
    *,
    counted: bool,
) -> list[PlacedRow]:
    condition, values = meant(scopes)
    if places is not None:
        condition += _PLACES
        values["places"] = sorted(places)
    query = _ROWS.format(of=condition, more=_COUNTED if counted else "")
    values |= {"recipe": recipe, "limit": PACKED_ROWS}
    rows: list[PlacedRow] = []
    full = True
    while full:
        place, above = (rows[-1].place, rows[-1].row.number) if rows else (0, 0)
        part = await read_rows(sql, query, {**values, "scope": place, "above": above})
        rows += map(_placed, part)
        full = len(part) == PACKED_ROWS
    return rows


async def placed_changes(
    sql: Sql, scopes: AgentScopes, recipe: str, after: Mapping[int, int]
) -> list[PlacedRow]:
    condition, values = meant(scopes)
    query = _CHANGES.format(of=condition)
    rows: list[PlacedRow] = []
    for place, count in after.items():
        more = {"recipe": recipe, "scope": place, "after": count}
        rows += map(_placed, await read_rows(sql, query, {**values, **more}))
    return rows


async def matching_in(sql: Sql, scopes: AgentScopes, wanted: MemoryFilter, now: float) -> list[int]:
    condition, values = meant(scopes)
    wanted_here, more = filtering(wanted, now)
    query = _MATCHING.format(of=condition, condition=wanted_here)
    return [number for (number,) in await sql.many("i", query, {**values, **more})]


async def placed_memories(
    sql: Sql, scopes: AgentScopes, places: Sequence[tuple[int, int]], now: float, *, past: bool
) -> list[LocatedMemory]:
    condition, values = meant(scopes)
    query = _MEMORIES.format(of=condition, condition=_PAST if past else LIVE)
    values |= {} if past else {"now": now}
    memories: dict[tuple[int, int], LocatedMemory] = {}
    for start in range(0, len(places), PAIRS):
        part = places[start : start + PAIRS]
        extra = {
            "places": sorted({place for place, _ in part}),
            "numbers": sorted({number for _, number in part}),
        }
        for place, number, owner, subject, *stored in await sql.fetch(query, {**values, **extra}):
            scope = Scope.of_agent(scopes.tenant, owner, subject)
            memories[place, number] = LocatedMemory(scope, read_memory(*stored))
    return [memories[each] for each in places if each in memories]


def _placed(row: Any) -> PlacedRow:
    place, _, session = (row.session or "").partition(" ")
    # Prefixed with the scope, so that equally named sessions of two scopes stay apart.
    return PlacedRow(int(place), row._replace(session=f"{place} {session}" if session else None))

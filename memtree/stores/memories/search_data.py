"""Read and store the data of a search: terms, vectors and segments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memtree.memories.memory import Memory
from memtree.memories.memory_store import MemoryFilter, SearchRow, SearchRows, StoredSegment
from memtree.memories.scope import Scope, ScopeKind
from memtree.stores.memories.memory_reading import known, members
from memtree.stores.memories.scopes import begin_known, commit, count_recipe, state
from memtree.stores.memories.table_rows import (
    LIVE,
    SCOPE,
    STORED,
    filtering,
    read_memory,
    scope_values,
)
from memtree.stores.schema import upsert_into
from memtree.stores.sql import Sql, Values

PACKED_ROWS = 10_000  # rows of about a kilobyte, in one answer

SEARCHED = """
    SELECT memories.number AS number, counted, expires, terms, {}, (
        SELECT data FROM memory_vectors WHERE memory_vectors.scope = memories.scope
        AND memory_vectors.number = memories.number AND recipe = :recipe) AS vector
    FROM memories"""
# The `+` keeps the index of that column unused. All rows are read by number, changed rows by their
# count.
_ROWS = """{searched}
    WHERE memories.scope = :scope AND {sign}changed > :after AND {other}memories.number > :above
    ORDER BY memories.number LIMIT :limit"""
_ALL_ROWS = _ROWS.format(searched=SEARCHED.format("session_id"), sign="+", other="")
_CHANGED_ROWS = _ROWS.format(searched=SEARCHED.format("session_id"), sign="", other="+")
_MATCHING = "SELECT number FROM memories WHERE scope = :scope AND {} ORDER BY number"
_NUMBERS = """
    SELECT number, version, counted, vectors, EXISTS (
        SELECT 1 FROM memory_vectors WHERE scope = :scope AND recipe = :recipe
        AND memory_vectors.number = memories.number)
    FROM memories WHERE scope = :scope AND number IN :numbers[]"""
_PUT_VECTOR = upsert_into("memory_vectors", "scope, number, recipe", "data")
_STAMP = """
    UPDATE memories SET changed = :changed, vectors = vectors + :more
    WHERE scope = :scope AND number IN :numbers[]"""
_MISSING = f"""
    SELECT counted - coalesce(
        (SELECT memory_recipes.counted FROM memory_recipes
        WHERE scope = number AND recipe = :recipe), 0),
        (SELECT count(*) FROM memories WHERE scope = memory_scopes.number
        AND memories.counted = 1 AND vectors = 0)
    FROM memory_scopes WHERE number = {SCOPE}"""
_NEW = f"FROM memories WHERE scope = {SCOPE} AND vectors = 0 AND {LIVE}"
_WITHOUT = f"""
    FROM memories WHERE scope = {SCOPE} AND {LIVE} AND NOT EXISTS (
        SELECT 1 FROM memory_vectors WHERE memory_vectors.scope = memories.scope
        AND memory_vectors.number = memories.number AND recipe = :recipe)"""
_INCOMPLETE = """
    SELECT tenant, kind, owner, subject FROM memory_scopes
    LEFT JOIN memory_recipes ON scope = number AND recipe = :recipe
    WHERE memory_scopes.counted > coalesce(memory_recipes.counted, 0) ORDER BY number"""
_ANY = "SELECT 1 FROM memory_scopes WHERE counted > 0 LIMIT 1"
_SEGMENT = f"""
    SELECT changed, purges, data FROM memory_segments
    WHERE scope = {SCOPE} AND recipe = :recipe"""
_SEGMENT_COUNT = """
    SELECT changed FROM memory_segments WHERE scope = :scope AND recipe = :recipe"""
_PUT_SEGMENT = upsert_into("memory_segments", "scope, recipe", "changed", "purges", "data")


async def search_rows(sql: Sql, scope: Scope, recipe: str, after: int, now: float) -> SearchRows:
    now_state = await state(sql, scope, now)
    number = await known(sql, scope)
    rows: list[SearchRow] = []
    if not number or now_state.changed <= after:
        return SearchRows(now_state, ())
    values = {"scope": number, "recipe": recipe, "after": after, "limit": PACKED_ROWS}
    query = _CHANGED_ROWS if after else _ALL_ROWS
    above, full = 0, True
    while full:
        part = await read_rows(sql, query, {**values, "above": above})
        rows += part
        full = len(part) == PACKED_ROWS
        above = rows[-1].number if rows else 0
    return SearchRows(now_state, tuple(rows))


async def read_rows(sql: Sql, query: str, values: Values) -> list[SearchRow]:
    """Read the columns `number`, `counted`, `expires`, `terms`, `session_id` and `vector`."""
    rows = await sql.many("iifdtd", query, values)

    def made() -> list[SearchRow]:
        return [
            SearchRow(
                number, bool(counted), expires or None, terms, vector or None, session or None
            )
            for number, counted, expires, terms, session, vector in rows
        ]

    return await sql.computed(len(rows), made)


async def matching(sql: Sql, scope: Scope, wanted: MemoryFilter, now: float) -> list[int]:
    number = await known(sql, scope)
    condition, values = filtering(wanted, now)
    values |= {"scope": number, **await members(sql, scope, wanted)}
    return [row for (row,) in await sql.many("i", _MATCHING.format(condition), values)]


async def put_vectors(
    sql: Sql, scope: Scope, recipe: str, rows: Mapping[int, tuple[int, bytes]]
) -> None:
    at = await begin_known(sql, scope)
    if at is None:
        return
    values = {"scope": at.number, "recipe": recipe}
    stored = await sql.fetch(_NUMBERS, {**values, "numbers": list(rows)})
    current = [row for row in stored if row[1] == rows[row[0]][0]]
    if not current:
        return
    vectors = [{**values, "number": row[0], "data": rows[row[0]][1]} for row in current]
    await sql.run_many(_PUT_VECTOR, vectors)
    for more, known_one in ((1, False), (0, True)):
        numbers = [row[0] for row in current if bool(row[4]) is known_one]
        stamp = {"scope": at.number, "changed": at.next, "more": more, "numbers": numbers}
        if numbers:
            await sql.run(_STAMP, stamp)
    counted = sum(row[2] for row in current if not row[4])
    if counted:
        await count_recipe(sql, at, recipe, counted)
    await commit(sql, at)


async def without_vectors(
    sql: Sql, scope: Scope, recipe: str, limit: int, now: float
) -> list[Memory]:
    values = {**scope_values(scope), "recipe": recipe, "limit": limit, "now": now}
    lacking = await _lacking(sql, values)
    if lacking is None:
        return []
    rows = await sql.fetch(f"SELECT {STORED} {lacking} ORDER BY number LIMIT :limit", values)
    return [read_memory(*row) for row in rows]


async def count_without_vectors(sql: Sql, scope: Scope, recipe: str, now: float) -> int:
    values = {**scope_values(scope), "recipe": recipe, "now": now}
    lacking = await _lacking(sql, values)
    if lacking is None:
        return 0
    ((count,),) = await sql.fetch(f"SELECT count(*) {lacking}", values)
    return int(count)


async def _lacking(sql: Sql, values: Mapping[str, Any]) -> str | None:
    """Return which rows of the scope lack a vector, None if none does. Usually only new memories
    lack it, and an index lists those."""
    counts = await sql.fetch(_MISSING, values)
    missing, new = counts[0] if counts else (0, 0)
    if not missing:
        return None
    return _NEW if missing == new else _WITHOUT


async def any_memories(sql: Sql) -> bool:
    return bool(await sql.fetch(_ANY, {}))


async def scopes_without_vectors(sql: Sql, recipe: str, limit: int, now: float) -> list[Scope]:
    """List scopes with memories that have no vectors. A memory that expired without a vector makes
    a scope a candidate, so each candidate is checked."""
    scopes = []
    for tenant, kind, owner, subject in await sql.fetch(_INCOMPLETE, {"recipe": recipe}):
        scope = Scope(tenant, ScopeKind(kind), owner, subject)
        if await without_vectors(sql, scope, recipe, 1, now):
            scopes.append(scope)
        if len(scopes) >= limit:
            break
    return scopes


async def segment(sql: Sql, scope: Scope, recipe: str) -> StoredSegment | None:
    rows = await sql.fetch(_SEGMENT, {**scope_values(scope), "recipe": recipe})
    return StoredSegment._make(rows[0]) if rows else None


async def put_segment(sql: Sql, scope: Scope, recipe: str, segment: StoredSegment) -> None:
    at = await begin_known(sql, scope)
    if at is None or at.purges != segment.purges:
        return
    values = {"scope": at.number, "recipe": recipe}
    there = await sql.fetch(_SEGMENT_COUNT, values)
    if not there or there[0][0] < segment.changed:
        await sql.run(_PUT_SEGMENT, {**values, **segment._asdict()})

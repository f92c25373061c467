"""Erase memories for good, and sweep away rows besides them: proofs, revocations, events, shown
sets and unused vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memtree.days import DAY
from memtree.ports.store import RECIPE_DAYS
from memtree.stores.memories.deletion import MINE, ROWS
from memtree.stores.memories.lookup import lineage, stored
from memtree.stores.memories.rows import STANDING, RowState, encoded, standing
from memtree.stores.memories.scopes import (
    ScopeRow,
    begin_number,
    commit,
    count_tenant,
    count_vectors,
    stamp,
)
from memtree.stores.memories.table_rows import ErasedRow
from memtree.stores.schema import insert_into
from memtree.stores.sql import Sql

_UNPAIR = "DELETE FROM memory_conflicts WHERE scope = :scope AND other IN :numbers[]"
_OF_MEMORIES = (
    "memories",
    "memory_conflicts",
    "memory_vectors",
    "memory_history",
    "memory_tombstones",
    "memory_group_members",
    "shown_memories",
)
# Rows that a scope has besides its memories. A tenant's plan is not deleted, since the tenant does
# not own it.
_OF_SCOPES = (
    "memory_tombstones",
    "memory_groups",
    "memory_group_members",
    "memory_settings",
    "extracted_messages",
)
_TELL = insert_into("erased_memories")
_UNLINK = "UPDATE memories SET data = :data, changed = :changed WHERE scope = :scope AND id = :id"
# Their bytes may still be in the files: see `retention.scrub`.
_NOTE = "INSERT INTO deletions DEFAULT VALUES"
_ENDED_SCOPES = """
    SELECT scope FROM memories WHERE deleted > 0 AND deleted <= :before
    UNION SELECT scope FROM memories WHERE expires > 0 AND expires <= :before ORDER BY 1"""
_ENDED_HERE = f"""
    SELECT {STANDING} FROM memories WHERE scope = :scope AND number IN (
        SELECT number FROM memories WHERE +scope = :scope AND deleted > 0 AND deleted <= :before
        UNION SELECT number FROM memories
        WHERE scope = :scope AND expires > 0 AND expires <= :before
        ORDER BY number LIMIT {ROWS})"""
_SCOPES = "SELECT number FROM memory_scopes WHERE tenant = :tenant ORDER BY number"
_FIRST = f"SELECT {STANDING} FROM memories WHERE scope = :scope ORDER BY number LIMIT {ROWS}"
_ENDED_ROWS = (
    ("wallet_proofs", "expires <= :now"),
    ("grant_revocations", "expires <= :now"),
    ("erased_memories", "at <= :yesterday"),
    ("shown_memories", "expires <= :now"),
    ("provider_objects", "expires <= :now"),
)
# Unused by the context store's count: the same models embed both.
_UNUSED = f"SELECT recipe FROM recipes WHERE idle >= {RECIPE_DAYS}"
_UNUSED_HERE = f"scope = :scope AND recipe IN ({_UNUSED})"
_UNCOUNT = f"""
    UPDATE memories SET changed = :changed, vectors = vectors - (
        SELECT count(*) FROM memory_vectors WHERE memory_vectors.scope = memories.scope
        AND memory_vectors.number = memories.number AND recipe IN ({_UNUSED}))
    WHERE scope = :scope AND number IN (SELECT number FROM memory_vectors WHERE {_UNUSED_HERE})"""


async def erase(sql: Sql, scope: ScopeRow, rows: Sequence[RowState], now: float) -> tuple[int, int]:
    """Erase rows, their duplicates and the memories they superseded. Returns how many memories were
    erased, and how many of them counted."""
    gone = await lineage(sql, scope.number, rows)
    counted = [row for row in gone if row.counted]
    await count_vectors(sql, scope, [row.number for row in counted], -1)
    values = {"scope": scope.number, "numbers": [row.number for row in gone]}
    for table in _OF_MEMORIES:
        await sql.run(f"DELETE FROM {table} WHERE {MINE}", values)
    await sql.run(_UNPAIR, values)
    await _unlink(sql, scope, gone)
    events = (
        ErasedRow(scope.number, row.number, row.id, row.version, scope.next, now) for row in counted
    )
    await sql.run_many(_TELL, [event._asdict() for event in events])
    return len(gone), len(counted)


async def _commit(sql: Sql, scope: ScopeRow, counted: int) -> None:
    await stamp_erased(sql, scope, counted)
    await count_tenant(sql, scope.tenant, -counted)


async def stamp_erased(sql: Sql, scope: ScopeRow, counted: int) -> None:
    await sql.run("DELETE FROM memory_segments WHERE scope = :scope", {"scope": scope.number})
    await stamp(sql, scope, counted=-counted, purged=True)
    await sql.run(_NOTE, {})


async def ended_scopes(sql: Sql, before: float) -> list[int]:
    """Return the scopes with memories that were deleted or expired before that time."""
    return [number for (number,) in await sql.fetch(_ENDED_SCOPES, {"before": before})]


async def erase_ended(sql: Sql, number: int, before: float, now: float) -> int:
    """Erase a limited number of such rows of one scope and return how many; 0 when none is left."""
    scope = await begin_number(sql, number)
    rows = standing(await sql.fetch(_ENDED_HERE, {"scope": number, "before": before}))
    if not rows:
        return 0
    gone, counted = await erase(sql, scope, rows, now)
    await _commit(sql, scope, counted)
    return gone


async def scopes_of(sql: Sql, tenant: str) -> list[int]:
    """Return all scopes of a tenant, also those without live memories."""
    return [number for (number,) in await sql.fetch(_SCOPES, {"tenant": tenant})]


async def erase_scope(sql: Sql, number: int, now: float) -> int:
    """Erase everything in one scope, tombstones too."""
    scope = await begin_number(sql, number)
    values = {"scope": number}
    erased = counted = 0
    while rows := standing(await sql.fetch(_FIRST, values)):
        gone, of_them = await erase(sql, scope, rows, now)
        erased, counted = erased + gone, counted + of_them
    for table in _OF_SCOPES:
        if await sql.fetch(f"SELECT 1 FROM {table} WHERE scope = :scope LIMIT 1", values):
            await sql.run(f"DELETE FROM {table} WHERE scope = :scope", values)
            await sql.run(_NOTE, {})
    if erased:
        await _commit(sql, scope, counted)
    return erased


async def _unlink(sql: Sql, scope: ScopeRow, gone: Sequence[RowState]) -> None:
    """Clear the links of memories that superseded one of the erased ones."""
    ids = {row.id for row in gone}
    after = [row.superseded_by for row in gone if row.superseded_by not in ids | {""}]
    for row in await stored(sql, scope.number, after):
        memory = row.memory()
        if memory.supersedes not in ids:
            continue
        plain = replace(
            memory, supersedes=None, deleted=None, superseded_by=None, duplicate_of=None
        )
        values = {"scope": scope.number, "id": row.id, "changed": scope.next}
        await sql.run(_UNLINK, {**values, "data": encoded(plain)})


async def any_ended(sql: Sql, now: float) -> bool:
    values = {"yesterday": now - DAY, "now": now}
    tables = " OR ".join(f"EXISTS (SELECT 1 FROM {table} WHERE {at})" for table, at in _ENDED_ROWS)
    return bool((await sql.fetch(f"SELECT {tables}", values))[0][0])


async def drop_ended(sql: Sql, now: float) -> None:
    values = {"yesterday": now - DAY, "now": now}
    for table, ended in _ENDED_ROWS:
        await sql.run(f"DELETE FROM {table} WHERE {ended}", values)


async def scopes_of_unused(sql: Sql) -> list[int]:
    """Return the scopes with vectors or segments under recipes that are no longer used."""
    rows = await sql.fetch(
        f"SELECT scope FROM memory_recipes WHERE recipe IN ({_UNUSED})"
        f" UNION SELECT scope FROM memory_segments WHERE recipe IN ({_UNUSED}) ORDER BY 1",
        {},
    )
    return [scope for (scope,) in rows]


async def drop_unused(sql: Sql, number: int) -> None:
    """Delete the scope's unused vectors. Checks again that each is unused, since another process
    may have begun to use them."""
    scope = await begin_number(sql, number)
    values = {"scope": number, "changed": scope.next}
    await sql.run(_UNCOUNT, values)
    for table in ("memory_vectors", "memory_recipes", "memory_segments"):
        await sql.run(f"DELETE FROM {table} WHERE {_UNUSED_HERE}", values)
    await commit(sql, scope)

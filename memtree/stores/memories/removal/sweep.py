"""Sweep away rows besides memories: proofs, revocations, events, shown sets and unused vectors."""

from __future__ import annotations

from memtree.days import DAY
from memtree.ports.store import RECIPE_DAYS
from memtree.stores.memories.tables.counters import begin_number, commit
from memtree.stores.sql import Sql

_ENDED = (
    ("wallet_proofs", "expires <= :now"),
    ("grant_revocations", "expires <= :now"),
    ("erased_memories", "at <= :yesterday"),
    ("shown_memories", "expires <= :now"),
    ("provider_objects", "expires <= :now"),
)
# Unused by the context store's count: the same models embed both.
_UNUSED = f"SELECT recipe FROM recipes WHERE idle >= {RECIPE_DAYS}"
_HERE = f"scope = :scope AND recipe IN ({_UNUSED})"
_UNCOUNT = f"""
    UPDATE memories SET changed = :changed, vectors = vectors - (
        SELECT count(*) FROM memory_vectors WHERE memory_vectors.scope = memories.scope
        AND memory_vectors.number = memories.number AND recipe IN ({_UNUSED}))
    WHERE scope = :scope AND number IN (SELECT number FROM memory_vectors WHERE {_HERE})"""


async def any_ended(sql: Sql, now: float) -> bool:
    values = {"yesterday": now - DAY, "now": now}
    tables = " OR ".join(f"EXISTS (SELECT 1 FROM {table} WHERE {at})" for table, at in _ENDED)
    return bool((await sql.fetch(f"SELECT {tables}", values))[0][0])


async def drop_ended(sql: Sql, now: float) -> None:
    values = {"yesterday": now - DAY, "now": now}
    for table, ended in _ENDED:
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
        await sql.run(f"DELETE FROM {table} WHERE {_HERE}", values)
    await commit(sql, scope)

"""Recipes of vectors: days since each was last used, and the deletion of vectors of unused
recipes."""

from __future__ import annotations

from memtree.ports.store import RECIPE_DAYS
from memtree.stores.context.tenants import TENANT, begin
from memtree.stores.sql import Sql

_LOCK = "memtree recipes"
# Walks from one recipe to the next by single index look-ups, instead of reading all vectors.
# Memories are embedded by the same models.
_STORED = """
    WITH RECURSIVE walk(tenant, recipe) AS (
        SELECT number, (
            SELECT recipe FROM vectors WHERE tenant = number ORDER BY recipe LIMIT 1
        ) FROM tenants
        UNION ALL
        SELECT tenant, (
            SELECT vectors.recipe FROM vectors
            WHERE vectors.tenant = walk.tenant AND vectors.recipe > walk.recipe
            ORDER BY vectors.recipe LIMIT 1
        ) FROM walk WHERE recipe IS NOT NULL
    ) SELECT recipe FROM (
        SELECT recipe FROM walk UNION SELECT recipe FROM memory_recipes
        UNION SELECT recipe FROM memory_segments
    ) AS stored WHERE recipe IS NOT NULL"""
_UNUSED = f"SELECT recipe FROM recipes WHERE idle >= {RECIPE_DAYS}"
_KEPT = "SELECT 1 FROM recipes WHERE recipe = :recipe AND day = :day AND idle = 0"
_KEEP = """
    INSERT INTO recipes (recipe, day, idle) VALUES (:recipe, :day, 0)
    ON CONFLICT (recipe) DO UPDATE SET day = excluded.day, idle = 0"""
_TO_COUNT = f"""
    SELECT EXISTS (SELECT 1 FROM recipes WHERE day <> :day)
        OR EXISTS ({_STORED} AND recipe NOT IN (SELECT recipe FROM recipes))"""
_COUNT = "UPDATE recipes SET idle = idle + 1, day = :day WHERE day <> :day"
_BEGIN = f"""
    INSERT INTO recipes (recipe, day, idle) SELECT recipe, :day, 0 FROM ({_STORED}) AS stored
    WHERE true ON CONFLICT DO NOTHING"""
_UNUSED_TENANTS = f"""
    SELECT name FROM tenants WHERE EXISTS (
        SELECT 1 FROM vectors WHERE tenant = number AND recipe IN ({_UNUSED})) ORDER BY name"""
_DROP = f"DELETE FROM vectors WHERE {TENANT} AND recipe IN ({_UNUSED})"
_FORGET = f"DELETE FROM recipes WHERE recipe IN ({_UNUSED}) AND recipe NOT IN ({_STORED})"


async def kept(sql: Sql, recipe: str, day: int) -> bool:
    """Return True if `keep` has nothing to do: a read, so that others can write."""
    return bool(await sql.fetch(_KEPT, {"recipe": recipe, "day": day}))


async def keep(sql: Sql, recipe: str, day: int) -> None:
    await sql.lock_name(_LOCK)
    await sql.run(_KEEP, {"recipe": recipe, "day": day})


async def to_count(sql: Sql, day: int) -> bool:
    """Return True if `count` has anything to do today."""
    return bool((await sql.fetch(_TO_COUNT, {"day": day}))[0][0])


async def count(sql: Sql, day: int) -> None:
    """Add a day to the unused days of every recipe, once a day; new recipes start at zero."""
    await sql.lock_name(_LOCK)
    await sql.run(_COUNT, {"day": day})
    await sql.run(_BEGIN, {"day": day})


async def any_unused(sql: Sql) -> bool:
    return bool(await sql.fetch(_UNUSED, {}))


async def unused_tenants(sql: Sql) -> list[str]:
    """Return the tenants that have vectors under unused recipes."""
    return [tenant for (tenant,) in await sql.fetch(_UNUSED_TENANTS, {})]


async def drop_unused(sql: Sql, tenant: str) -> int:
    """Delete the tenant's unused vectors and return their number. The statement looks again which
    recipes are unused, since another process may have begun to use one meanwhile."""
    await sql.lock_name(_LOCK)
    await begin(sql, tenant, alone=True)
    return await sql.count(_DROP, {"tenant": tenant})


async def forget_unused(sql: Sql) -> None:
    """Drop the names of recipes whose vectors are gone."""
    await sql.lock_name(_LOCK)
    await sql.run(_FORGET, {})

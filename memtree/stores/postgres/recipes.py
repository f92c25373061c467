"""SQL of `Retention.keep_recipe`: which vectors are in use, and those that nobody uses any more.

Days are counted, not time: a clock that jumps ahead by a year makes every recipe one day older.
"""

from __future__ import annotations

from memtree.ports.store import RECIPE_DAYS, Receipt
from memtree.stores.postgres.locks import ALONE, lock_key
from memtree.stores.postgres.pool import Connection
from memtree.stores.postgres.retention import begin_alone, noted
from memtree.stores.postgres.trees import ask, rows

_LOCK = lock_key("memtree recipes")
# From recipe to recipe, each found by one look into the index: not over all vectors.
_STORED = """
    WITH RECURSIVE met AS (
        SELECT number AS tenant, (
            SELECT recipe FROM vectors WHERE tenant = number ORDER BY recipe LIMIT 1
        ) AS recipe FROM tenants
        UNION ALL
        SELECT tenant, (
            SELECT vectors.recipe FROM vectors
            WHERE vectors.tenant = met.tenant AND vectors.recipe > met.recipe
            ORDER BY vectors.recipe LIMIT 1
        ) FROM met WHERE recipe IS NOT NULL
    ) SELECT DISTINCT recipe FROM met WHERE recipe IS NOT NULL"""
_UNUSED = f"SELECT recipe FROM recipes WHERE idle >= {RECIPE_DAYS}"
_KEPT = "SELECT 1 FROM recipes WHERE recipe = %(recipe)s AND day = %(day)s AND idle = 0"
_KEEP = """
    INSERT INTO recipes VALUES (%(recipe)s, %(day)s, 0)
    ON CONFLICT (recipe) DO UPDATE SET day = excluded.day, idle = 0"""
_TO_COUNT = f"""
    SELECT EXISTS (SELECT 1 FROM recipes WHERE day <> %(day)s)
        OR EXISTS ({_STORED} AND recipe NOT IN (SELECT recipe FROM recipes))"""
_COUNT = "UPDATE recipes SET idle = idle + 1, day = %(day)s WHERE day <> %(day)s"
_BEGIN = f"""
    INSERT INTO recipes SELECT recipe, %(day)s, 0 FROM ({_STORED}) AS stored
    ON CONFLICT DO NOTHING"""
_UNUSED_TENANTS = f"""
    SELECT name FROM tenants WHERE EXISTS (
        SELECT 1 FROM vectors WHERE tenant = number AND recipe IN ({_UNUSED})) ORDER BY name"""
_DROP = f"DELETE FROM vectors WHERE tenant = %(number)s AND recipe IN ({_UNUSED})"
_FORGET = f"DELETE FROM recipes WHERE recipe IN ({_UNUSED}) AND recipe NOT IN ({_STORED})"


async def kept(db: Connection, recipe: str, day: int) -> bool:
    """Whether `keep` has nothing to do."""
    return bool(await rows(db, _KEPT, recipe=recipe, day=day))


async def keep(db: Connection, recipe: str, day: int) -> None:
    await db.execute(ALONE, (_LOCK,))
    await ask(db, _KEEP, recipe=recipe, day=day)


async def to_count(db: Connection, day: int) -> bool:
    """Whether `count` has anything to do."""
    ((found,),) = await rows(db, _TO_COUNT, day=day)
    return bool(found)


async def count(db: Connection, day: int) -> None:
    """Every recipe is a day older, once a day; those that are new begin."""
    await db.execute(ALONE, (_LOCK,))
    await ask(db, _COUNT, day=day)
    await ask(db, _BEGIN, day=day)


async def any_unused(db: Connection) -> bool:
    return bool(await rows(db, _UNUSED))


async def unused_tenants(db: Connection) -> list[str]:
    """Those that have vectors which nobody uses."""
    return [tenant for (tenant,) in await rows(db, _UNUSED_TENANTS)]


async def drop_unused(db: Connection, tenant: str) -> Receipt:
    """Of one tenant. Whether they are unused is asked here again: a process may have begun."""
    await db.execute(ALONE, (_LOCK,))
    number = await begin_alone(db, tenant)
    if number is None:
        return Receipt()
    receipt = Receipt(vectors=(await ask(db, _DROP, number=number)).rowcount)
    return await noted(db, receipt, changed=any(receipt))


async def forget_unused(db: Connection) -> None:
    """Let go of the names of what was dropped."""
    await db.execute(ALONE, (_LOCK,))
    await db.execute(_FORGET)

"""SQL of `Retention.keep_recipe`: which vectors are in use, and those that nobody uses any more.

Days are counted, not time: a clock that jumps ahead by a year makes every recipe one day older.
"""

from __future__ import annotations

import sqlite3

from memtree.ports.store import RECIPE_DAYS, Receipt
from memtree.stores.sqlite.retention import noted

# From recipe to recipe, each found by one look into the index: not over all vectors.
_STORED = """
    WITH RECURSIVE met(tenant, recipe) AS (
        SELECT number, (SELECT min(recipe) FROM vectors WHERE tenant = number) FROM tenants
        UNION ALL
        SELECT tenant, (
            SELECT min(vectors.recipe) FROM vectors
            WHERE vectors.tenant = met.tenant AND vectors.recipe > met.recipe
        ) FROM met WHERE recipe IS NOT NULL
    ) SELECT DISTINCT recipe FROM met WHERE recipe IS NOT NULL"""
_UNUSED = f"SELECT recipe FROM recipes WHERE idle >= {RECIPE_DAYS}"
_TO_COUNT = f"""
    SELECT EXISTS (SELECT 1 FROM recipes WHERE day <> :day)
        OR EXISTS ({_STORED} AND recipe NOT IN (SELECT recipe FROM recipes))"""
_KEEP = """
    INSERT INTO recipes VALUES (?, ?, 0)
    ON CONFLICT DO UPDATE SET day = excluded.day, idle = 0"""


def kept(db: sqlite3.Connection, recipe: str, day: int) -> bool:
    """Whether `keep` has nothing to do: a read, so that others can write."""
    row = db.execute("SELECT day, idle FROM recipes WHERE recipe = ?", (recipe,)).fetchone()
    return bool(row == (day, 0))


def keep(db: sqlite3.Connection, recipe: str, day: int) -> None:
    db.execute(_KEEP, (recipe, day))


def to_count(db: sqlite3.Connection, day: int) -> bool:
    """The same for `count`."""
    return bool(db.execute(_TO_COUNT, {"day": day}).fetchone()[0])


def count(db: sqlite3.Connection, day: int) -> None:
    """Every recipe is a day older, once a day; those that are new begin."""
    db.execute("UPDATE recipes SET idle = idle + 1, day = :day WHERE day <> :day", {"day": day})
    db.execute(f"INSERT OR IGNORE INTO recipes SELECT recipe, ?, 0 FROM ({_STORED})", (day,))


def any_unused(db: sqlite3.Connection) -> bool:
    return db.execute(_UNUSED).fetchone() is not None


def unused_tenants(db: sqlite3.Connection) -> list[int]:
    """Those that have vectors which nobody uses."""
    if not any_unused(db):
        return []
    any_of = f"SELECT 1 FROM vectors WHERE tenant = number AND recipe IN ({_UNUSED})"
    rows = db.execute(f"SELECT number FROM tenants WHERE EXISTS ({any_of})")
    return [number for (number,) in rows]


def drop_unused(db: sqlite3.Connection, number: int) -> Receipt:
    """Of one tenant. Whether they are unused is asked here again: a process may have begun."""
    before = db.total_changes
    drop = f"DELETE FROM vectors WHERE tenant = ? AND recipe IN ({_UNUSED})"
    return noted(db, before, Receipt(vectors=db.execute(drop, (number,)).rowcount))


def forget_unused(db: sqlite3.Connection) -> None:
    """Let go of the names of what was dropped."""
    db.execute(f"DELETE FROM recipes WHERE recipe IN ({_UNUSED}) AND recipe NOT IN ({_STORED})")

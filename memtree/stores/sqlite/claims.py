"""`Claims` and `Tallies` and their SQL: who summarises which node, and numbers that add up."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from memtree.stores.rows import oldest_tally, within
from memtree.stores.sqlite.bulk import change, insert, joined
from memtree.stores.sqlite.database import TENANT, SqlitePart, reading
from memtree.stores.sqlite.trees import STORED, known_tenant, present

_SUMMARISED = """
    SELECT id, x'' AS data FROM summaries WHERE tenant = ? AND version > 0 AND id IN ({ids})"""
_BARRED = """
    SELECT id, x'' AS data FROM claims
    WHERE tenant = ? AND owner <> ? AND until > ? AND id IN ({ids})"""
# One's own claim never gets shorter; another's has expired, or it would have been left out.
_TAKE = """
    ON CONFLICT DO UPDATE SET owner = excluded.owner,
    until = max(excluded.until, CASE owner WHEN excluded.owner THEN until ELSE 0 END)"""
_RELEASE = f"DELETE FROM claims WHERE {TENANT} AND owner = ? AND id IN ({{ids}})"
_STALE = """
    SELECT EXISTS (SELECT 1 FROM claims WHERE until <= ?)
        OR EXISTS (SELECT 1 FROM tallies WHERE day < ?)"""
_TODAY = "SELECT name, amount FROM tallies WHERE tenant = ? AND day = ?"
_ADD = "ON CONFLICT DO UPDATE SET amount = amount + excluded.amount"
_SUMS = """
    SELECT tenant, name, sum(amount) FROM tallies WHERE day BETWEEN ? AND ?
    GROUP BY tenant, name ORDER BY tenant, name"""
_SUMS_OF_ONE = """
    SELECT name, sum(amount) FROM tallies WHERE tenant = ? AND day BETWEEN ? AND ?
    GROUP BY name ORDER BY name"""

_DAILY = """
    SELECT day, name, amount FROM tallies
    WHERE tenant = ? AND day BETWEEN ? AND ? AND substr(name, 1, ?) = ? ORDER BY day, name"""


def claim(
    db: sqlite3.Connection, tenant: str, ids: Sequence[bytes], owner: str, now: float, until: float
) -> set[bytes]:
    number = known_tenant(db, tenant)
    if number is None:
        return set()
    free = present(db, STORED, number, ids) - present(db, _SUMMARISED, number, ids)
    free -= {node for node, _ in joined(db, _BARRED, (number, owner, now), ids)}
    rows = [(number, node, owner, until) for node in free]
    insert(db, "INSERT INTO claims (tenant, id, owner, until)", rows, _TAKE)
    return free


def release(db: sqlite3.Connection, tenant: str, ids: Sequence[bytes], owner: str) -> None:
    change(db, _RELEASE, (tenant, owner), ids)


def stale(db: sqlite3.Connection, now: float) -> bool:
    """Whether `drop_stale` has anything to do: a read, so that an idle sweep locks nobody out."""
    return bool(db.execute(_STALE, (now, oldest_tally(now))).fetchone()[0])


def drop_stale(db: sqlite3.Connection, now: float) -> None:
    db.execute("DELETE FROM claims WHERE until <= ?", (now,))
    db.execute("DELETE FROM tallies WHERE day < ?", (oldest_tally(now),))


def add(
    db: sqlite3.Connection,
    tenant: str,
    day: int,
    amounts: Mapping[str, int],
    limits: Mapping[str, int],
) -> bool:
    if limits and not within(dict(db.execute(_TODAY, (tenant, day))), amounts, limits):
        return False
    # One by one: `bulk.insert` may write a row twice.
    for name, amount in amounts.items():
        db.execute(f"INSERT INTO tallies VALUES (?, ?, ?, ?) {_ADD}", (tenant, day, name, amount))
    return True


def tallies(db: sqlite3.Connection, tenant: str, first: int, last: int) -> dict[str, int]:
    return dict(db.execute(_SUMS_OF_ONE, (tenant, first, last)))


def daily(
    db: sqlite3.Connection, tenant: str, first: int, last: int, prefix: str
) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {}
    values = (tenant, first, last, len(prefix), prefix)
    for day, name, amount in db.execute(_DAILY, values):
        found.setdefault(day, {})[name] = amount
    return found


def tallied(db: sqlite3.Connection, first: int, last: int) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for tenant, name, amount in db.execute(_SUMS, (first, last)):
        found.setdefault(tenant, {})[name] = amount
    return found


class SqliteClaims(SqlitePart):
    """`Claims` and `Tallies`."""

    tallies = reading(tallies)
    daily = reading(daily)
    tallied = reading(tallied)

    async def claim(
        self, tenant: str, ids: Sequence[bytes], owner: str, now: float, until: float
    ) -> set[bytes]:
        if not ids:
            return set()
        return await self.database.write(lambda db: claim(db, tenant, ids, owner, now, until))

    async def release(self, tenant: str, ids: Sequence[bytes], owner: str) -> None:
        if ids:
            await self.database.write(lambda db: release(db, tenant, ids, owner))

    async def add(
        self,
        tenant: str,
        day: int,
        amounts: Mapping[str, int],
        limits: Mapping[str, int] | None = None,
    ) -> bool:
        return await self.database.write(lambda db: add(db, tenant, day, amounts, limits or {}))

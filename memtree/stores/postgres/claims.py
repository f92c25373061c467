"""`Claims` and `Tallies` and their SQL: who summarises which node, and numbers that add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtree.stores.postgres.locks import ALONE, begin, lock_key
from memtree.stores.postgres.pool import DURABLE, PostgresPart, reading
from memtree.stores.postgres.queries import TENANT, Blobs, Connection, distinct, rows
from memtree.stores.rows import oldest_tally, within

_SUMMARISED = """
    SELECT 1 FROM summaries WHERE tenant = {0}.tenant AND id = {0}.id AND version > 0 LIMIT 1"""
# One's own claim never gets shorter; another's is taken over once it has expired.
_TAKE = f"""
    INSERT INTO claims (tenant, id, owner, until)
    SELECT tenant, id, %(owner)s, %(until)s FROM nodes
    WHERE {TENANT} AND id = ANY(%(ids)s) AND ({_SUMMARISED.format("nodes")}) IS NULL
    ORDER BY id
    ON CONFLICT (tenant, id) DO UPDATE SET owner = excluded.owner, until = greatest(
        excluded.until,
        CASE claims.owner WHEN excluded.owner THEN claims.until ELSE excluded.until END)
    WHERE claims.owner = excluded.owner OR claims.until <= %(now)s
    RETURNING id"""
# Between the first statement's look at the summaries and its claim another worker may have put
# its summary and given its claim back. A second statement sees that.
_TOO_LATE = f"""
    DELETE FROM claims WHERE {TENANT} AND id = ANY(%(ids)s) AND owner = %(owner)s
        AND ({_SUMMARISED.format("claims")}) IS NOT NULL
    RETURNING id"""
_RELEASE = f"DELETE FROM claims WHERE {TENANT} AND owner = %(owner)s AND id = ANY(%(ids)s)"
_STALE = """
    SELECT EXISTS (SELECT 1 FROM claims WHERE until <= %(now)s)
        OR EXISTS (SELECT 1 FROM tallies WHERE day < %(day)s)"""
_DROP_CLAIMS = """
    DELETE FROM claims USING (
        SELECT tenant, id FROM claims WHERE until <= %(now)s
        ORDER BY tenant, id FOR UPDATE SKIP LOCKED
    ) AS old WHERE claims.tenant = old.tenant AND claims.id = old.id"""
_DROP_TALLIES = "DELETE FROM tallies WHERE day < %(day)s"
_TODAY = "SELECT name, amount FROM tallies WHERE tenant = %(tenant)s AND day = %(day)s"
_ADD = """
    INSERT INTO tallies (tenant, day, name, amount)
    SELECT %(tenant)s, %(day)s, name, amount
    FROM unnest(%(names)s::text[], %(amounts)s::bigint[]) AS new(name, amount) ORDER BY name
    ON CONFLICT (tenant, day, name) DO UPDATE SET amount = tallies.amount + excluded.amount"""
_SUMS = """
    SELECT tenant, name, sum(amount)::bigint FROM tallies
    WHERE day BETWEEN %(first)s AND %(last)s GROUP BY tenant, name ORDER BY tenant, name"""
_SUMS_OF_ONE = """
    SELECT name, sum(amount)::bigint FROM tallies
    WHERE tenant = %(tenant)s AND day BETWEEN %(first)s AND %(last)s GROUP BY name ORDER BY name"""

_DAILY = """
    SELECT day, name, amount FROM tallies
    WHERE tenant = %(tenant)s AND day BETWEEN %(first)s AND %(last)s
        AND starts_with(name, %(prefix)s) ORDER BY day, name"""


async def claim(
    db: Connection, tenant: str, ids: Sequence[bytes], owner: str, now: float, until: float
) -> set[bytes]:
    await begin(db, tenant)
    values = {"tenant": tenant, "ids": distinct(ids), "owner": owner, "now": now, "until": until}
    taken = {node for (node,) in await rows(db, _TAKE, **values)}
    if not taken:
        return taken
    summarised = await rows(db, _TOO_LATE, tenant=tenant, ids=Blobs(taken), owner=owner)
    return taken - {node for (node,) in summarised}


async def release(db: Connection, tenant: str, ids: Sequence[bytes], owner: str) -> None:
    await begin(db, tenant)
    await db.execute(_RELEASE, {"tenant": tenant, "ids": Blobs(ids), "owner": owner})


async def drop_stale(db: Connection, now: float) -> None:
    """A read where there is nothing to do, so that an idle sweep writes nothing."""
    values = {"now": now, "day": oldest_tally(now)}
    ((stale,),) = await rows(db, _STALE, **values)
    if stale:
        await db.execute(_DROP_CLAIMS, values)
        await db.execute(_DROP_TALLIES, values)


async def add(
    db: Connection,
    tenant: str,
    day: int,
    amounts: Mapping[str, int],
    limits: Mapping[str, int],
) -> bool:
    await db.execute(DURABLE)
    await db.execute(ALONE, (lock_key("memtree tallies", tenant, str(day)),))
    if limits and not within(dict(await rows(db, _TODAY, tenant=tenant, day=day)), amounts, limits):
        return False
    if amounts:
        values = {"names": list(amounts), "amounts": list(amounts.values())}
        await db.execute(_ADD, {"tenant": tenant, "day": day, **values})
    return True


async def tallies(db: Connection, tenant: str, first: int, last: int) -> dict[str, int]:
    return dict(await rows(db, _SUMS_OF_ONE, tenant=tenant, first=first, last=last))


async def daily(
    db: Connection, tenant: str, first: int, last: int, prefix: str
) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {}
    values = {"tenant": tenant, "first": first, "last": last, "prefix": prefix}
    for day, name, amount in await rows(db, _DAILY, **values):
        found.setdefault(day, {})[name] = amount
    return found


async def tallied(db: Connection, first: int, last: int) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for tenant, name, amount in await rows(db, _SUMS, first=first, last=last):
        found.setdefault(tenant, {})[name] = amount
    return found


class PostgresClaims(PostgresPart):
    """`Claims` and `Tallies`."""

    tallies = reading(tallies)
    daily = reading(daily)
    tallied = reading(tallied)

    async def claim(
        self, tenant: str, ids: Sequence[bytes], owner: str, now: float, until: float
    ) -> set[bytes]:
        if not ids:
            return set()
        return await self.database.hurry(lambda db: claim(db, tenant, ids, owner, now, until))

    async def release(self, tenant: str, ids: Sequence[bytes], owner: str) -> None:
        if ids:
            await self.database.hurry(lambda db: release(db, tenant, ids, owner))

    async def add(
        self,
        tenant: str,
        day: int,
        amounts: Mapping[str, int],
        limits: Mapping[str, int] | None = None,
    ) -> bool:
        return await self.database.hurry(lambda db: add(db, tenant, day, amounts, limits or {}))

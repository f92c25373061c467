"""`Claims` and `Tallies`: which worker summarises which node, and daily totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtree.stores.context.tenants import TENANT, begin
from memtree.stores.schema import insert_into
from memtree.stores.sql import Ids, Sql, SqlPart, keeping, reading, writing
from memtree.stores.stored_rows import oldest_tally

_SUMMARISED = """EXISTS (
    SELECT 1 FROM summaries
    WHERE tenant = claims.tenant AND summaries.id = claims.id AND version > 0)"""
# A worker's own claim never gets shorter; another worker's is taken over once it has expired.
_TAKE = f"""
    INSERT INTO claims (tenant, id, owner, until)
    SELECT tenant, id, :owner, :until FROM nodes
    WHERE {TENANT} AND id IN :ids[bytes] ORDER BY id
    ON CONFLICT (tenant, id) DO UPDATE SET owner = excluded.owner, until = CASE
        WHEN claims.until > excluded.until THEN claims.until ELSE excluded.until END
    WHERE claims.owner = excluded.owner OR claims.until <= :now"""
_OWN = f"claims WHERE {TENANT} AND id IN :ids[bytes] AND owner = :owner"
# Runs after the claim: another worker may store its summary and release its claim in between.
_TOO_LATE = f"DELETE FROM {_OWN} AND {_SUMMARISED}"
_STALE = """
    SELECT EXISTS (SELECT 1 FROM claims WHERE until <= :now)
        OR EXISTS (SELECT 1 FROM tallies WHERE day < :day)"""
_DROP_CLAIMS = """
    DELETE FROM claims WHERE (tenant, id) IN (
        SELECT tenant, id FROM claims WHERE until <= :now ORDER BY tenant, id{})"""
_TODAY = "SELECT name, amount FROM tallies WHERE tenant = :tenant AND day = :day"
_SUM = "(tenant, day, name) DO UPDATE SET amount = tallies.amount + excluded.amount"
_ADD = insert_into("tallies", _SUM)
_SUMS_OF_TENANT = """
    SELECT name, CAST(sum(amount) AS bigint) FROM tallies
    WHERE tenant = :tenant AND day BETWEEN :first AND :last GROUP BY name ORDER BY name"""
_DAILY = """
    SELECT day, name, amount FROM tallies
    WHERE tenant = :tenant AND day BETWEEN :first AND :last
        AND substr(name, 1, :size) = :prefix ORDER BY day, name"""


async def claim(
    sql: Sql, tenant: str, ids: Sequence[bytes], owner: str, now: float, until: float
) -> set[bytes]:
    if not ids:
        return set()
    await begin(sql, tenant)
    values = {"tenant": tenant, "ids": Ids(ids), "owner": owner}
    await sql.run(_TAKE, {**values, "now": now, "until": until})
    await sql.run(_TOO_LATE, values)
    return {node for (node,) in await sql.many("h", f"SELECT id FROM {_OWN}", values)}


async def release(sql: Sql, tenant: str, ids: Sequence[bytes], owner: str) -> None:
    await begin(sql, tenant)
    await sql.run(f"DELETE FROM {_OWN}", {"tenant": tenant, "ids": Ids(ids), "owner": owner})


async def stale(sql: Sql, now: float) -> bool:
    """Return True if `drop_stale` has anything to do. Only reads, so that an idle sweep writes
    nothing."""
    return bool((await sql.fetch(_STALE, {"now": now, "day": oldest_tally(now)}))[0][0])


async def drop_stale(sql: Sql, now: float) -> None:
    await sql.run(_DROP_CLAIMS.format(sql.skip), {"now": now})
    await sql.run("DELETE FROM tallies WHERE day < :day", {"day": oldest_tally(now)})


async def add(
    sql: Sql,
    tenant: str,
    day: int,
    amounts: Mapping[str, int],
    limits: Mapping[str, int] | None = None,
) -> bool:
    await sql.lock_name("memtree tallies", tenant, str(day))
    here = {"tenant": tenant, "day": day}
    stored: dict[str, int] = dict(await sql.fetch(_TODAY, here) if limits else ())
    for name, limit in (limits or {}).items():
        if stored.get(name, 0) + amounts.get(name, 0) > limit:
            return False
    rows = [{**here, "name": name, "amount": amounts[name]} for name in sorted(amounts)]
    await sql.run_many(_ADD, rows)
    return True


async def tallies(sql: Sql, tenant: str, first: int, last: int) -> dict[str, int]:
    values = {"tenant": tenant, "first": first, "last": last}
    return dict(await sql.fetch(_SUMS_OF_TENANT, values))


async def daily(
    sql: Sql, tenant: str, first: int, last: int, prefix: str
) -> dict[int, dict[str, int]]:
    days: dict[int, dict[str, int]] = {}
    values = {"tenant": tenant, "first": first, "last": last, "prefix": prefix, "size": len(prefix)}
    for day, name, amount in await sql.fetch(_DAILY, values):
        days.setdefault(day, {})[name] = amount
    return days


class ClaimsAndTallies(SqlPart):
    """The ports `Claims` and `Tallies` over SQL."""

    claim = writing(claim)
    release = writing(release)
    add = keeping(add)
    _any_stale = reading(stale)
    _drop_stale = writing(drop_stale)
    tallies = reading(tallies)
    daily = reading(daily)

"""`RequestLog`: a row for each request that has ended.

Rows are numbered in the order in which they are written, since only one writer at a time gives out
numbers: a reader that has seen a number has seen all rows below it. A number is a time in
microseconds, so none is given twice, even after deletions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memtree.clock import DAY, day_of
from memtree.ports.request_log import (
    ALL,
    CLIENT_GONE,
    LOG_DAYS,
    STORE_ROWS,
    TENANT_ROWS,
    RequestFilter,
    RequestPlace,
    RequestRow,
    RequestTotals,
    StateSums,
    time_of,
)
from memtree.stores.context.tenants import NUMBER, TENANT, begin, tenant_number
from memtree.stores.schema import insert_rows
from memtree.stores.sql import Ids, Sql, SqlPart, reading, writing

COLUMNS = ", ".join(RequestRow._fields)
_KINDS = "itftt" + "tddttd" + "iiiiii" + "iiiiiii" + "tit"
_LOCK = "memtree requests"
_LAST = "SELECT coalesce(max(number), 0) FROM requests"
_PUT = insert_rows("requests", COLUMNS)
_NEWEST = "ORDER BY time DESC, number DESC LIMIT :limit"
# `time <=` repeats the next condition in a form that the index can serve.
_BEHIND = "time <= :time AND (time, number) < (:time, :number)"
_ONE = f"SELECT {COLUMNS} FROM requests WHERE {TENANT} AND time = :time AND id = :id"
_SUMS = """
        CAST(coalesce(sum(CASE WHEN posted_tokens > 0 THEN posted_tokens END), 0) AS bigint),
        CAST(coalesce(sum(CASE WHEN sent_tokens > 0 THEN sent_tokens END), 0) AS bigint),
        CAST(coalesce(sum(saved_tokens), 0) AS bigint)
    FROM requests"""
_TOTALS = f"""
    SELECT count(*), coalesce(sum(CASE
            WHEN length(epoch) > 0 OR sent_tokens BETWEEN 0 AND posted_tokens - 1
            THEN 1 ELSE 0 END), 0), {_SUMS}"""
_SPAN = f"""
    SELECT state, count(*), {_SUMS}
    WHERE {TENANT} AND time >= :since AND time < :until AND state NOT IN ('', 'off')
    GROUP BY state"""
_PREVIOUS = f"""
    SELECT {COLUMNS} FROM requests
    WHERE {TENANT} AND address IN :ids[bytes] AND length(address) > 0 AND {{model}}
        AND (status BETWEEN 200 AND 299 OR status = {CLIENT_GONE} AND first_token_ms >= 0)
    {_NEWEST}"""
# Follows each address forward to the ends of its conversation.
_TITLES = f"""
    WITH RECURSIVE behind(start, tenant, address) AS (
        SELECT address, tenant, address FROM addresses
        WHERE {TENANT} AND address IN :ids[bytes]
        UNION
        SELECT behind.start, later.tenant, later.address FROM behind CROSS JOIN addresses AS later
        WHERE later.tenant = behind.tenant AND later.previous = behind.address
    ) SELECT start, CASE WHEN own_title <> '' THEN own_title ELSE title END
    FROM behind CROSS JOIN conversations AS ended
    WHERE ended.tenant = behind.tenant AND ended.address = behind.address
    ORDER BY used"""
_COMPARED = {
    "state": "state = :state",
    "client": "client = :client",
    "wrap_run": "wrap_run = :wrap_run",
    "since": "time >= :since",
    "until": "time < :until",
    "addresses": "address IN :addresses[bytes] AND length(address) > 0",
    "conversation": f"""conversation IN (
        SELECT conversation FROM requests
        WHERE {TENANT} AND address = :conversation AND length(address) > 0)""",
}
_OLDEST = "SELECT time FROM requests ORDER BY number LIMIT 1"
_COUNT = "SELECT count(*) FROM requests"
_DROP_OLD = "DELETE FROM requests WHERE time < :time"
_DROP_MOST = """
    DELETE FROM requests WHERE number IN (
        SELECT number FROM requests ORDER BY number LIMIT :surplus)"""
_FIRST_OVER = f"""
    SELECT time, number FROM requests WHERE {TENANT}
    ORDER BY time DESC, number DESC LIMIT 1 OFFSET :most"""
_DROP_OVER = f"""
    DELETE FROM requests
    WHERE {TENANT} AND time <= :time AND (time, number) <= (:time, :number)"""
_TENANTS = """
    SELECT name FROM tenants
    WHERE EXISTS (SELECT 1 FROM requests WHERE tenant = tenants.number) ORDER BY name"""


async def add_requests(sql: Sql, rows: Mapping[str, Sequence[RequestRow]], now: float) -> int:
    """Add rows by tenant. Takes the tenants' locks first, in order, since a deletion of a tenant
    holds its lock."""
    for tenant in sorted(rows):
        await begin(sql, tenant)
    await sql.lock_name(_LOCK)
    number = max(await last_request(sql), int(now * 1e6))
    for tenant, added in rows.items():
        known = await sql.fetch(NUMBER, {"tenant": tenant})
        owner = await tenant_number(sql, tenant, known)
        numbered = [(number + place, *row[1:]) for place, row in enumerate(added, 1)]
        number += len(numbered)
        await sql.put(_PUT, {"number": owner}, numbered)
    return number


async def last_request(sql: Sql) -> int:
    return int((await sql.fetch(_LAST, {}))[0][0])


async def requests(
    sql: Sql,
    tenant: str,
    limit: int,
    where: RequestFilter = ALL,
    before: RequestPlace | None = None,
) -> list[RequestRow]:
    conditions, values = _conditions(tenant, where)
    if before is not None:
        conditions, values = f"{conditions} AND {_BEHIND}", {**values, **before._asdict()}
    query = f"SELECT {COLUMNS} FROM requests WHERE {conditions} {_NEWEST}"
    return await _rows(sql, query, {**values, "limit": limit})


async def request_totals(sql: Sql, tenant: str, where: RequestFilter = ALL) -> RequestTotals:
    conditions, values = _conditions(tenant, where)
    query = f"{_TOTALS} WHERE {conditions}"
    # Malformed ids match nothing, and SQLite sends no statement for them.
    rows = await sql.fetch(query, values)
    return RequestTotals(*map(int, rows[0])) if rows else RequestTotals()


async def span_sums(
    sql: Sql, tenant: str, spans: Sequence[tuple[float, float]]
) -> list[list[StateSums]]:
    if not spans:
        return []
    results = await sql.many_each(
        *(("", _SPAN, {"tenant": tenant, "since": since, "until": until}) for since, until in spans)
    )
    return [[StateSums(row[0], *map(int, row[1:])) for row in rows] for rows in results]


async def request(sql: Sql, tenant: str, id_: str) -> RequestRow | None:
    if (time := time_of(id_)) is None:
        return None
    return next(iter(await _rows(sql, _ONE, {"tenant": tenant, "time": time, "id": id_})), None)


async def requests_after(
    sql: Sql, tenant: str, number: int, limit: int, where: RequestFilter = ALL
) -> list[RequestRow]:
    conditions, values = _conditions(tenant, where)
    query = f"""
        SELECT {COLUMNS} FROM requests WHERE number > :after AND {conditions}
        ORDER BY number LIMIT :limit"""
    return await _rows(sql, query, {**values, "after": number, "limit": limit})


async def previous_request(
    sql: Sql, tenant: str, model: str | None, addresses: Sequence[bytes]
) -> RequestRow | None:
    if not addresses:
        return None
    values = {"tenant": tenant, "ids": Ids(addresses), "limit": 1}
    with_model = {} if model is None else {"model": model}
    query = _PREVIOUS.format(model="model = :model" if with_model else "true")
    rows = await _rows(sql, query, {**values, **with_model})
    return rows[0] if rows else None


async def titles(sql: Sql, tenant: str, addresses: Sequence[bytes]) -> dict[bytes, str]:
    if not addresses:
        return {}
    rows = await sql.many("ht", _TITLES, {"tenant": tenant, "ids": Ids(addresses)})
    return {address: title for address, title in rows if title}


async def stale(sql: Sql, now: float) -> bool:
    """Return True if whole days of rows are too old."""
    rows = await sql.fetch(_OLDEST, {})
    return bool(rows) and rows[0][0] < _oldest(now)


async def drop_old(sql: Sql, now: float) -> int:
    return await sql.count(_DROP_OLD, {"time": _oldest(now)})


async def surplus(sql: Sql, most: int) -> int:
    """Return how many rows the store has beyond `most`."""
    ((count,),) = await sql.fetch(_COUNT, {})
    return max(0, int(count) - most)


async def drop_surplus(sql: Sql, most: int) -> int:
    return await sql.count(_DROP_MOST, {"surplus": await surplus(sql, most)})


async def first_over(sql: Sql, tenant: str, most: int) -> RequestPlace | None:
    """Return the newest of the tenant's rows beyond the `most` that it may have; None if there are
    none."""
    rows = await sql.fetch(_FIRST_OVER, {"tenant": tenant, "most": most})
    return RequestPlace(*rows[0]) if rows else None


async def drop_from(sql: Sql, tenant: str, place: RequestPlace) -> int:
    return await sql.count(_DROP_OVER, {"tenant": tenant, **place._asdict()})


async def logged_tenants(sql: Sql) -> list[str]:
    return [name for (name,) in await sql.fetch(_TENANTS, {})]


def _oldest(now: float) -> float:
    """Return the time before which rows are dropped; whole days at once."""
    return float((day_of(now) - LOG_DAYS) * DAY)


def _conditions(tenant: str, where: RequestFilter) -> tuple[str, dict[str, Any]]:
    conditions, values = [TENANT], dict[str, Any](tenant=tenant)
    for name, condition in _COMPARED.items():
        if (value := getattr(where, name)) is not None:
            conditions.append(condition)
            values[name] = Ids(value) if name == "addresses" else value
    return " AND ".join(conditions), values


async def _rows(sql: Sql, query: str, values: Mapping[str, Any]) -> list[RequestRow]:
    return [RequestRow(*row) for row in await sql.many(_KINDS, query, values)]


class Requests(SqlPart):
    """The port `RequestLog` over SQL."""

    requests = reading(requests)
    request_totals = reading(request_totals)
    span_sums = reading(span_sums)
    request = reading(request)
    requests_after = reading(requests_after)
    last_request = reading(last_request)
    logged_tenants = reading(logged_tenants)
    previous_request = reading(previous_request)
    titles = reading(titles)

    _add_requests = writing(add_requests)

    async def add_requests(self, rows: Mapping[str, Sequence[RequestRow]]) -> int:
        return await self._add_requests(rows, self.now())

    _any_old = reading(stale)
    _drop_old = writing(drop_old)
    _first_over = reading(first_over)
    _drop_from = writing(drop_from)
    _surplus = reading(surplus)
    _drop_surplus = writing(drop_surplus)

    async def trim_requests(
        self,
        now: float,
        tenants: Sequence[str] | None = None,
        *,
        tenant_rows: int = TENANT_ROWS,
        store_rows: int = STORE_ROWS,
    ) -> int:
        """Delete old and surplus rows: see `RequestLog.trim_requests`. Uses a transaction for each
        tenant, so that other writers get their turn in between, and none if there is nothing to
        do."""
        gone = 0
        if await self._any_old(now):
            gone += await self._drop_old(now)
        for tenant in await self.logged_tenants() if tenants is None else tenants:
            place = await self._first_over(tenant, tenant_rows)
            if place is not None:
                gone += await self._drop_from(tenant, place)
        if await self._surplus(store_rows):
            gone += await self._drop_surplus(store_rows)
        return gone

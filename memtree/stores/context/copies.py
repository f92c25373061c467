"""The port `Dump` over SQL: copy rows out of a store and into one, unchanged, of any table."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

from memtree.stores.context.tenants import NUMBER, TENANT, begin, tenant_number
from memtree.stores.dump import TABLES, Page, in_a_thread, pages
from memtree.stores.parts import SqlPart, keeping, reading
from memtree.stores.sql import Sql
from memtree.stores.table import Table

_COUNTS = ", ".join(f"(SELECT count(*) FROM {name})" for name in TABLES)
# A stopped copy left rows whose unique values have since moved to other rows of the source.
_GIVE_UP = """
    UPDATE memories SET unique_key = '' WHERE counted = 1 AND unique_key <> ''
        AND (scope, unique_key) IN (SELECT scope, unique_key FROM :rows({0}) WHERE counted = 1)
        AND (scope, unique_key, number) NOT IN (
            SELECT scope, unique_key, number FROM :rows({0}) WHERE counted = 1)"""
# Set the sequence, so that the next new scope gets an unused number. SQLite does so by itself.
_NUMBERED = """
    SELECT setval(pg_get_serial_sequence('memory_scopes', 'number'), max(number))
    FROM memory_scopes"""


async def counts(sql: Sql) -> dict[str, int]:
    ((*counted,),) = await sql.fetch(f"SELECT {_COUNTS}", {})
    return dict(zip(TABLES, counted, strict=True))


async def load(sql: Sql, page: Page) -> None:
    table = page.table
    columns = ", ".join(table.columns)
    values: dict[str, Any] = {}
    owner = number = ""
    if table.owned:
        await begin(sql, page.tenant)
        known = await sql.fetch(NUMBER, {"tenant": page.tenant})
        values["number"] = await tenant_number(sql, page.tenant, known)
        owner, number = "tenant, ", ":number, "
    if table.name == "memories":
        await sql.put(_GIVE_UP.format(columns), values, page.rows)
    put = f"INSERT INTO {table.name} ({owner}{columns}) SELECT {number}{columns}"
    put += f" FROM :rows({columns}) WHERE true {_conflict(table)}"
    places = [table.columns.index(name) for name in table.key]
    rows = sorted(page.rows, key=lambda row: [row[place] for place in places])
    await sql.put(put, values, rows)
    if table.name == "memory_scopes" and sql.dialect == "postgres":
        await sql.run(_NUMBERED, {})


async def missing(sql: Sql, page: Page) -> int:
    table = page.table
    same = " AND ".join(f"{name} = :{name}" for name in table.compared)
    mine = f"{TENANT.replace(':tenant', ':of')} AND " if table.owned else ""
    query = f"SELECT 1 FROM {table.name} WHERE {mine}{same}"
    owner = {"of": page.tenant} if table.owned else {}
    wanted = (zip(table.compared, table.compared_of(row), strict=True) for row in page.rows)
    queries = [("", query, {**owner, **dict(row)}) for row in wanted]
    return sum(not rows for rows in await sql.many_each(*queries))


def _conflict(table: Table) -> str:
    if not table.changes:
        return "ON CONFLICT DO NOTHING"
    key = ", ".join((*(("tenant",) if table.owned else ()), *table.key))
    changing = (name for name in table.columns if name not in table.key)
    new = ", ".join(f"{name} = excluded.{name}" for name in changing)
    return f"ON CONFLICT ({key}) DO UPDATE SET {new}"


class Copies(SqlPart):
    """The port `Dump` over SQL."""

    counts = reading(counts)
    missing = reading(missing)
    load = keeping(load)

    async def pages(self) -> AsyncGenerator[Page, None]:
        await self.database.reach()
        async with aclosing(in_a_thread(self._pages)) as given:
            async for page in given:
                yield page

    def _pages(self) -> Iterator[Page]:
        with self.database.snapshot() as snapshot:
            yield from pages(snapshot)

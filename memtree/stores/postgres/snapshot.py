"""Copies out of a schema and into one, and their SQL: rows as they are, of any table."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from typing import Any

import psycopg

from memtree.stores.dump import TABLES, Page, Row, Table, in_a_thread, pages
from memtree.stores.postgres.dsn import Dsn
from memtree.stores.postgres.errors import fault, unreachable
from memtree.stores.postgres.locks import begin
from memtree.stores.postgres.pool import DURABLE, SETTINGS, UNLIMITED, PostgresPart, reading
from memtree.stores.postgres.queries import NUMBER, Blobs, Connection, ask, rows, tenant_number

_ARRAYS = {
    bytes: "bytea[]",
    str: "text[]",
    int: "bigint[]",
    float: "double precision[]",
}
FETCHED = 1000  # rows of one round trip
_COUNTS = ", ".join(f"(SELECT count(*) FROM {name})" for name in TABLES)

# What a copy that was stopped brought has unique values that another one has had since.
_GIVE_UP = """
    UPDATE memories SET unique_key = '' FROM {}
    WHERE memories.scope = page.scope AND memories.unique_key = page.unique_key
        AND memories.counted = 1 AND memories.unique_key <> ''
        AND page.counted = 1 AND memories.number <> page.number"""
_NUMBERED = """
    SELECT setval(pg_get_serial_sequence('memory_scopes', 'number'), max(number))
    FROM memory_scopes"""


async def counts(db: Connection) -> dict[str, int]:
    ((*counted,),) = await rows(db, f"SELECT {_COUNTS}")
    return dict(zip(TABLES, counted, strict=True))


async def load(db: Connection, page: Page) -> None:
    table, values = page.table, _values(page)
    owner, number = "", ""
    await db.execute(DURABLE)
    if table.owned:
        await begin(db, page.tenant)
        known = await ask(db, NUMBER, tenant=page.tenant)
        values["number"] = await tenant_number(db, page.tenant, known)
        owner, number = "tenant, ", "%(number)s, "
    columns = ", ".join(table.columns)
    if table.name == "memories":
        await db.execute(_GIVE_UP.format(_unnest(page)), values)
    await db.execute(
        f"INSERT INTO {table.name} ({owner}{columns}) SELECT {number}{columns}"
        f" FROM {_unnest(page)} ORDER BY {', '.join(table.key)} {_conflict(table)}",
        values,
    )
    if table.name == "memory_scopes":  # the next one gets a number of its own
        await db.execute(_NUMBERED)


async def missing(db: Connection, page: Page) -> int:
    table = page.table
    same = " AND ".join(f"{table.name}.{name} = page.{name}" for name in table.compared)
    if table.owned:
        same += (
            f" AND {table.name}.tenant = (SELECT number FROM tenants WHERE name = %(page_tenant)s)"
        )
    ((count,),) = await rows(
        db,
        f"SELECT count(*) FROM {_unnest(page)}"
        f" WHERE NOT EXISTS (SELECT 1 FROM {table.name} WHERE {same})",
        **_values(page),
        page_tenant=page.tenant,
    )
    return int(count)


def _conflict(table: Table) -> str:
    changing = [name for name in table.columns if name not in table.key]
    if not table.changes:
        return "ON CONFLICT DO NOTHING"
    key = ", ".join((*(("tenant",) if table.owned else ()), *table.key))
    new = ", ".join(f"{name} = excluded.{name}" for name in changing)
    return f"ON CONFLICT ({key}) DO UPDATE SET {new}"


def _unnest(page: Page) -> str:
    columns = page.table.columns
    first = page.rows[0]
    arrays = (f"%({name})s::{_ARRAYS[type(of)]}" for name, of in zip(columns, first, strict=True))
    return f"unnest({', '.join(arrays)}) AS page({', '.join(columns)})"


def _values(page: Page) -> dict[str, Any]:
    every = zip(page.table.columns, zip(*page.rows, strict=True), strict=True)
    return {
        name: Blobs(column) if isinstance(column[0], bytes) else list(column)
        for name, column in every
    }


class PostgresSnapshot:
    def __init__(self, db: psycopg.Connection) -> None:
        self._db = db

    def tenants(self) -> list[str]:
        return [name for (name,) in self._db.execute("SELECT name FROM tenants ORDER BY name")]

    def rows(self, table: Table, tenant: str) -> Iterator[Row]:
        mine = " WHERE tenant = (SELECT number FROM tenants WHERE name = %s)" if table.owned else ""
        query = (
            f"SELECT {', '.join(table.columns)} FROM {table.name}{mine}"
            f" ORDER BY {', '.join(table.sorted_by)}"
        )
        with self._db.cursor(name=f"rows_of_{table.name}") as cursor:
            cursor.itersize = FETCHED
            yield from cursor.execute(query, (tenant,) if table.owned else None, binary=True)


@contextmanager
def one_state(dsn: Dsn) -> Iterator[PostgresSnapshot]:
    """A connection of its own, in the calling thread. The errors are the store's."""
    seconds = max(2, round(dsn.seconds))
    try:
        db = psycopg.connect(dsn.conninfo, autocommit=True, connect_timeout=seconds)
    except psycopg.Error as error:
        raise unreachable(error, dsn.shown) from error
    with db:
        try:
            db.execute(SETTINGS.format(schema=dsn.schema))
            db.execute(UNLIMITED)
            db.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            db.read_only = True
            with db.transaction():
                yield PostgresSnapshot(db)
        except psycopg.Error as error:
            raise fault(error, dsn.shown) from error


class PostgresCopies(PostgresPart):
    """`Dump`."""

    counts = reading(counts)
    missing = reading(missing)

    async def load(self, page: Page) -> None:
        await self.database.hurry(lambda db: load(db, page))

    async def pages(self) -> AsyncGenerator[Page, None]:
        await self.database.reach()
        async with aclosing(in_a_thread(self._pages)) as given:
            async for page in given:
                yield page

    def _pages(self) -> Iterator[Page]:
        with one_state(self.database.dsn) as snapshot:
            yield from pages(snapshot)

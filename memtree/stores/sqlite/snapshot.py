"""Copies out of a SQLite file and into one, and their SQL: rows as they are, of any table."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

from memtree.stores.dump import TABLES, Page, Row, Table, in_a_thread, pages
from memtree.stores.sqlite.bulk import insert
from memtree.stores.sqlite.database import TENANT, SqlitePart, reading, writing
from memtree.stores.sqlite.trees import tenant_number

_COUNTS = ", ".join(f"(SELECT count(*) FROM {name})" for name in TABLES)


class SqliteSnapshot:
    """One state of the file: `db` is in a transaction from here on."""

    def __init__(self, db: sqlite3.Connection) -> None:
        db.execute("BEGIN")
        self._db = db

    def tenants(self) -> list[str]:
        names = self._db.execute("SELECT name FROM tenants ORDER BY name").fetchall()
        return [name for (name,) in names]

    def rows(self, table: Table, tenant: str) -> Iterator[Row]:
        return self._db.execute(
            f"SELECT {', '.join(table.columns)} FROM {table.name}"
            f"{f' WHERE {TENANT}' if table.owned else ''} ORDER BY {', '.join(table.sorted_by)}",
            (tenant,) if table.owned else (),
        )

    def damage(self) -> list[str]:
        """What SQLite's own check finds."""
        lines = [line for (line,) in self._db.execute("PRAGMA integrity_check")]
        return [f"sqlite: {line}" for line in lines if line != "ok"]


def counts(db: sqlite3.Connection) -> dict[str, int]:
    return dict(zip(TABLES, db.execute(f"SELECT {_COUNTS}").fetchone(), strict=True))


def load(db: sqlite3.Connection, page: Page) -> None:
    owner = (tenant_number(db, page.tenant),) if page.table.owned else ()
    columns = ("tenant",) * len(owner) + page.table.columns
    how = "REPLACE" if page.table.changes else "IGNORE"
    head = f"INSERT OR {how} INTO {page.table.name} ({', '.join(columns)})"
    insert(db, head, [(*owner, *row) for row in page.rows])


def missing(db: sqlite3.Connection, page: Page) -> int:
    table = page.table
    same = " AND ".join(f"{name} = ?" for name in table.compared)
    mine = f"{TENANT} AND " if table.owned else ""
    query = f"SELECT 1 FROM {table.name} WHERE {mine}{same}"
    owner = (page.tenant,) if table.owned else ()
    asked = ((*owner, *table.compared_of(row)) for row in page.rows)
    return sum(db.execute(query, values).fetchone() is None for values in asked)


class SqliteCopies(SqlitePart):
    """`Dump`."""

    counts = reading(counts)
    load = writing(load)
    missing = reading(missing)

    async def pages(self) -> AsyncGenerator[Page, None]:
        self.database.require_open()
        async with aclosing(in_a_thread(self._pages)) as given:
            async for page in given:
                yield page

    def _pages(self) -> Iterator[Page]:
        with self.database.snapshot() as db:
            yield from pages(SqliteSnapshot(db))

"""One state of a schema, for copies and for its check."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from memtree.stores.dump import Row, Table
from memtree.stores.postgres.dsn import Dsn
from memtree.stores.postgres.errors import fault, unreachable
from memtree.stores.postgres.pool import SETTINGS, UNLIMITED

FETCHED = 1000  # rows of one round trip


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

    def damage(self) -> list[str]:
        return []


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

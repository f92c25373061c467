"""`PostgresStore`: a store in one schema of a PostgreSQL database."""

from __future__ import annotations

import time
from collections.abc import Callable

from memtree.stores.context.store import SqlStore
from memtree.stores.postgres.database import PostgresDatabase
from memtree.stores.postgres.dsn import read_dsn


class PostgresStore(SqlStore):
    """`BadRequest` for an address that cannot be read. A server that cannot be reached is no reason
    not to begin: every method raises `StoreUnavailable` at once while that is so, and works again
    within a second of the server's return. Nothing is sent before the first call."""

    database: PostgresDatabase

    def __init__(
        self, url: str, shown: str = "postgresql", *, now: Callable[[], float] = time.time
    ) -> None:
        super().__init__(PostgresDatabase(read_dsn(url, shown)), now)

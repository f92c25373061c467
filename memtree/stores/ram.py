"""`RamStore`: a SQLite store without a file, gone with the process.

For tests, and for commands that work on one history and keep nothing. It differs from a file in its
connection only, which runs in the calling thread, since nothing waits for a disk.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from threading import RLock
from typing import TypeVar

from memtree.errors import StoreUnavailable
from memtree.stores.sqlite.connection import Call, fault
from memtree.stores.sqlite.creation import create_tables
from memtree.stores.sqlite.database import SqliteDatabase, SqliteSnapshot, SqliteStore

T = TypeVar("T")
_PLACE = ":memory:"


@cache
def _empty() -> bytes:
    """Return an empty database with its tables. Stores copy it, since creating the tables takes 10
    ms."""
    with closing(sqlite3.connect(_PLACE, isolation_level=None)) as db:
        create_tables(db)
        return db.serialize()


def _opened() -> sqlite3.Connection:
    """Open a database with all tables. Copies them page by page, because a deserialized database
    cannot grow."""
    db = sqlite3.connect(_PLACE, isolation_level=None, check_same_thread=False)
    with closing(sqlite3.connect(_PLACE)) as empty:
        empty.deserialize(_empty())
        empty.backup(db)
    return db


class RamDatabase(SqliteDatabase):
    """One connection for reading and writing. The lock keeps a snapshot, which another thread may
    take, from running inside a transaction."""

    def __init__(self) -> None:
        self.connection = _opened()
        self._lock = RLock()
        self._closed = False

    async def call_reader(self, call: Call[T]) -> T:
        await self.reach()
        with self._lock:
            try:
                return call(self.connection)
            except sqlite3.Error as error:
                raise fault(error, Path(_PLACE)) from error

    call_writer = call_reader

    @contextmanager
    def snapshot(self) -> Iterator[SqliteSnapshot]:
        with closing(sqlite3.connect(_PLACE, isolation_level=None)) as copy:
            with self._lock:
                self.connection.backup(copy)
            yield SqliteSnapshot(copy)

    async def reach(self) -> None:
        if self._closed:
            raise StoreUnavailable("The store is closed.")

    async def bytes(self) -> int:
        return 0

    async def close(self) -> None:
        self._closed = True
        self.connection.close()


class RamStore(SqliteStore):
    """All ports of a store. `database` may be shared with other ports."""

    database: RamDatabase

    def __init__(self, *, now: Callable[[], float] = time.time) -> None:
        self.database = RamDatabase()
        self.now = now

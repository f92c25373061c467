"""A SQLite file as the ports share it: one connection that reads and one that writes.

Each port has a class on `SqlitePart` beside its SQL (`trees`, `plans`, ...). A port that keeps its
rows in the same file takes the same `SqliteDatabase`, so a process never has more than two
connections to a file, and writes of one process queue up instead of meeting the file's lock.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from memtree.stores.sqlite.connection import ConnectionThread, Work, connect, create, fault

T = TypeVar("T")
P = ParamSpec("P")

TENANT = "tenant = (SELECT number FROM tenants WHERE name = ?)"  # of rows
BUSY_TIMEOUT = 5.0  # seconds that a writer waits for another process


class SqliteDatabase:
    """Raises `StoreUnavailable` or `StoreCorrupt` at once if the file cannot be used, and again
    from any method while that is so."""

    def __init__(self, path: Path, busy_timeout: float = BUSY_TIMEOUT) -> None:
        create(path)
        self.path = path
        self.busy_timeout = busy_timeout
        self.writer = ConnectionThread(path, busy_timeout, writes=True)
        self._reader = ConnectionThread(path, busy_timeout, writes=False)
        self.writer.open()

    async def read(self, work: Work[T]) -> T:
        """`work` in the reader's thread; in WAL mode it does not wait for writers."""
        return await self._reader.run(work)

    async def write(self, work: Work[T]) -> T:
        """`work` in the writer's thread, in a transaction of its own: all of it or nothing."""
        return await self.writer.run(work)

    async def write_bare(self, work: Work[T]) -> T:
        """The same without a transaction, for what no transaction may hold, such as VACUUM."""
        return await self.writer.run_bare(work)

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own, in the calling thread. The errors are the store's."""
        try:
            with closing(connect(self.path, self.busy_timeout, writes=False)) as db:
                yield db
        except sqlite3.Error as error:
            raise fault(error, self.path) from error

    def require_open(self) -> None:
        self._reader.require_open()

    def bytes(self) -> int:
        """Size on disk, with the WAL file."""
        files = (self.path, Path(f"{self.path}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    async def close(self) -> None:
        await self._reader.close()
        await self.writer.close()  # last: a connection that may write tidies up the WAL file


class SqlitePart:
    """Base of the classes that implement ports: they share the database and the clock."""

    def __init__(self, database: SqliteDatabase, now: Callable[[], float] = time.time) -> None:
        self.database = database
        self.now = now


def reading(
    work: Callable[Concatenate[sqlite3.Connection, P], T],
) -> Callable[Concatenate[SqlitePart, P], Coroutine[Any, Any, T]]:
    """The method of a port that runs `work(db, ...)` on the connection that reads."""

    @wraps(work)
    async def method(self: SqlitePart, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.database.read(lambda db: work(db, *args, **kwargs))

    return method


def writing(
    work: Callable[Concatenate[sqlite3.Connection, P], T],
) -> Callable[Concatenate[SqlitePart, P], Coroutine[Any, Any, T]]:
    """The same on the connection that writes, in a transaction."""

    @wraps(work)
    async def method(self: SqlitePart, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.database.write(lambda db: work(db, *args, **kwargs))

    return method

"""A SQLite file, shared by the ports: one connection that reads and one that writes.

A process never has more than two connections to a file, and writes of one process queue up instead
of meeting the file's lock.
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
from memtree.process.circuit_breaker import CircuitBreaker
from memtree.stores.context.sql_store import SqlStore
from memtree.stores.context.tenants import TENANT
from memtree.stores.sql import Row, Table, Work, finish
from memtree.stores.sqlite.sqlite_connection import (
    Call,
    ConnectionThread,
    connect,
    create,
    create_tables,
    fault,
)
from memtree.stores.sqlite.sqlite_sql import SqliteSql

T = TypeVar("T")
BUSY_TIMEOUT = 3.0  # seconds that a call waits for another process; a chat may wait for one call
SWEEP_BYTES = 64 << 20  # a file up to this size is written anew in less than a second
_PLACE = ":memory:"


class SqliteSnapshot:
    """One state of the file: `db` stays in a transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        db.execute("BEGIN")
        self._db = db

    def tenants(self) -> list[str]:
        names = self._db.execute("SELECT name FROM tenants ORDER BY name").fetchall()
        return [name for (name,) in names]

    def rows(self, table: Table, tenant: str) -> Iterator[Row]:
        return self._db.execute(
            f"SELECT {', '.join(table.columns)} FROM {table.name}"
            f"{f' WHERE {TENANT}' if table.owned else ''} ORDER BY {table.sorted_by}",
            {"tenant": tenant},
        )

    def damage(self) -> list[str]:
        """Run SQLite's own check."""
        lines = [line for (line,) in self._db.execute("PRAGMA integrity_check")]
        return [f"sqlite: {line}" for line in lines if line != "ok"]


class SqliteDatabase:
    """`Database` over a SQLite file. Opening raises at once if the file cannot be used, and so does
    any method later. In WAL mode the reader's thread does not wait for writers."""

    def __init__(self, path: Path, busy_timeout: float = BUSY_TIMEOUT) -> None:
        create(path)
        self.path = path
        self.busy_timeout = busy_timeout
        circuit = CircuitBreaker.of_store()
        self.writer = ConnectionThread(path, busy_timeout, writes=True, circuit=circuit)
        # Nobody can write a file that nobody can read.
        self._reader = ConnectionThread(
            path, busy_timeout, writes=False, circuit=CircuitBreaker.of_store(), others=(circuit,)
        )
        self.writer.open()

    async def read(self, work: Work[T], *, patient: bool = False) -> T:
        return await self.call_reader(
            lambda db: transaction(db, work, "BEGIN", undo=True), patient=patient
        )

    read_state = read

    async def write(self, work: Work[T], *, durable: bool = False, undo: bool = False) -> T:
        return await self.call_writer(lambda db: transaction(db, work, undo=undo), patient=durable)

    async def scrub(self, *, at_once: bool) -> None:
        """Clear deleted bytes out of the file. In a large file copies of ids and vectors stay in
        unused pages until the next deletion, since clearing them holds up every writer. Raises
        `StoreUnavailable` if another process reads the file; a later forget or sweep finishes the
        work."""
        wanted = at_once or await self.bytes() <= SWEEP_BYTES
        cleared = not (wanted and await self.call_reader(unscrubbed))
        if not cleared and not await self.call_writer(scrub, patient=True):
            # Raised here: that somebody reads is no outage, after which writes would be refused.
            raise StoreUnavailable(
                "It is deleted, but its bytes are still in the store's files: another process is "
                "reading them; the next deletion or sweep clears them."
            )

    async def bytes(self) -> int:
        """Return the size of the file, with the WAL file."""
        files = (self.path, Path(f"{self.path}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    async def reach(self) -> None:
        self._reader.require_open()

    @contextmanager
    def snapshot(self) -> Iterator[SqliteSnapshot]:
        try:
            with closing(connect(self.path, self.busy_timeout, writes=False)) as db:
                yield SqliteSnapshot(db)
        except sqlite3.Error as error:
            raise fault(error, self.path) from error

    async def close(self) -> None:
        await self._reader.close()
        await self.writer.close()  # last: a connection that may write tidies up the WAL file

    async def call_reader(self, call: Call[T], *, patient: bool = False) -> T:
        """Run `call` whole in the reader's thread."""
        return await self._reader.run(call, patient=patient)

    async def call_writer(self, call: Call[T], *, patient: bool = False) -> T:
        """Run `call` whole in the writer's thread."""
        return await self.writer.run(call, patient=patient)


def transaction(
    db: sqlite3.Connection, work: Work[T], begin: str = "BEGIN IMMEDIATE", *, undo: bool = False
) -> T:
    """Run all of `work`, or nothing. `undo`: roll back even if it succeeded."""
    db.execute(begin)
    try:
        result = finish(work(SqliteSql(db)))
        db.execute("ROLLBACK" if undo else "COMMIT")
        return result
    finally:
        if db.in_transaction:  # `work` or COMMIT failed; some failures have rolled back already
            db.execute("ROLLBACK")


def unscrubbed(db: sqlite3.Connection) -> bool:
    """Return True if bytes of a deletion may still be in the file, also that of a killed
    process."""
    return db.execute("SELECT 1 FROM deletions LIMIT 1").fetchone() is not None


def scrub(db: sqlite3.Connection) -> bool:
    """Rewrite the file without deleted rows, and return False if another process still reads them;
    must run outside a transaction.

    `secure_delete` alone is not enough: it clears a row where it stands, but a page that SQLite
    rebuilt when it moved rows keeps older copies of them in its unused part. Measured over nine
    stores of 3,000 nodes, of which 1,600 were deleted: in eight of them 1 to 8 ids, addresses or
    vectors could still be found. VACUUM leaves none, and takes 13 ms per MB of the whole file.
    """
    (newest,) = db.execute("SELECT max(number) FROM deletions").fetchone()
    if newest is None:
        return True
    db.execute("VACUUM")
    # This waits for readers of older states, up to the busy timeout.
    (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if not busy:
        db.execute("DELETE FROM deletions WHERE number <= ?", (newest,))
    return not busy


class SqliteStore(SqlStore):
    """A store in one file: the default, with nothing to install.

    Reads and writes have a thread and a connection each, so neither blocks the event loop. Any
    number of processes may use the file. Holds neither message text nor credentials.
    """

    database: SqliteDatabase

    def __init__(
        self,
        path: Path,
        *,
        busy_timeout: float = BUSY_TIMEOUT,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(SqliteDatabase(path, busy_timeout), now)


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

    async def call_reader(self, call: Call[T], *, patient: bool = False) -> T:
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
    """A store without a file, gone with the process: for tests, and for commands that work on one
    history and keep nothing. Its connection runs in the calling thread, since nothing waits for a
    disk."""

    database: RamDatabase

    def __init__(self, *, now: Callable[[], float] = time.time) -> None:
        self.database = RamDatabase()
        self.now = now

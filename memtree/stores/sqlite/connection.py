"""A SQLite file seen from asyncio: opening it, a thread for each connection, and its errors as
messages.

A `ConnectionThread` is one connection and the one thread that uses it. A call is one function that
runs whole in that thread; if its caller is cancelled, the function still ends its transaction.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from memtree.errors import MemTreeError, StoreCorrupt, StoreUnavailable
from memtree.stores.rows import ADVICE
from memtree.stores.schema import PART, SQLITE, VERSION, check_version, statements

_SQLITE_ALONE = (
    "CREATE INDEX inner_nodes ON nodes (level) WHERE level > 0",  # for `stats`
    "CREATE INDEX turns_at_addresses ON turns (tenant, address)",
    "CREATE TABLE schema_version (part TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID",
)
T = TypeVar("T")
Call = Callable[[sqlite3.Connection], T]
PAGE_BYTES = 8192  # nodes are 0.5-4 kB: 13 % less space and half the writing time of 4096
WAL_BYTES = 16 << 20  # size to which the WAL file is cut after a long read let it grow
_FAULTS = {
    sqlite3.SQLITE_BUSY: "is locked by another process; see which one writes to it",
    sqlite3.SQLITE_LOCKED: "is locked by another connection",
    sqlite3.SQLITE_FULL: "cannot grow: the disk is full; make room",
    sqlite3.SQLITE_READONLY: "is read-only; allow this user to write the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; see that its folder exists and is writable",
    sqlite3.SQLITE_PERM: "may not be used by this user",
    sqlite3.SQLITE_IOERR: "cannot be read or written; see the disk",
}
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_PASSING = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL)


def create_tables(db: sqlite3.Connection) -> None:
    """Create the tables of a new file, all or nothing; two processes may try it at once.

    Raises `StoreUnavailable` if the file has another schema, or belongs to another program.
    """
    if _has_tables(db):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        if not _has_tables(db):  # another process may have created them meanwhile
            for statement in (*statements(SQLITE), *_SQLITE_ALONE):
                db.execute(statement)
            db.execute("INSERT INTO schema_version VALUES (?, ?)", (PART, VERSION))
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _has_tables(db: sqlite3.Connection) -> bool:
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return False
    if "schema_version" not in tables:
        raise StoreUnavailable("it is the database of another program; name another file")
    row = db.execute("SELECT version FROM schema_version WHERE part = ?", (PART,)).fetchone()
    check_version(int(row[0]) if row else 0)
    return True


def fault(error: sqlite3.Error, path: Path) -> MemTreeError:
    """Make a `StoreUnavailable` or `StoreCorrupt` that says what the operator can do."""
    code = _code(error)
    if code in _CORRUPT:
        return StoreCorrupt(f"The store {path} is damaged or no SQLite file ({error}); {ADVICE}.")
    return StoreUnavailable(f"The store {path} {_FAULTS.get(code, 'failed')} ({error}).")


def _code(error: sqlite3.Error) -> int:
    """SQLite's primary result code; 0 where Python raised the error itself."""
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def create(path: Path) -> None:
    """Create the file (0600: summaries are private) and its folder (0700), unless they exist."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreUnavailable(
            f"The store {path} cannot be opened ({error.strerror}); name a file in a folder "
            "where this user may write, with --store (MEMTREE_STORE), or another folder for all "
            "data, with MEMTREE_HOME."
        ) from error


def connect(path: Path, busy_timeout: float, *, writes: bool) -> sqlite3.Connection:
    """Open a connection to an existing file, and create the tables in a new one. Raises the
    errors of the store."""
    db: sqlite3.Connection | None = None
    try:
        db = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=busy_timeout,
            isolation_level=None,
            check_same_thread=False,  # opened by the caller of `open`, then used by its thread
        )
        db.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        _use_wal(db, busy_timeout)
        db.execute("PRAGMA synchronous = NORMAL")  # after a power cut: work is lost, never order
        db.execute("PRAGMA secure_delete = ON")
        db.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
        create_tables(db)
        db.execute(f"PRAGMA query_only = {not writes:d}")
    except (sqlite3.Error, StoreUnavailable) as error:
        if db is not None:
            db.close()
        if isinstance(error, StoreUnavailable):
            raise StoreUnavailable(f"The store {path} cannot be used: {error.message}.") from error
        raise fault(error, path) from error
    return db


def _use_wal(db: sqlite3.Connection, busy_timeout: float) -> None:
    """Turn WAL mode on. Two processes that do so with a new file at once meet a lock for which
    SQLite does not wait, whatever the busy timeout."""
    deadline = time.monotonic() + busy_timeout
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


class ConnectionThread:
    """One connection and its thread. After an error it is ready for the next call."""

    def __init__(self, path: Path, busy_timeout: float, *, writes: bool) -> None:
        self._path = path
        self._busy_timeout = busy_timeout
        self._writes = writes
        self._thread = ThreadPoolExecutor(1, f"sqlite-{'writer' if writes else 'reader'}")
        self._db: sqlite3.Connection | None = None
        self._closed = False
        self._file = _identity(path)

    def open(self) -> None:
        """Connect now, in the calling thread, so that an unusable store is reported at start-up."""
        self._db = connect(self._path, self._busy_timeout, writes=self._writes)

    async def run(self, call: Call[T]) -> T:
        """Run `call` in this thread. It makes its own transactions."""
        self.require_open()
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._call, call)

    def require_open(self) -> None:
        if self._closed:
            raise StoreUnavailable(f"The store {self._path} is closed.")

    async def close(self) -> None:
        """Close after all calls made so far have ended."""
        if not self._closed:
            self._closed = True
            await asyncio.get_running_loop().run_in_executor(self._thread, self._drop)
            self._thread.shutdown(wait=False)

    def _call(self, call: Call[T]) -> T:
        try:
            return call(self._connection())
        except sqlite3.Error as error:
            if _code(error) not in _PASSING:
                self._drop()  # the next call reconnects
            raise fault(error, self._path) from error

    def _connection(self) -> sqlite3.Connection:
        # A file that was removed or replaced would swallow every write without an error. Opening
        # the new one while the reader still has the old one could mix their WAL files: so only
        # raise.
        if self._writes and _identity(self._path) != self._file:
            raise StoreUnavailable(
                f"The store {self._path} was moved or replaced while in use; "
                "put it back or restart."
            )
        if self._db is None:
            self.open()
        assert self._db is not None
        return self._db

    def _drop(self) -> None:
        if self._db is not None:
            with suppress(sqlite3.Error):
                self._db.close()
            self._db = None


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino

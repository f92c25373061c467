"""A SQLite file seen from asyncio: opening it, a thread for each connection, and its errors as
messages.

A `ConnectionThread` is one connection and the one thread that uses it. A call is one function that
runs whole in that thread; if its caller is cancelled, or gives it up, the function still ends its
transaction. After a call that met a lock, or an answer that did not come, others fail at once until
a probe gets through (`CircuitBreaker`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from memtree.errors import MemTreeError, StoreCorrupt, StoreUnavailable
from memtree.process.circuit_breaker import CircuitBreaker
from memtree.stores import machine_owner
from memtree.stores.schema import PART, SQLITE, VERSION, check_version, statements
from memtree.stores.sql import finish
from memtree.stores.sqlite.sqlite_sql import SqliteSql
from memtree.stores.stored_rows import ADVICE, is_outage

log = logging.getLogger("memtree.stores")

_SQLITE_ALONE = (
    "CREATE INDEX inner_nodes ON nodes (level) WHERE level > 0",  # for `stats`
    "CREATE INDEX turns_at_addresses ON turns (tenant, address)",
    "CREATE TABLE schema_version (part TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID",
)
T = TypeVar("T")
Call = Callable[[sqlite3.Connection], T]
PAGE_BYTES = 8192  # nodes are 0.5-4 kB: 13 % less space and half the writing time of 4096
WAL_BYTES = 16 << 20  # size to which the WAL file is cut after a long read let it grow
# A call has this many seconds, with those in line. They are counted one by one, so that a process
# which was stopped does not take its own pause for one of the store.
PATIENCE, TICK = 4, 1.0
PROBE = 0.25  # seconds that a probe, or a call that stood in line for long, waits for a lock
_LOG_COLUMNS = "PRAGMA table_info(requests)"
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
    parts = _parts(db)
    if machine_owner.PART in parts:
        return
    notice = ""
    db.execute("BEGIN IMMEDIATE")
    try:
        parts = _parts(db)  # another process may have created them meanwhile
        if not parts:
            for statement in (*statements(SQLITE), *_SQLITE_ALONE):
                db.execute(statement)
            db.execute("INSERT INTO schema_version VALUES (?, ?)", (PART, VERSION))
        elif "conversation" not in {name for _, name, *_ in db.execute(_LOG_COLUMNS)}:
            db.execute("ALTER TABLE requests ADD COLUMN conversation BLOB NOT NULL DEFAULT x''")
        if machine_owner.PART not in parts:
            notice = finish(machine_owner.move(SqliteSql(db)))
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
    if notice:
        log.warning("store.owner %s", notice)


def _parts(db: sqlite3.Connection) -> set[str]:
    """Return what the file records in `schema_version`; empty for a new file. Raises as
    `create_tables`."""
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return set()
    if "schema_version" not in tables:
        raise StoreUnavailable("it is the database of another program; name another file")
    parts = dict(db.execute("SELECT part, version FROM schema_version"))
    check_version(int(parts.get(PART, 0)))
    return set(parts)


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
    """One connection and its thread. After an error it is ready for the next call.

    `circuit`: of its calls. `others`: those that a failure of this thread opens, too.
    """

    def __init__(
        self,
        path: Path,
        busy_timeout: float,
        *,
        writes: bool,
        circuit: CircuitBreaker,
        others: Sequence[CircuitBreaker] = (),
    ) -> None:
        self._path = path
        self._busy_timeout = self._lock_seconds = busy_timeout
        self._writes = writes
        self.circuit, self._circuits = circuit, (circuit, *others)
        self._thread = ThreadPoolExecutor(1, f"sqlite-{'writer' if writes else 'reader'}")
        self._db: sqlite3.Connection | None = None
        self._running: Call[Any] | None = None
        # Calls whose callers wait: the call if it is patient, and how often it may be looked at.
        self.waiting: dict[asyncio.Future[Any], tuple[Call[Any] | None, int]] = {}
        self._watching: asyncio.AbstractEventLoop | None = None
        self._silent = f"The store {path} does not answer."
        self._closed = False
        self._file = _identity(path)

    def open(self) -> None:
        """Connect now, in the calling thread, so that an unusable store is reported at start-up."""
        self._db = connect(self._path, self._busy_timeout, writes=self._writes)
        self._lock_seconds = self._busy_timeout

    async def run(self, call: Call[T], *, patient: bool = False) -> T:
        """Run `call` in this thread. It makes its own transactions, and may be run twice.
        `patient`: wait for as long as it runs, but in line and for a lock no longer than others."""
        self.require_open()
        began = time.monotonic()
        probes = bool(self.circuit.reason)
        if probes and not self.circuit.due(began):
            raise StoreUnavailable(self.circuit.reason)
        loop = asyncio.get_running_loop()
        result = loop.run_in_executor(self._thread, self._call, call, began, probes)
        # The next look may come at once: so a probe has two.
        self.waiting[result] = (call if patient else None, 2 if probes else PATIENCE)
        if self._watching is not loop:
            self._watching = loop
            loop.call_later(TICK, self.look, loop)
        try:
            return await result
        except asyncio.CancelledError:
            if result in self.waiting:
                raise
            raise StoreUnavailable(self._silent) from None
        finally:
            self.waiting.pop(result, None)

    def look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Give up calls that have had their time. One that still stands in line will not be run."""
        for result, (patient, ticks) in list(self.waiting.items()):
            self.waiting[result] = patient, ticks - 1
            if ticks <= 1 and (patient is None or patient is not self._running):
                del self.waiting[result]
                result.cancel()
                self.failed(time.monotonic() - PATIENCE * TICK, self._silent)
        self._watching = loop if self.waiting else None
        if self._watching:
            loop.call_later(TICK, self.look, loop)

    def require_open(self) -> None:
        if self._closed:
            raise StoreUnavailable(f"The store {self._path} is closed.")

    async def close(self) -> None:
        """Close after all calls made so far have ended."""
        if not self._closed:
            self._closed = True
            await asyncio.get_running_loop().run_in_executor(self._thread, self._drop)
            self._thread.shutdown(wait=False)

    def _call(self, call: Call[T], began: float, probes: bool) -> T:
        start = time.monotonic()
        self._running = call
        if self.circuit.reason and not probes:  # one before it in line opened it
            raise StoreUnavailable(self.circuit.reason)
        try:
            result = self._result(call, start - began, probes)
        except MemTreeError as error:
            if is_outage(error, sqlite3.IntegrityError):
                self.failed(start, error.message)
            else:
                self.circuit.worked(time.monotonic())
            raise
        self.circuit.worked(time.monotonic())
        return result

    def _result(self, call: Call[T], stood: float, probes: bool) -> T:
        """Return the result of a call that stood in line for so many seconds."""
        try:
            db = self._connection()
            if probes or stood > PROBE or self._lock_seconds != self._busy_timeout:
                self._limit_locks(db, PROBE if probes else self._busy_timeout - stood)
            try:
                return call(db)
            except sqlite3.Error as error:
                self._make_room(db, error)
                return call(db)
        except sqlite3.Error as error:
            if _code(error) not in _PASSING:
                self._drop()  # the next call reconnects
            raise fault(error, self._path) from error

    def _make_room(self, db: sqlite3.Connection, error: sqlite3.Error) -> None:
        """Shorten the WAL file if the disk is full. Raises any other error."""
        if _code(error) != sqlite3.SQLITE_FULL or not self._writes:
            raise error
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def failed(self, began: float, message: str) -> None:
        for circuit in self._circuits:
            circuit.waited(began, time.monotonic(), message)

    def _limit_locks(self, db: sqlite3.Connection, seconds: float) -> None:
        """Set for how long the next statements wait for a lock of another process."""
        self._lock_seconds = max(seconds, min(PROBE, self._busy_timeout))
        db.execute(f"PRAGMA busy_timeout = {round(1000 * self._lock_seconds)}")

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

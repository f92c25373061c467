"""Connections of one process to one server, shared by the ports.

If the server is down, only one call at a time finds out: after a failed connection, calls fail at
once while a background task tries once a second. A hanging server is told from a slow one by a
simple query on a separate connection. After a call that waited in vain for a lock or an answer,
calls of its kind fail at once until a probe gets through (`CircuitBreaker`).

A call runs in a task of its own: if its caller is cancelled, the transaction still ends. The SQL
here is only about connections; callers pass their own as `Work`.
"""

from __future__ import annotations

import asyncio
import logging
import select
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from memtree.errors import MemTreeError, StoreCorrupt, StoreUnavailable
from memtree.process.circuit_breaker import CircuitBreaker
from memtree.stores.postgres.dsn import Dsn
from memtree.stores.postgres.postgres_sql import ADAPTERS, Connection
from memtree.stores.stored_rows import is_outage

# By SQLSTATE, or by its class (two characters).
_FAULTS = {
    "08": "lost the connection",
    "25006": "is read-only; name the primary server, not a standby",
    "28": "does not let this user in; see user and password",
    "3D000": "has no such database; create it",
    "3F000": "has no such schema; restart to create it",
    "40": "was busy with other writers; try again",
    "42501": "may not be used by this user; grant it the schema, or CREATE on the database",
    "42P01": "has lost its tables; restart to create them",
    "53100": "cannot grow: the disk is full; make room",
    "53300": "has no connection left; raise its max_connections or lower `connections`",
    "55P03": "is locked by another transaction",
    "57014": "took too long for a statement",
    "57P": "was stopped or restarted",
    "58": "cannot be read or written; see its disk and its log",
}
_CORRUPT = ("XX001", "XX002")  # codes for damaged tables and indexes
GONE = ("42P01", "3F000")  # the schema is missing: it may be created again
LOST = "The connection to the store {} was lost ({})."
log = logging.getLogger("memtree.stores")
T = TypeVar("T")
Work = Callable[[Connection], Awaitable[T]]
PATIENCE = 1.0  # seconds after which a call asks whether the server is still there
MAX_WAITS = 4  # of these, for a call that a chat may wait for
LONGEST = 30.0  # seconds for a statement; the deletion of a large tenant takes the longest
LOCK_SECONDS = 3.0
PROBE = "SET lock_timeout TO '250ms'"
# If this process itself was held up for so many seconds beyond the connection timeout, nobody knows
# whether the server answered: it is tried again, this often at most.
HELD_UP, ATTEMPTS = 0.1, 3
REST = 1.0  # seconds between two attempts to reach a server that is down
LIFETIME = 3_600.0  # seconds after which a connection is made anew: servers move, caches grow
# Commits are not flushed one by one: a crash of the server may lose the last fraction of a second,
# but never part of a transaction, as with SQLite's `synchronous = NORMAL`. Callers that need more
# ask for it.
SETTINGS = (
    'SET search_path TO "{schema}"; '
    "SET default_transaction_isolation TO 'read committed'; "
    "SET client_min_messages TO error; SET jit TO off; SET synchronous_commit TO off; "
    f"SET statement_timeout TO '{LONGEST:.0f}s'; SET lock_timeout TO '{LOCK_SECONDS:.0f}s'; "
    f"SET idle_in_transaction_session_timeout TO '{LONGEST:.0f}s'"
)
UNLIMITED = "SET statement_timeout TO 0; SET lock_timeout TO 0"


def fault(error: psycopg.Error, shown: str) -> MemTreeError:
    """Make a `StoreUnavailable` or `StoreCorrupt` that says what the operator can do. None
    contains a password: messages of the server and of libpq about a failed connection name host,
    port, user and database only."""
    state = error.sqlstate or ""
    said = _said(error)
    if state in _CORRUPT:
        return StoreCorrupt(f"The store {shown} is damaged ({said}); restore it from a backup.")
    for length in (5, 3, 2):
        if words := _FAULTS.get(state[:length]):
            return StoreUnavailable(f"The store {shown} {words} ({said}).")
    if not state and isinstance(error, psycopg.OperationalError):
        return StoreUnavailable(LOST.format(shown, said))
    return StoreUnavailable(f"The store {shown} failed ({type(error).__name__}: {said}).")


def unreachable(error: Exception, shown: str) -> StoreUnavailable:
    """Make the error of an attempt to connect."""
    said = _said(error) if isinstance(error, psycopg.Error) else "no answer in time"
    return StoreUnavailable(f"The store {shown} cannot be reached ({said}).")


def answered(error: Exception) -> bool:
    """Return True if a failed attempt to connect was answered by a server, so that one is
    running."""
    return isinstance(error, psycopg.Error) and ("FATAL:" in str(error) or bool(error.sqlstate))


def _said(error: psycopg.Error) -> str:
    """Return the first line of the error: further lines may quote a row."""
    primary = error.diag.message_primary
    return (primary or str(error) or type(error).__name__).strip().splitlines()[0].rstrip(".")


class Pool:
    """Pool of connections to one schema. `prepare` brings a new connection's schema up to date; it
    is called until it succeeds."""

    def __init__(self, dsn: Dsn, prepare: Work[None]) -> None:
        self.dsn = dsn
        self._prepare = prepare
        self._ready = False  # the schema is up to date
        self._idle: list[tuple[Connection, float]] = []  # with the time they were opened
        self._slots = asyncio.Semaphore(dsn.connections)
        self._preparing = asyncio.Lock()
        self.calls: set[asyncio.Task[Any]] = set()  # running calls
        self._reads, self.writes = CircuitBreaker.of_store(), CircuitBreaker.of_store()
        self._down: StoreUnavailable | None = None
        self._reviving: asyncio.Task[None] | None = None
        self._asking: asyncio.Task[bool] | None = None
        self._closed = False

    # -- calls -------------------------------------------------------------------------------

    async def run(
        self, work: Work[T], circuit: CircuitBreaker | None = None, *, patient: bool = False
    ) -> T:
        """Run `work` on a connection that commits each statement. `circuit`: that of reading if
        none is given. `patient`: wait as long as the server allows. Raises `StoreUnavailable` or
        `StoreCorrupt`."""
        self.require_open()
        if self._down and not self._idle:
            raise StoreUnavailable(self._down.message)
        circuit = circuit or self._reads
        began = time.monotonic()
        probes = not circuit.admits(began)
        if probes and not circuit.due(began):
            raise StoreUnavailable(circuit.reason)
        call = asyncio.ensure_future(self._call(work, circuit, probes=probes))
        self.calls.add(call)
        call.add_done_callback(self._ended)
        try:
            result = await self._outcome(call, patient=patient)
        except MemTreeError as error:
            if is_outage(error, psycopg.IntegrityError):
                # Nobody can write what nobody can read.
                for each in {circuit, self.writes}:
                    each.waited(began, time.monotonic(), error.message)
            else:
                circuit.worked(time.monotonic())
            raise
        circuit.worked(time.monotonic())
        return result

    async def _outcome(self, call: asyncio.Task[T], *, patient: bool) -> T:
        for waits in count(1):
            await asyncio.wait({call}, timeout=PATIENCE)
            if call.done() or not await self._answers() or (waits >= MAX_WAITS and not patient):
                break
        if call.done():
            return call.result()
        call.cancel()
        raise StoreUnavailable(f"The store {self.dsn.shown} does not answer.")

    async def reach(self) -> None:
        """Raise unless the schema is there and up to date."""
        await self.run(lambda db: db.execute("SELECT 1"))

    def require_open(self) -> None:
        if self._closed:
            raise StoreUnavailable(f"The store {self.dsn.shown} is closed.")

    @asynccontextmanager
    async def apart(self) -> AsyncIterator[Connection]:
        """Open a separate connection without time limits, for long work."""
        self.require_open()
        try:
            db = await self._connect()
            try:
                await db.execute(UNLIMITED)
                yield db
            finally:
                await db.close()
        except psycopg.Error as error:
            raise fault(error, self.dsn.shown) from error

    async def close(self) -> None:
        """Close after all calls made so far have ended."""
        self._closed = True
        for task in (self._reviving, self._asking):
            if task:
                task.cancel()
        waiting = [*self.calls, *(task for task in (self._reviving, self._asking) if task)]
        await asyncio.gather(*waiting, return_exceptions=True)
        await self._drop_idle()

    async def _call(self, work: Work[T], circuit: CircuitBreaker, *, probes: bool) -> T:
        async with self._slots:
            if not probes and not circuit.admits(time.monotonic()):  # one before it opened it
                raise StoreUnavailable(circuit.reason)
            db, born = await self._take()
            try:
                if probes:
                    born = -LIFETIME  # this connection serves no other call
                    await db.execute(PROBE)
                return await work(db)
            except psycopg.Error as error:
                if error.sqlstate in GONE:
                    self._ready = False
                raise fault(error, self.dsn.shown) from error
            finally:
                await self._give(db, born)

    def _ended(self, call: asyncio.Task[Any]) -> None:
        self.calls.discard(call)
        if not call.cancelled():
            call.exception()  # if the caller of a call is gone, nobody else retrieves its exception

    # -- connections -------------------------------------------------------------------------

    @property
    def idle(self) -> list[Connection]:
        """Return the connections that no call uses."""
        return [db for db, _ in self._idle]

    async def _take(self) -> tuple[Connection, float]:
        while self._idle:
            db, born = self._idle.pop()
            if time.monotonic() - born < LIFETIME and self._ready and _quiet(db):
                return db, born
            await db.close()
        return await self._connect(), time.monotonic()

    async def _give(self, db: Connection, born: float) -> None:
        if self._closed or db.info.transaction_status != TransactionStatus.IDLE:
            await db.close()
        else:
            self._idle.append((db, born))

    async def _connect(self) -> Connection:
        """Open a connection with our schema, up to date."""
        if self._down:
            raise StoreUnavailable(self._down.message)
        try:
            db = await self._reach()
        except (psycopg.Error, OSError, TimeoutError) as error:
            raise self._fell(unreachable(error, self.dsn.shown)) from error
        try:
            await self._settle(db)
        except BaseException:
            await db.close()
            raise
        return db

    async def _reach(self) -> Connection:
        """Open a connection. Raises `TimeoutError` if the server was given its full time and did
        not answer."""
        loop = asyncio.get_running_loop()
        for _ in range(ATTEMPTS - 1):
            late = loop.time() + self.dsn.seconds + HELD_UP
            try:
                return await self._reach_once()
            except TimeoutError:
                if loop.time() < late:
                    raise
        return await self._reach_once()

    async def _reach_once(self) -> Connection:
        async with asyncio.timeout(self.dsn.seconds):
            db = await psycopg.AsyncConnection.connect(
                self.dsn.conninfo, autocommit=True, context=ADAPTERS
            )
            try:
                await db.execute(SETTINGS.format(schema=self.dsn.schema))
            except BaseException:
                await db.close()
                raise
            return db

    async def _settle(self, db: Connection) -> None:
        if self._ready:
            return
        async with self._preparing:
            if not self._ready:
                try:
                    await self._prepare(db)
                except psycopg.Error as error:
                    raise fault(error, self.dsn.shown) from error
                self._ready = True

    async def _drop_idle(self) -> None:
        idle, self._idle = self._idle, []
        for db, _ in idle:
            await db.close()

    # -- a server that is down ---------------------------------------------------------------

    def _fell(self, error: StoreUnavailable) -> StoreUnavailable:
        if not self._down:
            log.warning("store.down: %s", error.message)
        self._down = error
        if not self._closed and (self._reviving is None or self._reviving.done()):
            self._reviving = asyncio.create_task(self._revive(), name="postgres-revive")
        return error

    async def _revive(self) -> None:
        while True:
            await asyncio.sleep(REST)
            try:
                db = await self._reach()
                try:
                    await self._settle(db)
                except BaseException:
                    await db.close()
                    raise
            except MemTreeError as error:  # a server is there, but we cannot use it
                self._down = StoreUnavailable(error.message)
            except (psycopg.Error, OSError, TimeoutError) as error:
                self._down = unreachable(error, self.dsn.shown)
            else:
                self._idle.append((db, time.monotonic()))
                self._down = None
                for circuit in (self._reads, self.writes):
                    circuit.worked()
                log.warning("store.up: %s", self.dsn.shown)
                return

    async def _answers(self) -> bool:
        """Return True if the server is there. Concurrent callers share one query."""
        asking = self._asking
        if asking is None or asking.done():
            asking = self._asking = asyncio.create_task(self.ask_server(), name="postgres-ask")
        # By the time this call resumes, another one may have started a new query.
        await asyncio.wait({asking})
        return not asking.cancelled() and asking.result()

    async def ask_server(self) -> bool:
        """Return True if the server is there. Asks on a connection of its own."""
        try:
            db = await self._reach()
            await db.close()
        except (psycopg.Error, OSError, TimeoutError) as error:
            if answered(error):
                return True
            self._fell(unreachable(error, self.dsn.shown))
            await self._drop_idle()  # they would hang as this one did
            return False
        return True


def _quiet(db: Connection) -> bool:
    """Return True if an idle connection has received nothing: a server that closes it sends an
    error, or hangs up."""
    if db.closed:
        return False
    poll = select.poll()
    poll.register(db.fileno(), select.POLLIN)
    return not poll.poll(0)

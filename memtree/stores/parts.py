"""Base of the classes that implement ports: the database, the clock, and how a coroutine over `Sql`
becomes a method.

The functions and the class of a port share one file with their SQL (`context/`, `memories/`). A
port with tables of its own gets its own class on `SqlPart`, and shares `store.database`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

from memtree.stores.schema import COLUMNS
from memtree.stores.sql import Row, Sql, Work


class Table(NamedTuple):
    """A table as copies and audits see it.

    `key`: names of the columns that tell its rows apart, in the order of a dump. `kind`: of its
    rows, where an audit reads them. `same`: further columns that never differ between rows with the
    same key, so that two stores that assigned equal numbers are told apart. `changes`: a row with
    the same key may be newer; otherwise it is the same row. `owned`: its rows belong to a tenant.
    """

    name: str
    key: str
    kind: Any = None  # a NamedTuple
    same: str = ""
    order: str = ""
    changes: bool = False
    owned: bool = True

    @property
    def columns(self) -> tuple[str, ...]:
        return self.kind._fields if self.kind else COLUMNS[self.name]

    @property
    def keys(self) -> list[str]:
        return self.key.split()

    @property
    def sorted_by(self) -> str:
        return ", ".join((self.order or self.key).split())

    @property
    def compared(self) -> Sequence[str]:
        """Columns that make a row of another store the same as this one."""
        return [*self.keys, *self.same.split()] if self.changes else self.columns

    def compared_of(self, row: Row) -> Row:
        return tuple(row[self.columns.index(name)] for name in self.compared)


class Snapshot(Protocol):
    """One state of a store, read in one thread."""

    def tenants(self) -> list[str]: ...

    def rows(self, table: Table, tenant: str) -> Iterator[Row]:
        """Yield rows in the table's order; `tenant` is empty for a table without one."""
        ...

    def damage(self) -> list[str]:
        """Run the database's own check and return its findings; empty where it has none."""
        ...


T = TypeVar("T")
P = ParamSpec("P")


class Database(Protocol):
    """A file, or a schema of a server. Raises `StoreUnavailable` or `StoreCorrupt`."""

    async def read(self, work: Work[T], *, patient: bool = False) -> T:
        """Run `work`, which only reads. Each of its statements sees one state of the store.
        `patient`: wait for it beyond the few seconds that a chat may wait."""
        ...

    async def read_state(self, work: Work[T]) -> T:
        """Like `read`, but all of its statements see the same state."""
        ...

    async def write(self, work: Work[T], *, durable: bool = False, undo: bool = False) -> T:
        """Run all of `work` or nothing. `durable`: the changes survive a crash of the server,
        and are waited for beyond a few seconds. `undo`: roll back even if it succeeded."""
        ...

    async def scrub(self, *, at_once: bool) -> None:
        """Remove the bytes of deleted rows from the files. `at_once`: a client waits for it."""
        ...

    async def bytes(self) -> int:
        """Return the size on disk in bytes; 0 if that has no meaning."""
        ...

    async def reach(self) -> None:
        """Raise unless the store can be used."""
        ...

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Open a separate connection in the calling thread. Raises the errors of the store."""
        ...

    async def close(self) -> None: ...


class SqlPart:
    """Base of the classes that implement ports."""

    def __init__(self, database: Database, now: Callable[[], float] = time.time) -> None:
        self.database = database
        self.now = now


Method = Callable[Concatenate[SqlPart, P], Coroutine[Any, Any, T]]
Statements = Callable[Concatenate[Sql, P], Coroutine[Any, Any, T]]


def reading(work: Statements[P, T], *, patient: bool = False) -> Method[P, T]:
    """Make a method that runs `work(sql, ...)`, which only reads; `patient`: as `read` says."""

    @wraps(work)
    async def method(self: SqlPart, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.database.read(lambda sql: work(sql, *args, **kwargs), patient=patient)

    return method


def writing(work: Statements[P, T], *, durable: bool = False) -> Method[P, T]:
    """Make a method that runs `work(sql, ...)` in a transaction."""

    @wraps(work)
    async def method(self: SqlPart, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.database.write(lambda sql: work(sql, *args, **kwargs), durable=durable)

    return method


def keeping(work: Statements[P, T]) -> Method[P, T]:
    """Like `writing`, and the changes survive a crash of the server."""
    return writing(work, durable=True)

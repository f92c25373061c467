"""Base of the classes that implement ports: the database, the clock, and how a coroutine over `Sql`
becomes a method.

The functions and the class of a port share one file with their SQL (`context/`, `memories/`). A
port with tables of its own gets its own class on `SqlPart`, and shares `store.database`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from memtree.stores.sql import Row, Sql, Work


@dataclass(frozen=True, slots=True)
class Table:
    """`key`: the columns that tell its rows apart, in the order of a dump. `changes`: a row with
    the same key may be newer; otherwise it is the same row. `same`: columns that never differ
    between rows with the same key, so that two stores that assigned equal numbers are told apart.
    `owned`: its rows belong to a tenant."""

    name: str
    kind: type[tuple[Any, ...]]
    key: tuple[str, ...]
    order: tuple[str, ...] = ()
    changes: bool = False
    owned: bool = True
    same: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return cast("tuple[str, ...]", self.kind._fields)  # type: ignore[attr-defined]

    @property
    def sorted_by(self) -> tuple[str, ...]:
        return self.order or self.key

    @property
    def compared(self) -> tuple[str, ...]:
        """Columns that make a row of another store the same as this one."""
        return (self.same or self.key) if self.changes else self.columns

    def compared_of(self, row: Row) -> Row:
        return tuple(row[self.columns.index(name)] for name in self.compared)

    def made(self, row: Row) -> Any:
        return self.kind._make(row)  # type: ignore[attr-defined]


class Snapshot(Protocol):
    """One state of a store, read in one thread."""

    def tenants(self) -> list[str]: ...

    def rows(self, table: Table, tenant: str) -> Iterator[Row]:
        """Yield rows in the table's order; `tenant` is empty for a table without one."""
        ...


T = TypeVar("T")
P = ParamSpec("P")


class StoreSnapshot(Snapshot, Protocol):
    def damage(self) -> list[str]:
        """Run the database's own check and return its findings; empty where it has none."""
        ...


class Database(Protocol):
    """A file, or a schema of a server. Raises `StoreUnavailable` or `StoreCorrupt`."""

    async def read(self, work: Work[T]) -> T:
        """Run `work`, which only reads. Each of its statements sees one state of the store."""
        ...

    async def read_state(self, work: Work[T]) -> T:
        """Like `read`, but all of its statements see the same state."""
        ...

    async def write(self, work: Work[T], *, durable: bool = False, undo: bool = False) -> T:
        """Run all of `work` or nothing. `durable`: the changes survive a crash of the server.
        `undo`: roll back even if it succeeded."""
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

    def snapshot(self) -> AbstractContextManager[StoreSnapshot]:
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


def reading(work: Statements[P, T]) -> Method[P, T]:
    """Make a method that runs `work(sql, ...)`, which only reads."""

    @wraps(work)
    async def method(self: SqlPart, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.database.read(lambda sql: work(sql, *args, **kwargs))

    return method


def writing(work: Statements[P, T]) -> Method[P, T]:
    """Make a method that runs `work(sql, ...)` in a transaction."""

    @wraps(work)
    async def method(self: SqlPart, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.database.write(lambda sql: work(sql, *args, **kwargs))

    return method


def keeping(work: Statements[P, T]) -> Method[P, T]:
    """Like `writing`, and the changes survive a crash of the server."""

    @wraps(work)
    async def method(self: SqlPart, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.database.write(lambda sql: work(sql, *args, **kwargs), durable=True)

    return method

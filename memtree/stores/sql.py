"""Send statements to either database, and base the classes that implement ports on them.

A statement is written once. Its values are named, and four forms stand for many values:

    :name                     a value
    IN :names[]               any of a list of texts or numbers
    IN :ids[bytes]            any of `Ids`
    FROM :ids[placed]         `Ids` as the rows (id, place), under the name `asked`
    FROM :rows(id, data)      rows, under the name `new`: see `Sql.put`

Functions over `Sql` are coroutines, because they await PostgreSQL's answers. SQLite answers at
once: `finish` runs such a coroutine to its end in the thread of the connection. SQL functions that
differ only in name between the databases are written with SQLite's name (`instr`). What a statement
returns is decoded here, too.

`SqlPart`, the base of the classes, has the database and the clock; `reading`, `writing` and
`keeping` make a method of a coroutine over `Sql`. The functions and the class of a port share one
file with their SQL (`context/`, `memories/`). A port with tables of its own gets its own class on
`SqlPart`, and shares `store.database`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec, Protocol, TypeVar

import msgspec

from memtree.errors import BadRequest, StoreCorrupt
from memtree.stores.schema import COLUMNS

T = TypeVar("T")
Values = Mapping[str, Any]  # texts, bytes, numbers; for `names[]` a list of texts or integers
Row = tuple[Any, ...]
Dialect = Literal["sqlite", "postgres"]


class Ids(tuple[bytes, ...]):
    """Distinct ids, in the order in which they were given."""

    __slots__ = ()

    def __new__(cls, ids: Iterable[bytes]) -> Ids:
        return super().__new__(cls, dict.fromkeys(ids))


class Sql(Protocol):
    """One transaction. All its reads see one state of the store."""

    dialect: Dialect
    lock: str  # appended to a SELECT: locks the rows until the end of the transaction
    skip: str  # the same, but skips rows that others have locked

    async def fetch(self, statement: str, values: Values) -> list[Row]: ...

    async def many(self, kinds: str, query: str, values: Values) -> list[Row]:
        """Read many rows, quickly. `kinds` has a letter for each column: `h` for an id, `d` for
        bytes of any length (empty or None if there are none), `i`, `f` and `t` for an integer, a
        float and a text."""
        ...

    async def many_each(self, *queries: tuple[str, str, Values]) -> list[list[Row]]:
        """Like `many`, for several independent queries in one round trip. Empty `kinds`: at most a
        few rows."""
        ...

    async def run(self, statement: str, values: Values) -> None:
        """Run a statement without waiting for its answer; its error may be raised by a later
        call."""
        ...

    async def run_many(self, statement: str, rows: Sequence[Values]) -> None:
        """Run a statement for each row, of which there may be none."""
        ...

    async def count(self, statement: str, values: Values) -> int:
        """Run a statement and return how many rows it changed."""
        ...

    async def put(self, statement: str, values: Values, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement that reads `FROM :rows(...)`, in parts. A row may come twice, so the
        statement must not mind a row that is there already. Behind a `FROM`, SQLite takes an
        `ON CONFLICT` for a part of a join unless a `WHERE` stands between them."""
        ...

    async def lock_name(self, *names: str | bytes, shared: bool = False) -> None:
        """Take an advisory lock until the end of the transaction."""
        ...

    async def computed(self, count: int, work: Callable[[], T]) -> T:
        """Return the result of `work`, which reads or makes `count` rows; if they are many, it runs
        outside the event loop."""
        ...


Work = Callable[[Sql], Coroutine[Any, Any, T]]


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    coroutine.close()
    raise RuntimeError("a statement to SQLite must not wait")


def reader(message: str, decode: Callable[[bytes], T]) -> Callable[[bytes], T]:
    """Return a function that decodes a stored value. It raises `StoreCorrupt`; the `{}` in the
    message is the error, which names a place in the value, never what stands there."""

    def read(data: bytes) -> T:
        try:
            return decode(data)
        except msgspec.DecodeError as error:
            raise StoreCorrupt(message.format(error)) from error

    return read


@contextmanager
def storing(what: str) -> Iterator[None]:
    """Refuse a value that cannot be encoded: lone surrogates, numbers over 64 bits, no JSON."""
    try:
        yield
    except (OverflowError, TypeError, ValueError, RecursionError) as error:
        raise BadRequest(f"A {what} cannot be stored: {type(error).__name__}.") from None


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

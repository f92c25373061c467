"""Send statements, to either database, and decode what they return.

A statement is written once. Its values are named, and four forms stand for many values:

    :name                     a value
    IN :names[]               any of a list of texts or numbers
    IN :ids[bytes]            any of `Ids`
    FROM :ids[placed]         `Ids` as the rows (id, place), under the name `asked`
    FROM :rows(id, data)      rows, under the name `new`: see `Sql.put`

Functions over `Sql` are coroutines, because they await PostgreSQL's answers. SQLite answers at
once: `finish` runs such a coroutine to its end in the thread of the connection. SQL functions that
differ only in name between the databases are written with SQLite's name (`instr`).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from memtree.errors import BadRequest, StoreCorrupt

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

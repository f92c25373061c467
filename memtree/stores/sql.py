"""How statements are sent, whichever database it is.

A statement is written once. Its values are named, and four forms stand for many values:

    :name                     a value
    IN :names[]               any of a list of texts or numbers
    IN :ids[bytes]            any of `Ids`
    FROM :ids[placed]         `Ids` as the rows (id, place), under the name `asked`
    FROM :rows(id, data)      rows, under the name `new`: see `Sql.put`

Functions over `Sql` are coroutines, because PostgreSQL's answers are waited for. SQLite's are there
at once: `finish` runs such a coroutine to its end in the thread of the connection. A function has
SQLite's name where only the names differ (`instr`).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeVar

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
    """One transaction. What is read in it is one state of the store."""

    dialect: Dialect
    lock: str  # at the end of a SELECT: nobody else changes these rows until the end
    skip: str  # the same, but leaves out the rows that somebody else has locked

    async def fetch(self, statement: str, values: Values) -> list[Row]: ...

    async def many(self, kinds: str, query: str, values: Values) -> list[Row]:
        """Many rows, quickly. `kinds` has a letter for each column: `h` for an id, `d` for bytes of
        any length (empty or None where there are none), `i`, `f` and `t` for an integer, a float
        and a text."""
        ...

    async def many_each(self, *queries: tuple[str, str, Values]) -> list[list[Row]]:
        """Like `many`, for several queries in one round trip: none needs another's answer. Empty
        `kinds`: at most a few rows."""
        ...

    async def run(self, statement: str, values: Values) -> None:
        """A statement whose answer nobody waits for; its error may come with a later one."""
        ...

    async def run_many(self, statement: str, rows: Sequence[Values]) -> None: ...

    async def count(self, statement: str, values: Values) -> int:
        """Run a statement and return how many rows it changed."""
        ...

    async def put(self, statement: str, values: Values, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement that reads `FROM :rows(...)`, in parts. A row may come twice, so the
        statement must not mind a row that is there already. Behind a `FROM`, SQLite takes an
        `ON CONFLICT` for a part of a join unless a `WHERE` stands between them."""
        ...

    async def lock_name(self, *names: str | bytes, shared: bool = False) -> None:
        """Hold a lock that no row stands for until the end of the transaction."""
        ...

    async def computed(self, count: int, work: Callable[[], T]) -> T:
        """The result of `work`, which reads or makes so many rows: beside the event loop where
        they are many."""
        ...


Work = Callable[[Sql], Coroutine[Any, Any, T]]


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    coroutine.close()
    raise RuntimeError("it waits for something that is not there")

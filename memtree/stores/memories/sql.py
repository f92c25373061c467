"""How statements are sent, whichever database it is.

Statements are written once, with `:name` for a value and `IN :names[]` for any of many. Functions
over `Sql` are coroutines, because PostgreSQL's answers are waited for. SQLite's are there at once:
`finish` runs such a coroutine to its end in the thread of the connection. A function has SQLite's
name where only the names differ (`instr`).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from memtree.memories.ports import SearchRow

T = TypeVar("T")
Values = Mapping[str, Any]  # texts, bytes, numbers; for `names[]` a list of texts or integers
Row = tuple[Any, ...]


class Sql(Protocol):
    """One transaction. What is read in it is one state of the store."""

    lock: str  # at the end of a SELECT: nobody else changes these rows until the end

    async def fetch(self, statement: str, values: Values) -> list[Row]: ...

    async def run(self, statement: str, values: Values) -> None:
        """A statement whose answer nobody waits for; its error may come with a later one."""
        ...

    async def run_many(self, statement: str, rows: Sequence[Values]) -> None: ...

    async def numbers(self, query: str, values: Values) -> list[int]:
        """The column `number` of many rows."""
        ...

    async def search_rows(self, query: str, values: Values) -> list[SearchRow]:
        """Many rows with the columns `number`, `counted`, `expires`, `terms`, `session_id` and
        `vector`."""
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

"""How statements are sent, whichever database it is.

Statements are written once, with `:name` for a value and `IN :names[]` for any of many. Functions
over `Sql` are coroutines, because PostgreSQL's answers are waited for. SQLite's are there at once:
`finish` runs such a coroutine to its end in the thread of the connection. A function has SQLite's
name where only the names differ (`instr`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from memtree.memories.ports import SearchRow

T = TypeVar("T")
Values = Mapping[str, Any]  # texts, bytes, numbers; for `names[]` a list of texts or integers
Row = tuple[Any, ...]
_AT_ONCE = 32


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


async def digests_in(
    sql: Sql, statement: str, digests: Collection[bytes], values: Values
) -> set[bytes]:
    """The column `digest` of what a statement finds; its `{}` stands for the digests, which are
    asked for in parts."""
    found: set[bytes] = set()
    asked = sorted(set(digests))
    for part in (asked[at : at + _AT_ONCE] for at in range(0, len(asked), _AT_ONCE)):
        given = {f"digest{at}": digest for at, digest in enumerate(part)}
        each = statement.format(", ".join(f":{name}" for name in given))
        found |= {bytes(digest) for (digest,) in await sql.fetch(each, {**values, **given})}
    return found


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    coroutine.close()
    raise RuntimeError("it waits for something that is not there")

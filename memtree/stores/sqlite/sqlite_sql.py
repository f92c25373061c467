"""Send statements to SQLite.

Python's `sqlite3` gives up the GIL at every step, that is for every row, and while another thread
computes, taking it back costs up to 5 ms (`sys.getswitchinterval`). Measured with one busy thread:
the 2,330 nodes of a million tokens took 5,400 ms row by row and 50 ms as one row; writing them took
5,300 ms with `executemany` and 59 ms with 64 rows a statement. On an idle machine there is no
difference. So `many` joins its rows into one, and `put` names many rows at once.

Any number of ids is one value: a run of bytes, which the statement splits. The number of rows in a
statement is rounded up to a power of two, so that the connection's statement cache is hit again.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain, count
from operator import methodcaller
from typing import Any, TypeVar

from memtree.stores.sql import Dialect, Ids, Row, Values

T = TypeVar("T")
ROWS_A_STATEMENT = 64  # more are slower: a statement is compiled for each remainder

_ANY_OF = re.compile(r"IN :(\w+)\[\]")
_IDS = re.compile(r"IN :(\w+)\[bytes\]")
_PLACED = re.compile(r":(\w+)\[placed\]")
_ROWS = re.compile(r":rows\(([\w, ]+)\)")
_NAME = re.compile(r":(\w+)\b")
_CUT = r"""
    WITH RECURSIVE slot(at) AS (
        SELECT 1 WHERE length(:\1) > 0
        UNION ALL SELECT at + :\1_size FROM slot WHERE at + :\1_size <= length(:\1)
    ) SELECT substr(:\1, at, :\1_size) AS id"""
# How a column is written into the list of rows. 17 digits name a float exactly; the `!` makes
# SQLite print more than 15. Bytes of any length are joined into one run, and the list has their
# sizes: text in SQLite may hold any bytes, so joining blobs as text changes none.
_LISTED = {
    "h": "hex({})",
    "d": "length(coalesce({}, x''))",
    "i": "{}",
    "f": "printf('%!.17g', {})",
    "t": "hex({})",
}
_RUN = "CAST(coalesce({}, x'') AS TEXT)"
_READ: Mapping[str, Callable[[str], Any]] = {
    "h": bytes.fromhex,
    "d": int,
    "i": int,
    "f": float,
    "t": lambda text: bytes.fromhex(text).decode(),
}


class SqliteSql:
    """`Sql` over a connection that is in a transaction."""

    dialect: Dialect = "sqlite"
    lock = skip = ""  # whoever writes has the whole file

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    async def fetch(self, statement: str, values: Values) -> list[Row]:
        return [row for cursor in self._executed(statement, values) for row in cursor]

    async def many(self, kinds: str, query: str, values: Values) -> list[Row]:
        statement = _joined(kinds, query)
        rows: list[Row] = []
        for cursor in self._executed(statement, values):
            listed, run = cursor.fetchone()
            if listed is not None:
                rows += _split(kinds, listed, run or b"")
        return rows

    async def many_each(self, *queries: tuple[str, str, Values]) -> list[list[Row]]:
        return [
            await (self.many(kinds, query, values) if kinds else self.fetch(query, values))
            for kinds, query, values in queries
        ]

    async def run(self, statement: str, values: Values) -> None:
        for _ in self._executed(statement, values):
            pass

    async def run_many(self, statement: str, rows: Sequence[Values]) -> None:
        self._db.executemany(statement, rows)

    async def count(self, statement: str, values: Values) -> int:
        return sum(cursor.rowcount for cursor in self._executed(statement, values))

    async def put(self, statement: str, values: Values, rows: Sequence[Sequence[Any]]) -> None:
        for at in range(0, len(rows), ROWS_A_STATEMENT):
            part = rows[at : at + ROWS_A_STATEMENT]
            size = 1 << (len(part) - 1).bit_length()
            given = [value for row in part for value in row] + [*part[-1]] * (size - len(part))
            bound = [*values.values(), *given]
            self._db.execute(_with_rows(statement, tuple(values), size), bound)

    async def lock_name(self, *names: str | bytes, shared: bool = False) -> None:
        pass

    async def computed(self, _: int, work: Callable[[], T]) -> T:
        return work()  # this is not the thread of the event loop

    def _executed(self, statement: str, values: Values) -> Iterator[sqlite3.Cursor]:
        if "[" not in statement:  # most statements hold single values
            yield self._db.execute(statement, values)
            return
        for bound, alone in _bound(values):
            yield self._db.execute(_translated(statement, alone), bound)


@lru_cache(256)
def _translated(statement: str, alone: bool) -> str:
    listed = _ANY_OF.sub(r"IN (SELECT value FROM json_each(:\1))", statement)
    if alone:
        return _IDS.sub(
            r"IN (:\1)", _PLACED.sub(r"(SELECT :\1 AS id, 1 AS place) AS asked", listed)
        )
    placed = _PLACED.sub(rf"({_CUT}, at AS place FROM slot) AS asked", listed)
    return _IDS.sub(rf"IN ({_CUT} FROM slot)", placed)


@lru_cache(256)
def _joined(kinds: str, query: str) -> str:
    names = [f"c{at}" for at in range(len(kinds))]
    pairs = list(zip(kinds, names, strict=True))
    listed = " || ' ' || ".join(_LISTED[kind].format(name) for kind, name in pairs)
    run = " || ".join(_RUN.format(name) for kind, name in pairs if kind == "d") or "''"
    return (
        # The limit keeps SQLite from merging the query into this one, which would evaluate a
        # column's expression wherever the column is named.
        f"WITH answer({', '.join(names)}) AS (SELECT * FROM ({query}) LIMIT -1)"
        f" SELECT group_concat({listed}, ';'),"
        f" CAST(group_concat({run}, '') AS BLOB) FROM answer"
    )


@lru_cache(256)
def _with_rows(statement: str, names: tuple[str, ...], size: int) -> str:
    """Return the statement with numbered placeholders for the values of rows."""

    def rows(match: re.Match[str]) -> str:
        columns = match[1].split(", ")
        numbers = count(len(names) + 1)
        places = ("(" + ",".join(f"?{next(numbers)}" for _ in columns) + ")" for _ in range(size))
        named = ", ".join(f"column{at} AS {name}" for at, name in enumerate(columns, 1))
        return f"(SELECT {named} FROM (VALUES {','.join(places)})) AS new"

    with_rows = _ROWS.sub(rows, statement)
    return _NAME.sub(lambda match: f"?{names.index(match[1]) + 1}", with_rows)


def _bound(values: Values) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield the values of a statement, and True if they hold a single id; several times if ids have
    several sizes."""
    bound = dict(values)
    ids: dict[int, list[bytes]] = {}
    name = ""
    for each, value in values.items():
        if isinstance(value, Ids):
            name = each
            for id_ in value:
                ids.setdefault(len(id_), []).append(id_)
        elif isinstance(value, list):
            bound[each] = json.dumps(value)
    if not name:
        yield bound, False
    for size, group in ids.items():
        yield {**bound, name: b"".join(group), f"{name}_size": size}, len(group) == 1


def _split(kinds: str, listed: str, run: bytes) -> Iterator[Row]:
    """Split the run and read the columns with operations that run in C: there may be thousands of
    rows."""
    texts = zip(*map(methodcaller("split", " "), listed.split(";")), strict=True)
    columns = [[*map(_READ[kind], text)] for kind, text in zip(kinds, texts, strict=True)]
    cut = [at for at, kind in enumerate(kinds) if kind == "d"]
    ends = [*accumulate(chain.from_iterable(zip(*(columns[at] for at in cut), strict=True)))]
    pieces = [*map(run.__getitem__, map(slice, (0, *ends), ends))]
    for place, at in enumerate(cut):
        columns[at] = pieces[place :: len(cut)]
    return zip(*columns, strict=True)

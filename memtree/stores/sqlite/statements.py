"""How statements of memories are sent to SQLite."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from memtree.memories.ports import SearchRow
from memtree.stores.sql import Row, Values

_ANY_OF = re.compile(r"IN :(\w+)\[\]")
# One row for many, as `bulk` says; 17 digits name a float exactly.
_JOINED = """
    SELECT group_concat(number || ' ' || counted || printf(' %!.17g ', expires)
            || length(terms) || ' ' || coalesce(length(vector), 0)
            || ' ' || hex(session_id), ';'),
        CAST(group_concat(CAST(terms AS TEXT) || CAST(coalesce(vector, x'') AS TEXT), '') AS BLOB)
    FROM ({})"""


class SqliteSql:
    """`Sql` over a connection that is in a transaction."""

    lock = ""  # whoever writes has the whole file

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    async def fetch(self, statement: str, values: Values) -> list[Row]:
        return self._execute(statement, values).fetchall()

    async def run(self, statement: str, values: Values) -> None:
        self._execute(statement, values)

    async def run_many(self, statement: str, rows: Sequence[Values]) -> None:
        self._db.executemany(statement, rows)

    async def numbers(self, query: str, values: Values) -> list[int]:
        listed = f"SELECT group_concat(number) FROM ({query})"
        ((joined,),) = self._execute(listed, values)
        return [int(number) for number in joined.split(",")] if joined else []

    async def search_rows(self, query: str, values: Values) -> list[SearchRow]:
        ((listed, run),) = self._execute(_JOINED.format(query), values)
        return list(_search_rows(listed or "", run or b""))

    def _execute(self, statement: str, values: Values) -> sqlite3.Cursor:
        return self._db.execute(_translated(statement), _bound(values))


@lru_cache(256)
def _translated(statement: str) -> str:
    return _ANY_OF.sub(r"IN (SELECT value FROM json_each(:\1))", statement)


def _bound(values: Values) -> dict[str, Any]:
    return {
        name: json.dumps(value) if isinstance(value, list) else value
        for name, value in values.items()
    }


def _search_rows(listed: str, run: bytes) -> Iterator[SearchRow]:
    at = 0
    sessions: dict[str, str | None] = {"": None}  # of many rows each
    for entry in listed.split(";") if listed else ():
        number, counted, expires, terms, vector, session = entry.split(" ")
        if session not in sessions:
            sessions[session] = bytes.fromhex(session).decode()
        middle = at + int(terms)
        end = middle + int(vector)
        yield SearchRow(
            int(number),
            counted == "1",
            float(expires) or None,
            run[at:middle],
            run[middle:end] or None,
            sessions[session],
        )
        at = end

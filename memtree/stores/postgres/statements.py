"""How statements of memories are sent to PostgreSQL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from memtree.memories.ports import SearchRow
from memtree.stores.postgres.queries import Connection, off_loop
from memtree.stores.sql import Row, Values

_ANY_OF = re.compile(r"IN :(\w+)\[\]")
_NAME = re.compile(r"(?<!:):(\w+)")


class PostgresSql:
    """`Sql` over a connection that is in a transaction, in a pipeline: a statement is sent with
    those before it, and waited for where its rows are fetched."""

    lock = " FOR UPDATE"

    def __init__(self, db: Connection) -> None:
        self._db = db

    async def fetch(self, statement: str, values: Values) -> list[Row]:
        found = await self._db.execute(_translated(statement), values, binary=True)
        return await found.fetchall()

    async def run(self, statement: str, values: Values) -> None:
        await self._db.execute(_translated(statement), values)

    async def run_many(self, statement: str, rows: Sequence[Values]) -> None:
        await self._db.cursor().executemany(_translated(statement), rows)

    async def numbers(self, query: str, values: Values) -> list[int]:
        found = await self.fetch(query, values)
        return await off_loop(len(found), lambda: [number for (number,) in found])

    async def search_rows(self, query: str, values: Values) -> list[SearchRow]:
        found = await self.fetch(query, values)
        return await off_loop(len(found), lambda: [_search_row(*row) for row in found])


@lru_cache(256)
def _translated(statement: str) -> str:
    named = _ANY_OF.sub(r"= ANY(:\1)", statement).replace("instr(", "strpos(")
    return _NAME.sub(r"%(\1)s", named)


def _search_row(
    number: int, counted: int, expires: float, terms: bytes, session: str, vector: bytes | None
) -> SearchRow:
    return SearchRow(number, bool(counted), expires or None, terms, vector, session or None)

"""Send statements to PostgreSQL.

psycopg encodes a list value by value in Python; a single run of bytes in PostgreSQL's binary array
form (`Blobs`) is five times as fast for the ids of a million tokens.

Advisory locks are held to the end of a transaction:

| who | takes |
|---|---|
| changes access keys, or moves a tenant | the keys |
| says that a recipe is in use, or drops vectors that nobody uses | the recipes |
| adds to a tenant (nodes, turns, vectors, summaries, claims, renew) | the tenant, shared |
| deletes of a tenant (forget, sweep) | the tenant, alone |
| decides which turn stands | also the place of that turn |
| adds to a day's tallies | that tenant's day |
| saves, changes or erases memories | the row of the scope, then that of the tenant's counters |

Transactions take them in this order, before they read anything, so none wait for each other in a
circle. Rows are written in the order of their keys for the same reason.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from functools import lru_cache
from hashlib import sha256
from struct import Struct
from typing import Any, TypeVar

import psycopg
from psycopg.adapt import AdaptersMap, Dumper
from psycopg.pq import Format, PipelineStatus

from memtree.stores.sql import Dialect, Ids, Row, Values

T = TypeVar("T")
Connection = psycopg.AsyncConnection[Row]
MANY = 64  # rows: encoding or decoding that takes over a millisecond leaves the event loop

_BYTEA, _BYTEA_ARRAY = 17, 1001  # type numbers, the same in every server
_EMPTY = Struct("!iii").pack(0, 0, _BYTEA)
_HEAD = Struct("!iiiii")  # dimensions, has nulls, type, size, first index
_size = Struct("!i").pack

_ANY_OF = re.compile(r"IN :(\w+)\[(?:bytes)?\]")
_PLACED = re.compile(r":(\w+)\[placed\]")
_ROWS = re.compile(r":rows\(([\w, ]+)\)")
_NAME = re.compile(r"(?<!:):(\w+)")
_ARRAYS = {bytes: "bytea[]", str: "text[]", int: "bigint[]", float: "double precision[]"}
ADAPTERS = AdaptersMap(psycopg.adapters)
SHARED = "SELECT pg_advisory_xact_lock_shared(%s)"
ALONE = "SELECT pg_advisory_xact_lock(%s)"


class Blobs(tuple[bytes, ...]):
    """Array of byte strings, sent as `bytea[]`."""

    __slots__ = ()


class _BlobsDumper(Dumper):
    format = Format.BINARY
    oid = _BYTEA_ARRAY

    def dump(self, obj: Iterable[bytes]) -> bytes:
        every = list(obj)
        parts = [part for value in every for part in (_size(len(value)), value)]
        head = _HEAD.pack(1, 0, _BYTEA, len(every), 1) if every else _EMPTY
        return b"".join((head, *parts))


for _kind in (Blobs, Ids):
    ADAPTERS.register_dumper(_kind, _BlobsDumper)


class PostgresSql:
    """`Sql` over a connection. In a pipeline a statement is sent together with those before it, and
    waited for only when its rows are fetched."""

    dialect: Dialect = "postgres"
    lock = " FOR UPDATE"
    skip = " FOR UPDATE SKIP LOCKED"

    def __init__(self, db: Connection) -> None:
        self._db = db

    async def fetch(self, statement: str, values: Values) -> list[Row]:
        cursor = await self._db.execute(_translated(statement), values, binary=True)
        return await cursor.fetchall()

    async def many_each(self, *queries: tuple[str, str, Values]) -> list[list[Row]]:
        async with AsyncExitStack() as stack:
            if self._db.pgconn.pipeline_status == PipelineStatus.OFF:
                await stack.enter_async_context(self._db.pipeline())
            cursors = [
                await self._db.execute(_translated(query), values, binary=True)
                for _, query, values in queries
            ]
            return [await each.fetchall() for each in cursors]

    async def many(self, kinds: str, query: str, values: Values) -> list[Row]:
        return await self.fetch(query, values)

    async def run(self, statement: str, values: Values) -> None:
        await self._db.execute(_translated(statement), values)

    async def run_many(self, statement: str, rows: Sequence[Values]) -> None:
        if rows:
            await self._db.cursor().executemany(_translated(statement), rows)

    async def count(self, statement: str, values: Values) -> int:
        changed = await self._db.execute(_translated(statement), values)
        async with self._db.pipeline() as pipeline:
            await pipeline.sync()
        return changed.rowcount

    async def put(self, statement: str, values: Values, rows: Sequence[Sequence[Any]]) -> None:
        if rows:
            types = tuple(_ARRAYS[type(value)] for value in rows[0])
            arrays = {
                f"column{at}": Blobs(column) if isinstance(column[0], bytes) else list(column)
                for at, column in enumerate(zip(*rows, strict=True))
            }
            await self._db.execute(_with_rows(statement, types), {**values, **arrays})

    async def lock_name(self, *names: str | bytes, shared: bool = False) -> None:
        await self._db.execute(SHARED if shared else ALONE, (lock_key(*names),))

    async def computed(self, count: int, work: Callable[[], T]) -> T:
        return await asyncio.to_thread(work) if count > MANY else work()


@lru_cache(256)
def _translated(statement: str) -> str:
    placed = _PLACED.sub(r"unnest(:\1) WITH ORDINALITY AS asked(id, place)", statement)
    named = _ANY_OF.sub(r"= ANY(:\1)", placed).replace("instr(", "strpos(")
    return _NAME.sub(r"%(\1)s", named)


@lru_cache(256)
def _with_rows(statement: str, types: tuple[str, ...]) -> str:
    arrays = ", ".join(f"%(column{at})s::{kind}" for at, kind in enumerate(types))
    return _translated(_ROWS.sub(rf"unnest({arrays}) AS new(\1)", statement))


def lock_key(*names: str | bytes) -> int:
    """Hash names to a signed 64-bit integer. Two names with the same hash would only wait for each
    other."""
    digest = sha256()
    for name in names:
        data = name.encode() if isinstance(name, str) else name
        digest.update(len(data).to_bytes(8, "big") + data)
    return int.from_bytes(digest.digest()[:8], "big", signed=True)

"""How a statement is sent: its connection, arrays as parameters, and the number of its tenant.

psycopg writes a list value by value in Python; one run of bytes in PostgreSQL's binary form
(`Blobs`) is five times quicker for the ids of a million tokens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from struct import Struct
from typing import Any, TypeVar

import psycopg
from psycopg.adapt import AdaptersMap, Dumper
from psycopg.pq import Format

T = TypeVar("T")
Connection = psycopg.AsyncConnection[tuple[Any, ...]]
Cursor = psycopg.AsyncCursor[tuple[Any, ...]]
MANY = 64  # rows: what takes longer to encode or decode than a millisecond leaves the event loop

# A small number stands for the tenant's name in the rows.
TENANT = "tenant = (SELECT number FROM tenants WHERE name = %(tenant)s)"
NUMBER = "SELECT number FROM tenants WHERE name = %(tenant)s"
_NEW_TENANT = """
    INSERT INTO tenants (name) VALUES (%(tenant)s)
    ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING number"""

_BYTEA, _BYTEA_ARRAY = 17, 1001  # type numbers, the same in every server
_EMPTY = Struct("!iii").pack(0, 0, _BYTEA)
_HEAD = Struct("!iiiii")  # dimensions, has nulls, type, size, first index
_size = Struct("!i").pack


class Blobs:
    """A `bytea[]`."""

    __slots__ = ("run",)

    def __init__(self, values: Iterable[bytes]) -> None:
        every = list(values)
        parts = [part for value in every for part in (_size(len(value)), value)]
        head = _HEAD.pack(1, 0, _BYTEA, len(every), 1) if every else _EMPTY
        self.run = b"".join((head, *parts))


class _BlobsDumper(Dumper):
    format = Format.BINARY
    oid = _BYTEA_ARRAY

    def dump(self, obj: Blobs) -> bytes:
        return obj.run


ADAPTERS = AdaptersMap(psycopg.adapters)
ADAPTERS.register_dumper(Blobs, _BlobsDumper)


def distinct(ids: Iterable[bytes]) -> Blobs:
    return Blobs(dict.fromkeys(ids))


async def ask(db: Connection, query: str, **values: Any) -> Cursor:
    """Within `Pool.hurry` the answer is not waited for yet."""
    return await db.execute(query, values, binary=True)


async def rows(db: Connection, query: str, **values: Any) -> list[tuple[Any, ...]]:
    return await (await ask(db, query, **values)).fetchall()


async def off_loop(count: int, work: Callable[[], T]) -> T:
    """`work` over so many rows, in a thread where they are many."""
    return await asyncio.to_thread(work) if count > MANY else work()


async def known_tenant(db: Connection, tenant: str) -> int | None:
    found = await rows(db, NUMBER, tenant=tenant)
    return found[0][0] if found else None


async def tenant_number(db: Connection, tenant: str, known: Cursor) -> int:
    """The tenant's number; a tenant that is new gets one. `known`: what NUMBER gave."""
    found = await known.fetchall() or await rows(db, _NEW_TENANT, tenant=tenant)
    return int(found[0][0])

"""Many bytes values as one parameter.

psycopg writes a list value by value in Python; one run of bytes in PostgreSQL's binary form is
five times quicker for the ids of a million tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

import psycopg
from psycopg.adapt import AdaptersMap, Dumper
from psycopg.pq import Format

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

"""Many rows in one step of SQLite.

Python's `sqlite3` gives up the GIL at every step, that is for every row, and while another thread
computes, taking it back costs up to 5 ms (`sys.getswitchinterval`). Measured with one busy thread:
the 2,330 nodes of a million tokens took 5,400 ms row by row and 50 ms as one row; writing them took
5,300 ms with `executemany` and 59 ms with 64 rows a statement. On an idle machine there is no
difference. So reads join their rows into one (`joined`), and writes name many rows at once.

Statements differ by their number of places only; numbers are rounded up to powers of two, so that
the connection's statement cache meets them again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

IDS_A_STATEMENT = 4096  # SQLite's least limit of places is 32,766
ROWS_A_STATEMENT = 64  # more are slower: a statement is compiled for each remainder

Value = bytes | str | int | float


def joined(
    db: sqlite3.Connection, query: str, values: Sequence[Value], ids: Iterable[bytes]
) -> Iterator[tuple[bytes, bytes]]:
    """The (id, data) rows of `query`, where `{ids}` stands for the places of the ids."""
    for places, part in _parts(ids):
        yield from joined_rows(db, query.format(ids=places), (*values, *part))


def joined_rows(
    db: sqlite3.Connection, query: str, values: Sequence[Value | None]
) -> Iterator[tuple[bytes, bytes]]:
    """The (id, data) rows of `query`, `data` being a blob.

    They come back as one row: the ids with the sizes of their data, and all data in one run. Text
    in SQLite may hold any bytes, so joining blobs as text changes none.
    """
    listed, run = db.execute(
        "SELECT group_concat(hex(id) || ' ' || length(data), ';'),"
        f" CAST(group_concat(CAST(data AS TEXT), '') AS BLOB) FROM ({query})",
        values,
    ).fetchone()
    return _split(listed or "", run or b"")


def _split(listed: str, run: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 0
    for entry in listed.split(";") if listed else ():
        name, size = entry.split(" ")
        yield bytes.fromhex(name), run[at : at + int(size)]
        at += int(size)


def insert(
    db: sqlite3.Connection, head: str, rows: Sequence[Sequence[Value]], tail: str = ""
) -> None:
    """`head VALUES (...), (...) tail` for all rows.

    The statement must not mind a row that is there already: the last row is repeated to fill the
    places.
    """
    for at in range(0, len(rows), ROWS_A_STATEMENT):
        part = rows[at : at + ROWS_A_STATEMENT]
        size = _rounded(len(part))
        row = "(" + ",".join("?" * len(part[0])) + ")"
        values = [value for each in part for value in each]
        values += list(part[-1]) * (size - len(part))
        db.execute(f"{head} VALUES {','.join([row] * size)} {tail}", values)


def change(
    db: sqlite3.Connection, statement: str, values: Sequence[Value], ids: Iterable[bytes]
) -> int:
    """UPDATE or DELETE `... IN ({ids})`; how many rows it met."""
    return sum(
        db.execute(statement.format(ids=places), (*values, *part)).rowcount
        for places, part in _parts(ids)
    )


def _parts(ids: Iterable[bytes]) -> Iterator[tuple[str, list[bytes | None]]]:
    """The distinct ids in parts, with their places; NULL fills up and equals nothing."""
    distinct = list(dict.fromkeys(ids))
    for at in range(0, len(distinct), IDS_A_STATEMENT):
        part: list[bytes | None] = [*distinct[at : at + IDS_A_STATEMENT]]
        size = _rounded(len(part))
        yield ",".join("?" * size), part + [None] * (size - len(part))


def _rounded(count: int) -> int:
    """The next power of two."""
    return 1 << (count - 1).bit_length()

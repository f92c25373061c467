"""What a process remembers of its newest tenants, requests or models: bounded, so that nobody can
fill its memory with names that he makes up."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

MAX_TENANTS = 10_000  # of whom a process remembers a number or a time, some 200 bytes each


def remember(rows: OrderedDict[K, V], key: K, value: V, most: int = MAX_TENANTS) -> None:
    """Put a row last; of more than `most` the first ones go.

    >>> rows = OrderedDict(a=1, b=2)
    >>> remember(rows, "a", 3, most=2)
    >>> remember(rows, "c", 4, most=2)
    >>> list(rows.items())
    [('a', 3), ('c', 4)]
    """
    rows[key] = value
    rows.move_to_end(key)
    while len(rows) > most:
        rows.popitem(last=False)

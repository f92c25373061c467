"""Bounds what a process remembers: the rows of its maps, and the bytes of its caches.

Maps hold what it remembers of its newest tenants, requests or models. They are bounded, so that no
client can exhaust the memory with invented names.

The caches of posted conversations have limits in bytes: shares of one setting (`CacheLimits`). No
answer depends on these caches, so a share that is too small costs time and changes nothing else.
The shares are proportional to what a process holds for conversations of a million tokens
(docs/decisions/archive.md#0038). Indexes of saved memories have a setting of their own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from threading import Lock
from typing import Generic, Protocol, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class SizedCache(Protocol):
    """A value that reports its size."""

    @property
    def nbytes(self) -> int:
        """Return the estimated bytes."""
        ...


MAX_TENANTS = 10_000  # with a remembered number or time, some 200 bytes each


def remember(rows: OrderedDict[K, V], key: K, value: V, most: int = MAX_TENANTS) -> None:
    """Put a row last; if there are more than `most`, drop the first.

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


class SizedRows(Generic[K, V]):
    """Rows that take at most `most` bytes together; least recently used first out. `size`:
    estimates the bytes of a row with its key; always the same for the same row. A row larger than
    `most` is not kept. Safe for several threads.

    >>> rows = SizedRows(10, lambda key, value: len(value))
    >>> rows.put("a", "four"), rows.put("b", "five5"), rows.get("a"), rows.put("c", "two")
    (None, None, 'four', None)
    >>> list(rows), rows.nbytes
    (['a', 'c'], 7)
    """

    def __init__(self, most: int, size: Callable[[K, V], int]) -> None:
        self._most, self._size = most, size
        self._rows: OrderedDict[K, V] = OrderedDict()
        self._bytes = 0
        self._changing = Lock()

    @property
    def nbytes(self) -> int:
        """Return the estimated bytes of all rows."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[K]:
        """Iterate over the keys, least recently used first."""
        return iter(list(self._rows))

    def values(self) -> list[V]:
        return list(self._rows.values())

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def get(self, key: K) -> V | None:
        value = self._rows.get(key)
        if value is not None:
            with suppress(KeyError):  # another thread may have dropped the row meanwhile
                self._rows.move_to_end(key)
        return value

    def put(self, key: K, value: V) -> None:
        size = self._size(key, value)
        with self._changing:
            self._drop(key)
            if size > self._most:
                return
            self._rows[key] = value
            self._bytes += size
            while self._bytes > self._most:
                # Done in one step: `get` takes no lock, and may change the order during an
                # iteration.
                first, old = self._rows.popitem(last=False)
                self._bytes -= self._size(first, old)

    def drop(self, key: K) -> None:
        with self._changing:
            self._drop(key)

    def drop_where(self, is_one: Callable[[K, V], bool]) -> None:
        with self._changing:
            for key, value in list(self._rows.items()):  # `get` may change the order meanwhile
                if is_one(key, value):
                    self._drop(key)

    def clear(self) -> None:
        with self._changing:
            self._rows.clear()
            self._bytes = 0

    def _drop(self, key: K) -> None:
        value = self._rows.pop(key, None)
        if value is not None:
            self._bytes -= self._size(key, value)


class TenantRows(SizedRows[tuple[str, K], V]):
    """`SizedRows` whose keys begin with a tenant, so that a tenant's rows can be forgotten.

    >>> rows = TenantRows(10, lambda key, value: len(value))
    >>> rows.put(("ann", 1), "four"), rows.put(("bob", 1), "two"), rows.forget("ann")
    (None, None, None)
    >>> rows.tenants, rows.nbytes
    ({'bob'}, 3)
    """

    @property
    def tenants(self) -> set[str]:
        """Tenants of whom a row is kept."""
        return {tenant for tenant, _ in self}

    def forget(self, tenant: str | None) -> None:
        """Drop the rows of a tenant, or of all tenants (None)."""
        self.drop_where(lambda key, _: tenant in (None, key[0]))


MEGABYTES = 512
_THOUSANDTHS = {
    "message_infos": 50,
    "read_histories": 55,
    "known_bodies": 30,
    "conversations": 620,
    "passed": 10,
    "message_translations": 80,
    "response_translations": 80,
    "vectors": 30,
    "queries": 5,
    "read_messages": 15,
    "read_infos": 10,
    "snapshots": 15,
}


@dataclass(frozen=True, slots=True)
class CacheLimits:
    """Bytes that each cache of a process may hold.

    `message_infos`: facts about posted messages. `read_histories`: addresses, rounds and totals of
    posted histories, what was found in them, and texts rendered of them. `known_bodies`: digests of
    posted bodies. `conversations`: trees, and their passages with vectors, ready to rank. `passed`:
    which histories went whole. `message_translations`, `response_translations`: posted items of the
    two APIs as chat messages. `vectors`: of passages that were embedded lately. `queries`: vectors
    of questions. `read_messages`, `read_infos`: messages read for memories, and facts about them;
    `snapshots`: parts of conversations whose snapshot is stored.
    """

    message_infos: int
    read_histories: int
    known_bodies: int
    conversations: int
    passed: int
    message_translations: int
    response_translations: int
    vectors: int
    queries: int
    read_messages: int
    read_infos: int
    snapshots: int

    @classmethod
    def of(cls, megabytes: int = MEGABYTES) -> CacheLimits:
        """Divide this many megabytes among the caches.

        >>> CacheLimits.of(100).conversations
        65011712
        """
        every = megabytes << 20
        return cls(**{each.name: every * _THOUSANDTHS[each.name] // 1_000 for each in fields(cls)})

    def total(self) -> int:
        """Sum of all caches' limits."""
        return sum(getattr(self, each.name) for each in fields(self))

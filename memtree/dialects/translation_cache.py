"""Cache of translations of posted items, so that a turn translates only what is new.

As with `memtree.conversation.message_cache`, the key is xxh3-128 of the raw fragment, seeded by
process and tenant: a collision crafted by one tenant does not affect another. The cache holds text
of conversations, so it is bounded in bytes, never leaves the process, and is emptied when something
is deleted.
"""

from __future__ import annotations

from threading import Lock
from typing import Generic, NamedTuple, TypeVar

from memtree.conversation.message_cache import FragmentKeys
from memtree.process.bounded import SizedRows

BYTES = 64 * 1024 * 1024
ENTRY_BYTES = 500  # estimate for an entry without its text: key, tuple, objects of the translation

V = TypeVar("V")


class TranslationCache(Generic[V]):
    """Cache of translations of raw fragments, at most `most` bytes, with least recently used
    eviction."""

    def __init__(self, seed: int, most: int = BYTES) -> None:
        """Create an empty cache. `seed`: random per process."""
        self.keys = FragmentKeys(seed)
        self._deletions = 0
        self._entries: SizedRows[bytes, _Entry[V]] = SizedRows(most, lambda _, entry: entry.size)
        self._changing = Lock()  # bodies are read in several threads

    @property
    def nbytes(self) -> int:
        """Estimated size in bytes."""
        return self._entries.nbytes

    def get(self, tenant: str, raw: bytes) -> V | None:
        entry = self._entries.get(self.keys.of(tenant, raw))
        return None if entry is None else entry.value

    @property
    def deletions(self) -> int:
        """Number of deletions so far. A request that began before the newest one stores nothing
        here."""
        return self._deletions

    def put(self, tenant: str, raw: bytes, value: V, size: int, since: int | None = None) -> None:
        """Keep a translation, unless it is larger than the whole cache may be. `size`: bytes of
        text that `value` holds. `since`: number of deletions when the request began; after a later
        deletion nothing is kept (None: always kept)."""
        key = self.keys.of(tenant, raw)
        with self._changing:
            if since in (None, self._deletions):
                self._entries.put(key, _Entry(value, size + ENTRY_BYTES))

    def forget(self) -> None:
        """Empty the cache, since its keys do not tell the tenant."""
        with self._changing:
            self._deletions += 1
            self._entries.clear()
            self.keys.forget()


class _Entry(NamedTuple, Generic[V]):
    value: V
    size: int

"""Cache of translations of posted items, so that a turn translates only what is new.

As with `memtree.conversation.message_cache`, the key is xxh3-128 of the raw fragment, seeded by
process and tenant: a collision crafted by one tenant does not meet another's. What is kept holds
text of the conversation, so it is bounded in bytes, never leaves the process, and goes when
something is deleted.
"""

from __future__ import annotations

from threading import Lock
from typing import Generic, NamedTuple, TypeVar

from memtree.conversation.message_cache import FragmentKeys

BYTES = 64 * 1024 * 1024
ENTRY_BYTES = 500  # of an entry beside its text: key, tuple, objects of the translation

V = TypeVar("V")


class TranslationCache(Generic[V]):
    """Translations of raw fragments; the older half goes when they take more than `most` bytes."""

    def __init__(self, seed: int, most: int = BYTES) -> None:
        """`seed`: random per process."""
        self.keys = FragmentKeys(seed)
        self._most = most
        self._bytes = 0
        self._deletions = 0
        self._found: dict[bytes, _Entry[V]] = {}
        self._changing = Lock()  # bodies are read in several threads

    @property
    def nbytes(self) -> int:
        """Estimate the bytes that it holds."""
        return self._bytes

    def get(self, tenant: str, raw: bytes) -> V | None:
        entry = self._found.get(self.keys.of(tenant, raw))
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
        size += ENTRY_BYTES
        if size > self._most:
            return
        key = self.keys.of(tenant, raw)
        with self._changing:
            if since not in (None, self._deletions):
                return
            self._drop(key)
            if self._bytes + size > self._most:
                self._halve(size)
            self._found[key] = _Entry(value, size)
            self._bytes += size

    def forget(self) -> None:
        """All of it: the keys do not tell whose they are."""
        with self._changing:
            self._deletions += 1
            self._found.clear()
            self.keys.forget()
            self._bytes = 0

    def _halve(self, size: int) -> None:
        """Make room for `size` more bytes, and for some time to come."""
        room = min(self._most // 2, self._most - size)
        for key in list(self._found):
            if self._bytes <= room:
                break
            self._drop(key)

    def _drop(self, key: bytes) -> None:
        entry = self._found.pop(key, None)
        if entry is not None:
            self._bytes -= entry.size


class _Entry(NamedTuple, Generic[V]):
    value: V
    size: int

"""Cache what was read of raw fragments, so that a turn reads only what is new.

Translations of posted items (`TranslationCache`): as with `context.read_histories`, the key is
xxh3-128 of the raw fragment, seeded by process and tenant: a collision crafted by one tenant does
not affect another. This cache holds text of conversations, so it is bounded in bytes, never leaves
the process, and is emptied when something is deleted.

Translations of posted lists (`KnownTranslations`) are kept by the lists' numbers: a request whose
history begins with an earlier one continues from the earlier translation. This cache holds
positions and marks, no text; yet it is emptied when something is deleted, and is bounded in bytes.

Tokens and cache markers of fields that a client repeats in each request (`FragmentCounts`): 78 kB
of tools take some milliseconds to count, and microseconds to look up. The cache holds digests and
two numbers, no text. A digest is xxh3-128 with a seed of the process, so nobody can predict it;
whoever has the same fragment learns only its size.
"""

from __future__ import annotations

import secrets
from threading import Lock
from typing import Generic, NamedTuple, Protocol, TypeVar

import xxhash

from memtree.context.read_histories import FragmentKeys
from memtree.history.cache_control import MOST
from memtree.history.json_body import Body
from memtree.process.bounded import SizedRows, TenantRows
from memtree.text import tokens

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


KNOWN_BYTES = 16 * 1024 * 1024  # about 80 histories of a million tokens


class SizedTranslation(Protocol):
    """Translation of one list, with its size."""

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        ...


K = TypeVar("K", bound=SizedTranslation)


class KnownTranslations(Generic[K]):
    """Translations by tenant and number of the list. The newest two of a growing conversation are
    kept, since a client may replace the last turn."""

    def __init__(self, most: int = KNOWN_BYTES) -> None:
        """Create an empty cache. `most`: bytes in all."""
        self._rows: TenantRows[int, _Known[K]] = TenantRows(most, _size)

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes

    def get(self, tenant: str, number: int) -> K | None:
        known = self._rows.get((tenant, number))
        return None if known is None else known.value

    def put(self, tenant: str, number: int, value: K, before: int | None = None) -> None:
        """Store a translation. `before`: the list that this list grew from or equals."""
        grew = None if before is None else self._rows.get((tenant, before))
        if grew is not None and before == number:
            before = grew.before
        elif grew is not None and grew.before is not None:
            self._rows.drop((tenant, grew.before))
        self._rows.put((tenant, number), _Known(value, before))

    def forget(self, tenant: str | None = None) -> None:
        """Remove a tenant's lists; None: the lists of all tenants."""
        self._rows.forget(tenant)


class _Known(NamedTuple, Generic[K]):
    value: K
    before: int | None


def _size(key: tuple[str, int], known: _Known[K]) -> int:
    return known.value.nbytes + len(key[0]) + 300


MOST_BYTES = 512 * 1024
ROW_BYTES = 250
SHORT = 64  # bytes: a shorter fragment is counted as fast as looked up


class FragmentCount(NamedTuple):
    tokens: int
    markers: int


class FragmentCounts:
    """Cache of counts, at most `most` bytes, with least recently used eviction. Thread-safe."""

    def __init__(self, seed: int, most: int = MOST_BYTES) -> None:
        """Create an empty cache. `seed`: random per process."""
        self._seed = seed
        self._rows: SizedRows[bytes, FragmentCount] = SizedRows(most, lambda *_: ROW_BYTES)

    @property
    def nbytes(self) -> int:
        """Estimated size in bytes."""
        return self._rows.nbytes

    def of(self, fragment: bytes) -> FragmentCount:
        """Count a field's raw JSON in UTF-8."""
        if len(fragment) < SHORT:
            return _counted(fragment)
        key = xxhash.xxh3_128_digest(fragment, self._seed)
        count = self._rows.get(key)
        if count is None:
            count = _counted(fragment)
            self._rows.put(key, count)
        return count


def _counted(fragment: bytes) -> FragmentCount:
    return FragmentCount(tokens.count(fragment.decode()), fragment.count(b'"cache_control"'))


COUNTS = FragmentCounts(secrets.randbits(64))  # of this process


def tools_tokens(body: Body) -> int:
    """Count the tokens of the window that the serialized tools take."""
    names = ("tools", "functions", "response_format")
    fragments = [fragment for name in names if (fragment := body.fragment(name))]
    counted = (fragment for fragment in fragments if fragment not in (b"null", b"[]"))
    return sum(COUNTS.of(fragment).tokens for fragment in counted)


def markers(body: Body) -> int:
    """Count the cache markers among the tools. With a marker beside the messages the provider sets
    its own markers, so there is no room for another."""
    if (own := body.fragment("cache_control")) and own != b"null":
        return MOST
    fragments = (body.fragment(name) for name in ("tools", "functions"))
    return sum(COUNTS.of(fragment).markers for fragment in fragments if fragment)

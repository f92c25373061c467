"""The index of a scope as the store is now: out of the cache, or the stored segment, or all rows.

One read brings an index to the store's change count. The rows that came since the last segment are
the tail; once it is a twentieth of all, a new segment is made of both and stored, in the
background: over time each row is packed some twenty times, and no search waits for it.

A block of rows as one piece of bytes, so that a restart reads it instead of making it anew.

    data = packed(block, "scope and recipe")
    block = unpacked(data, "scope and recipe")     # None: damaged, of another format or another key

The arrays stand one behind the other, little-endian, and the block that is read back shares the
memory of `data`. The head holds a checksum over everything else and over the key.
"""

from __future__ import annotations

import asyncio
import logging
import struct
from collections import OrderedDict
from typing import Any, Protocol
from weakref import WeakValueDictionary

import numpy as np
import xxhash
from numpy.typing import NDArray

from memtree.errors import MemTreeError
from memtree.memories.memory_store import MemoryStore, ScopeState, SearchRows, StoredSegment
from memtree.memories.scope import Scope
from memtree.memories.search.block_rows import EMPTY, NOTHING, Postings, RowBlock, ScopeIndex
from memtree.process.bounded import SizedCache

_HEAD = struct.Struct("<8sQIII")  # magic, checksum; rows, numbers of a vector, postings
_MAGIC = b"memtree1"


def packed(block: RowBlock, key: str) -> bytes:
    postings = block.postings
    arrays: tuple[NDArray[Any], ...] = (
        block.expires,
        block.sessions,
        block.numbers,
        block.norms,
        postings.lengths,
        postings.hashes,
        postings.rows,
        postings.counts,
        block.embedded,
        block.vectors,
    )
    parts = [array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes() for array in arrays]
    sizes = len(block), block.vectors.shape[1], len(postings.hashes)
    return b"".join((_HEAD.pack(_MAGIC, _checksum(parts, key, sizes), *sizes), *parts))


def unpacked(data: bytes, key: str) -> RowBlock | None:
    if len(data) < _HEAD.size:
        return None
    magic, checksum, *sizes = _HEAD.unpack_from(data)
    rows, width, postings = sizes
    if magic != _MAGIC or len(data) != _HEAD.size + _length(rows, width, postings):
        return None
    if checksum != _checksum([memoryview(data)[_HEAD.size :]], key, sizes):
        return None
    at = _HEAD.size

    def array(dtype: str, count: int) -> NDArray[Any]:
        nonlocal at
        values = np.frombuffer(data, np.dtype(dtype).newbyteorder("<"), count, at)
        at += values.nbytes
        return values.astype(dtype, copy=False)

    expires, sessions = array("f8", rows), array("i8", rows)
    numbers, norms, lengths = array("i4", rows), array("f4", rows), array("f4", rows)
    hashes, of_rows = array("u4", postings), array("i4", postings)
    counts, embedded = array("u1", postings), array("?", rows)
    vectors = array("i1", rows * width).reshape(rows, width)
    row_postings = Postings(hashes, of_rows, counts, lengths)
    return RowBlock(numbers, expires, sessions, vectors, norms, embedded, row_postings)


def _length(rows: int, width: int, postings: int) -> int:
    return rows * (2 * 8 + 3 * 4 + 1 + width) + postings * (2 * 4 + 1)


def _checksum(
    parts: list[bytes] | list[memoryview], key: str, sizes: tuple[int, ...] | list[int]
) -> int:
    digest = xxhash.xxh3_64(repr((key, *sizes)).encode("utf-8", "surrogatepass"))
    for part in parts:
        digest.update(part)
    return digest.intdigest()


class OfTenant(Protocol):
    """Protocol of a key that names its tenant; it can be hashed."""

    @property
    def tenant(self) -> str: ...


Key = tuple[OfTenant, str]


class IndexCache:
    """Keeps indexes between searches, bounded in bytes, with a share for each tenant.

    When there are too many bytes, the tenant that holds most gives its least recently used
    index. So of n tenants one that holds no more than its share, a n-th of all bytes, never
    loses an index to others.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.bytes = 0
        self._tenants: dict[str, OrderedDict[Key, SizedCache]] = {}
        self._held: dict[str, int] = {}  # bytes by tenant

    def get(self, scope: OfTenant, recipe: str) -> SizedCache | None:
        rows = self._tenants.get(scope.tenant)
        if rows is None or (scope, recipe) not in rows:
            return None
        rows.move_to_end((scope, recipe))
        return rows[scope, recipe]

    def put(self, scope: OfTenant, recipe: str, index: SizedCache) -> None:
        """Keep an index, and drop those of the tenant that holds most until all fit. An index
        larger than the whole cache is not kept."""
        rows = self._tenants.setdefault(scope.tenant, OrderedDict())
        before = rows.pop((scope, recipe), None)
        rows[scope, recipe] = index
        self._count(scope.tenant, index.nbytes - (before.nbytes if before else 0))
        while self.bytes > self.most_bytes:
            self._evict(max(self._held, key=self._held.__getitem__))

    def forget(self, tenant: str) -> None:
        """Let go of all indexes of a tenant."""
        while tenant in self._tenants:
            self._evict(tenant)

    def _evict(self, tenant: str) -> None:
        rows = self._tenants[tenant]
        _, index = rows.popitem(last=False)
        self._count(tenant, -index.nbytes)
        if not rows:
            del self._tenants[tenant], self._held[tenant]

    def _count(self, tenant: str, more: int) -> None:
        self.bytes += more
        self._held[tenant] = self._held.get(tenant, 0) + more


log = logging.getLogger("memtree")

SMALL = 2_000  # memories under which rows are read faster than segments are worth
TAIL = 0.05  # of all rows that a segment does not hold, or holds as they are no more
IN_A_THREAD = 500  # rows to read from which others would wait
LARGEST_SEGMENT = 512 << 20  # bytes; a database takes no more than twice this in one value


class IndexLoader:
    """`cache_bytes`: of all indexes that are kept; `cache` also keeps those of several scopes."""

    def __init__(self, store: MemoryStore, cache_bytes: int) -> None:
        self._store = store
        self.cache = IndexCache(cache_bytes)
        self._locks: WeakValueDictionary[tuple[Scope, str], asyncio.Lock] = WeakValueDictionary()
        self._packing: dict[tuple[Scope, str], asyncio.Task[None]] = {}

    @property
    def bytes(self) -> int:
        """Bytes held by all cached indexes."""
        return self.cache.bytes

    async def past(self, scope: Scope, recipe: str) -> ScopeIndex:
        """All rows that are stored, live or not, in an index for one search."""
        stored = await self._store.search_rows(scope, recipe, 0)

        def made() -> ScopeIndex:
            rows = tuple(row._replace(live=True, expires=None) for row in stored.rows)
            return ScopeIndex.of(SearchRows(stored.state, rows))

        return await asyncio.to_thread(made)

    async def index(self, scope: Scope, recipe: str) -> ScopeIndex:
        """Searches of one scope that come at once share one load."""
        lock = self._locks.setdefault((scope, recipe), asyncio.Lock())
        async with lock:
            kept = self.cache.get(scope, recipe)
            known = kept if isinstance(kept, ScopeIndex) else await self._restored(scope, recipe)
            changes = await self._store.search_rows(scope, recipe, known.state.changed)
            if known is not NOTHING and not _continues(changes.state, known.state):
                known, changes = NOTHING, await self._store.search_rows(scope, recipe, 0)
            if len(changes.rows) < IN_A_THREAD:
                index = known.refreshed(changes)
            else:
                index = await asyncio.to_thread(known.refreshed, changes)
            self.cache.put(scope, recipe, index)
        if index.live_rows >= SMALL and index.outdated > TAIL * index.live_rows:
            self._pack_soon(scope, recipe, index)
        return index

    def forget(self, tenant: str) -> None:
        """Let go of all indexes of a tenant."""
        self.cache.forget(tenant)

    async def settled(self) -> None:
        """Wait for the segments that are being made."""
        while self._packing:
            await asyncio.wait(self._packing.values())

    async def close(self) -> None:
        """End what runs in the background."""
        tasks = list(self._packing.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _restored(self, scope: Scope, recipe: str) -> ScopeIndex:
        stored = await self._store.segment(scope, recipe)
        if stored is None:
            return NOTHING
        block = await asyncio.to_thread(unpacked, stored.data, _key(scope, recipe))
        if block is None:
            log.warning("memory_index.segment_unreadable", extra={"bytes": len(stored.data)})
            return NOTHING
        return _of_block(block, ScopeState(stored.changed, purges=stored.purges))

    def _pack_soon(self, scope: Scope, recipe: str, index: ScopeIndex) -> None:
        key = scope, recipe
        if key not in self._packing:
            task = asyncio.create_task(self._pack(scope, recipe, index), name="memory-segment")
            self._packing[key] = task
            task.add_done_callback(lambda _: self._packing.pop(key, None))

    async def _pack(self, scope: Scope, recipe: str, index: ScopeIndex) -> None:
        """Make one block of an index, keep it in the index's place, and store it."""
        state = index.state
        block = await asyncio.to_thread(index.whole)
        if self.cache.get(scope, recipe) is not None:  # else it was forgotten meanwhile
            self.cache.put(scope, recipe, _of_block(block, state))
        if block.nbytes > LARGEST_SEGMENT:
            return
        data = await asyncio.to_thread(packed, block, _key(scope, recipe))
        try:
            segment = StoredSegment(state.changed, state.purges, data)
            await self._store.put_segment(scope, recipe, segment)
        except MemTreeError as error:
            log.warning("memory_index.segment_not_kept", extra={"error": error.code})


def _of_block(block: RowBlock, state: ScopeState) -> ScopeIndex:
    return ScopeIndex(state, block, np.ones(len(block), np.bool_), EMPTY)


def _continues(state: ScopeState, known: ScopeState) -> bool:
    """Return True if rows tell what changed since: nothing was erased, and it is the same store."""
    return state.purges == known.purges and state.changed >= known.changed


def _key(scope: Scope, recipe: str) -> str:
    return "\n".join((scope.tenant, scope.kind, scope.owner, scope.subject, recipe))

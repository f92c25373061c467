"""Search the memories of one scope in an index of what the store holds now.

    search = MemorySearch(store, embedder, now=time.time)
    result = await search.search(Scope.of_chat("acme", "c1"), "which port has staging?", limit=5)
    result.hits[0].memory.text

Before every search one read brings the scope's index to the store's change count. The hits are read
from the store at the end, so what was deleted, changed or added by anybody is so at once.

The index comes out of the cache, or the stored segment, or all rows. The rows that came since the
last segment are the tail. Once it is a twentieth of all, a new segment is made of both and stored,
in the background: over time each row is packed some twenty times, and no search waits for it.

A segment is a block of rows as one piece of bytes, so that a restart reads it instead of making it
anew.

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
from collections.abc import Callable, Sequence
from typing import Any, Protocol
from weakref import WeakValueDictionary

import numpy as np
import xxhash
from numpy.typing import NDArray

from memtree.errors import EmbedderUnavailable, MemTreeError
from memtree.memories.memory_store import (
    ANY,
    MemoryFilter,
    MemoryIndexing,
    MemoryStore,
    ScopeState,
    SearchRows,
    StoredSegment,
)
from memtree.memories.scope import Scope
from memtree.memories.search.block_rows import EMPTY, NOTHING, Postings, RowBlock, ScopeIndex
from memtree.memories.search.query import LOADING, PATIENCE, Query, QueryVectors
from memtree.memories.search.ranking import (
    NO_EMBEDDER,
    MemoryHit,
    Ranked,
    SearchResult,
    as_hits,
    best_of,
    newest_hits_first,
    ranked,
    without_common,
)
from memtree.memories.search.vector_bytes import Vector
from memtree.ports.models import Embedder, Matrix
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
    size = _HEAD.size + rows * (2 * 8 + 3 * 4 + 1 + width) + postings * (2 * 4 + 1)
    if magic != _MAGIC or len(data) != size:
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

    def __init__(self, store: MemoryIndexing, cache_bytes: int) -> None:
        self._store = store
        self.cache = IndexCache(cache_bytes)
        self._locks: WeakValueDictionary[tuple[Scope, str], asyncio.Lock] = WeakValueDictionary()
        self._packing: dict[tuple[Scope, str], asyncio.Task[None]] = {}

    @property
    def bytes(self) -> int:
        """Bytes held by all cached indexes."""
        return self.cache.bytes

    async def past(self, scope: Scope, recipe: str) -> ScopeIndex:
        """Return all stored rows, live or not, in an index for one search."""
        stored = await self._store.search_rows(scope, recipe, 0)

        def made() -> ScopeIndex:
            rows = tuple(row._replace(live=True, expires=None) for row in stored.rows)
            return ScopeIndex.of(SearchRows(stored.state, rows))

        return await asyncio.to_thread(made)

    async def index(self, scope: Scope, recipe: str) -> ScopeIndex:
        """Return the index of a scope as the store is now. Searches of one scope that come at once
        share one load."""
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


CACHE_BYTES = 256 << 20
RANKED_IN_A_THREAD = 10_000  # rows from which ranking would hold up other requests
# Characters that are at most 126 wordpieces: of such a text an embedder of queries, which is quick,
# reads all, as an embedder of passages does.
SHORT = 126
SPARE = 16  # rows ranked beyond the limit, for those that are gone when they are read


class MemorySearch:
    """`now`: unix seconds. `cache_bytes`: of all indexes that are kept between searches. `loader`
    and `vectors`: for searches over several scopes."""

    def __init__(
        self,
        store: MemoryStore,
        embedder: Embedder | None,
        *,
        now: Callable[[], float],
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        self._store, self._embedder, self._now = store, embedder, now
        self.loader = IndexLoader(store, cache_bytes)
        self.vectors = QueryVectors(embedder)

    async def search(
        self,
        scope: Scope,
        query: str | Sequence[str],
        *,
        wanted: MemoryFilter = ANY,
        limit: int = 5,
        least: float = 0.0,
        patience: float | None = None,
        loading: float = LOADING,
    ) -> SearchResult:
        """Return the memories nearest to a query, best first. Of several queries the first is what
        was asked, and of a memory near to two the better counts. `least`: relevance below which a
        hit is left out. `patience`: seconds that the embedder has, after `loading` seconds for a
        model that is still being loaded; then words rank alone. Store errors."""
        until = await self.vectors.until(patience, loading)
        texts = [query] if isinstance(query, str) else list(dict.fromkeys(query))
        index, queries, late = await self._asked(scope, texts, until)
        numbers: NDArray[np.int32] | None = None
        if wanted != ANY:
            numbers = np.array(await self._store.matching(scope, wanted), np.int32)
        past = wanted.superseded or wanted.expired or wanted.deleted
        if past:
            index = await self.loader.past(scope, self.vectors.recipe)
        rankings = [
            await self._ranked(index, prepared, limit + SPARE, least, numbers)
            for prepared in queries
        ]
        ranking = best_of(rankings, limit + SPARE)
        hits = newest_hits_first(index, queries[0], await self._hits(scope, ranking, past=past))
        lacking = self._embedder is not None and (late or not ranking.complete)
        degraded = NO_EMBEDDER if lacking else ()
        background, by_words = queries[0].background, queries[0].vector is None
        known = background is None or background.known
        return SearchResult(tuple(hits[:limit]), degraded, by_words, known)

    async def neighbours(
        self, scope: Scope, text: str, vector: Vector | None, *, limit: int = 8
    ) -> SearchResult:
        """Return live memories of this very scope that may say the same as a text, best first.
        `vector`: the text's own, None while it is not known."""
        index = await self.loader.index(scope, self.vectors.recipe)
        until = asyncio.get_running_loop().time() + PATIENCE
        query = await self.vectors.query(text, vector, until)
        ranking = await self._ranked(index, query, limit + SPARE)
        return SearchResult(
            tuple(await self._hits(scope, ranking))[:limit], by_words=query.vector is None
        )

    async def embed(self, texts: Sequence[str], patience: float | None) -> Matrix | None:
        """Embed texts as unit rows, (n, dimensions); None where there is no embedder, it failed, or
        it took more than `patience` seconds. What is still being loaded is waited for before."""
        if self._embedder is None:
            return None
        until = await self.vectors.until(patience)
        try:
            async with asyncio.timeout_at(until):
                if not self._embedder.dimensions:
                    await self._embedder.embed([])
                if len(texts) == 1 and len(texts[0]) <= SHORT:
                    return (await self._embedder.embed_query(texts[0]))[None]
                return await self._embedder.embed(texts)
        except (EmbedderUnavailable, TimeoutError):
            return None

    def forget(self, tenant: str) -> None:
        """Let go of all indexes of a tenant."""
        self.loader.forget(tenant)

    @property
    def index_bytes(self) -> int:
        """Bytes held by all cached indexes."""
        return self.loader.bytes

    async def settled(self) -> None:
        """Wait for what runs in the background."""
        await self.loader.settled()

    async def close(self) -> None:
        """End what runs in the background. Before the store is closed."""
        await self.loader.close()
        await self.vectors.close()

    async def _asked(
        self, scope: Scope, texts: Sequence[str], until: float | None
    ) -> tuple[ScopeIndex, list[Query], bool]:
        """Return the index and the queries, embedded as far as there is time until then, and
        whether there was no time for the first. All together, whole and without their common words
        at the same time: each takes as long as all the rest of a search."""
        await self.vectors.meet(until)
        whole = asyncio.create_task(self.vectors.rows(texts, until))
        try:
            index = await self.loader.index(scope, self.vectors.recipe)
            now = self._now()
            left = [without_common(index, text, now) if self._embedder else "" for text in texts]
            shorter = list(filter(None, left))
            rows = await self.vectors.rows(shorter, until)
            particular = dict(zip(shorter, rows, strict=True))
            vectors = await whole
            queries = [
                await self.vectors.query(text, vector, until)
                for text, vector in zip(texts, vectors, strict=True)
            ]
        finally:
            whole.cancel()
            await asyncio.gather(whole, return_exceptions=True)
        queries = [
            query if (vector := particular.get(text)) is None else query.with_particular(vector)
            for query, text in zip(queries, left, strict=True)
        ]
        first = queries[0].vector is None and (vectors[0] is None or self.vectors.reads(texts[0]))
        return index, queries, first

    async def _ranked(
        self,
        index: ScopeIndex,
        query: Query,
        most: int,
        least: float = 0.0,
        wanted: NDArray[np.int32] | None = None,
    ) -> Ranked:
        scale = self.vectors.scale

        def rank() -> Ranked:
            return ranked(index, query, scale, self._now(), most=most, least=least, wanted=wanted)

        return rank() if len(index) < RANKED_IN_A_THREAD else await asyncio.to_thread(rank)

    async def _hits(self, scope: Scope, ranking: Ranked, *, past: bool = False) -> list[MemoryHit]:
        """Return the hits that are still there, as the store has them. `past`: what is not live,
        too."""
        stored = await self._store.get(scope, ranking.numbers.tolist(), deleted=past)
        return as_hits(ranking, {memory.number: memory for memory in stored})

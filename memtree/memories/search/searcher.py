"""Search over the memories of one scope: the use case.

    search = MemorySearch(store, embedder, now=time.time)
    found = await search.search(Scope.of_chat("acme", "c1"), "which port has staging?", limit=5)
    found.hits[0].memory.text

Before every search one read brings the scope's index to the store's change count, and the hits are
read from the store at the end: what was deleted, changed or added by anybody is so at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from memtree.errors import EmbedderUnavailable
from memtree.memories.memory import Memory
from memtree.memories.ports import ANY, MemoryFilter, MemoryStore, ScopeState
from memtree.memories.scope import Scope
from memtree.memories.search.hits import NO_EMBEDDER, MemoryHit, SearchResult
from memtree.memories.search.index_cache import IndexCache
from memtree.memories.search.ranking import (
    Ranked,
    ranked,
    relevance_by_meaning,
    relevance_by_words,
)
from memtree.memories.search.scope_index import NOTHING, ScopeIndex
from memtree.memories.search.vector_bytes import Vector
from memtree.ports.models import Embedder, Matrix
from memtree.text.terms import terms

CACHE_BYTES = 256 << 20
IN_A_THREAD = 10_000  # rows from which ranking would hold up other requests


class MemorySearch:
    """`now`: unix seconds. `cache_bytes`: of all indexes that are kept between searches."""

    def __init__(
        self,
        store: MemoryStore,
        embedder: Embedder | None,
        *,
        now: Callable[[], float],
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        self._store, self._embedder, self._now = store, embedder, now
        self._cache = IndexCache(cache_bytes)
        self._loading: WeakValueDictionary[tuple[Scope, str], asyncio.Lock] = WeakValueDictionary()

    async def search(
        self,
        scope: Scope,
        query: str,
        *,
        wanted: MemoryFilter = ANY,
        limit: int = 5,
        least: float = 0.0,
        patience: float | None = None,
    ) -> SearchResult:
        """The memories nearest to a query, best first. `least`: relevance below which a hit is left
        out. `patience`: seconds that the embedder has; then words rank alone. Store errors."""
        rows = await self.embed([query], patience)
        vector = None if rows is None else rows[0]
        found, degraded = await self._ranked(scope, query, vector, wanted)
        if self._embedder is not None and vector is None:
            degraded = True
        hits = await self._hits(scope, found, limit, least, wanted)
        return SearchResult(hits, NO_EMBEDDER if degraded else ())

    async def neighbours(
        self, scope: Scope, text: str, vector: Vector | None, *, limit: int = 8
    ) -> tuple[MemoryHit, ...]:
        """Live memories of this very scope that may say the same as a text, best first. `vector`:
        the text's own, None while it is not known."""
        found, _ = await self._ranked(scope, text, vector, ANY)
        return await self._hits(scope, found, limit, 0.0, ANY)

    async def embed(self, texts: Sequence[str], patience: float | None) -> Matrix | None:
        """(n, dimensions) unit rows of texts; None where there is no embedder, it failed, or it
        took more than `patience` seconds."""
        if self._embedder is None:
            return None
        try:
            async with asyncio.timeout(patience):
                if not self._embedder.dimensions:
                    await self._embedder.embed([])
                if len(texts) == 1:
                    return (await self._embedder.embed_query(texts[0]))[None]
                return await self._embedder.embed(texts)
        except (EmbedderUnavailable, TimeoutError):
            return None

    def forget(self, tenant: str) -> None:
        """Let go of all indexes of a tenant."""
        self._cache.forget(tenant)

    async def close(self) -> None:
        """End what runs in the background."""

    async def _ranked(
        self, scope: Scope, query: str, vector: Vector | None, wanted: MemoryFilter
    ) -> tuple[Ranked, bool]:
        """And whether some row has no vector that should have one."""
        index = await self._index(scope)
        numbers: NDArray[np.int32] | None = None
        if wanted != ANY:
            numbers = np.array(await self._store.matching(scope, wanted), np.int32)
        asked, now = terms(query), self._now()
        if len(index) < IN_A_THREAD:
            found = ranked(index, asked, vector, now, numbers)
        else:
            found = await asyncio.to_thread(ranked, index, asked, vector, now, numbers)
        lacking = self._embedder is not None and not index.embedded[index.live(now)].all()
        return found, lacking

    async def _index(self, scope: Scope) -> ScopeIndex:
        """The scope's index as the store is now."""
        key = scope, self._embedder.recipe if self._embedder else ""
        lock = self._loading.setdefault(key, asyncio.Lock())
        async with lock:
            known = self._cache.get(*key) or NOTHING
            found = await self._store.search_rows(*key, known.state.changed)
            if known is not NOTHING and not _continues(found.state, known.state):
                known, found = NOTHING, await self._store.search_rows(*key, 0)
            index = known.refreshed(found)
            self._cache.put(*key, index)
        return index

    async def _hits(
        self, scope: Scope, found: Ranked, limit: int, least: float, wanted: MemoryFilter
    ) -> tuple[MemoryHit, ...]:
        relevance = [self._relevance(found, row) for row in range(len(found.numbers))]
        rows = [row for row, value in enumerate(relevance) if value >= least][:limit]
        numbers = [int(found.numbers[row]) for row in rows]
        memories = {one.number: one for one in await self._store.get(scope, numbers)}
        return tuple(
            MemoryHit(memories[number], relevance[row], float(found.scores[row]))
            for row, number in zip(rows, numbers, strict=True)
            if number in memories and _fits(memories[number], wanted)
        )

    def _relevance(self, found: Ranked, row: int) -> float:
        if self._embedder is None or not found.embedded[row]:
            return relevance_by_words(float(found.covered[row]))
        return relevance_by_meaning(float(found.cosines[row]), self._embedder.relevant)


def _continues(state: ScopeState, known: ScopeState) -> bool:
    """Whether what changed since is told by rows: nothing was erased, and it is the same store."""
    return state.purges == known.purges and state.changed >= known.changed


def _fits(memory: Memory, wanted: MemoryFilter) -> bool:
    """A row may have changed since the filter was asked."""
    return all(
        value is None or value == getattr(memory, name)
        for name, value in (
            ("category", wanted.category),
            ("kind", wanted.kind),
            ("source_type", wanted.source_type),
            ("session_id", wanted.session_id),
            ("thread_id", wanted.thread_id),
        )
    ) and set(wanted.tags) <= set(memory.tags)

"""Search over the memories of one scope: the use case.

    search = MemorySearch(store, embedder, now=time.time)
    result = await search.search(Scope.of_chat("acme", "c1"), "which port has staging?", limit=5)
    result.hits[0].memory.text

Before every search one read brings the scope's index to the store's change count, and the hits are
read from the store at the end: what was deleted, changed or added by anybody is so at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from memtree.errors import EmbedderUnavailable
from memtree.memories.memory_store import ANY, MemoryFilter, MemoryStore
from memtree.memories.scope import Scope
from memtree.memories.search.block_rows import ScopeIndex
from memtree.memories.search.loader import IndexLoader
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

CACHE_BYTES = 256 << 20
IN_A_THREAD = 10_000  # rows from which ranking would hold up other requests
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
        """The memories nearest to a query, best first. Of several queries the first is what was
        asked, and of a memory near to two the better counts. `least`: relevance below which a hit
        is left out. `patience`: seconds that the embedder has, after `loading` seconds for a model
        that is still being loaded; then words rank alone. Store errors."""
        until = await self.vectors.until(patience, loading)
        texts = [query] if isinstance(query, str) else list(dict.fromkeys(query))
        index, queries, degraded = await self._asked(scope, texts, until)
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
        return self._result(hits[:limit], queries[0], degraded, ranking)

    def _result(
        self, hits: Sequence[MemoryHit], query: Query, late: bool, ranking: Ranked
    ) -> SearchResult:
        lacking = self._embedder is not None and (late or not ranking.complete)
        degraded = NO_EMBEDDER if lacking else ()
        known = query.background is None or query.background.known
        return SearchResult(tuple(hits), degraded, query.vector is None, known)

    async def neighbours(
        self, scope: Scope, text: str, vector: Vector | None, *, limit: int = 8
    ) -> SearchResult:
        """Live memories of this very scope that may say the same as a text, best first. `vector`:
        the text's own, None while it is not known."""
        index = await self.loader.index(scope, self.vectors.recipe)
        until = asyncio.get_running_loop().time() + PATIENCE
        query = await self.vectors.query(text, vector, until)
        ranking = await self._ranked(index, query, limit + SPARE)
        return SearchResult(
            tuple(await self._hits(scope, ranking))[:limit], by_words=query.vector is None
        )

    async def embed(self, texts: Sequence[str], patience: float | None) -> Matrix | None:
        """(n, dimensions) unit rows of texts; None where there is no embedder, it failed, or it
        took more than `patience` seconds. What is still being loaded is waited for before."""
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
        """The index and the queries, embedded as far as there is time until then, and whether there
        was not for the first. All together, whole and without their common words at the same time:
        each takes as long as all the rest of a search."""
        await self.vectors.meet(until)
        whole = asyncio.create_task(self.vectors.rows(texts, until))
        try:
            index = await self.loader.index(scope, self.vectors.recipe)
            now = self._now()
            left = [without_common(index, text, now) if self._embedder else "" for text in texts]
            particular = dict(
                zip(
                    filter(None, left),
                    await self.vectors.rows([*filter(None, left)], until),
                    strict=True,
                )
            )
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

        return rank() if len(index) < IN_A_THREAD else await asyncio.to_thread(rank)

    async def _hits(self, scope: Scope, ranking: Ranked, *, past: bool = False) -> list[MemoryHit]:
        """Return the hits that are still there, as the store has them. `past`: what is not live,
        too."""
        stored = await self._store.get(scope, ranking.numbers.tolist(), deleted=past)
        return as_hits(ranking, {memory.number: memory for memory in stored})

"""Search over the memories of one scope: the use case.

    search = MemorySearch(store, embedder, now=time.time)
    found = await search.search(Scope.of_chat("acme", "c1"), "which port has staging?", limit=5)
    found.hits[0].memory.text

Before every search one read brings the scope's index to the store's change count, and the hits are
read from the store at the end: what was deleted, changed or added by anybody is so at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memtree.errors import EmbedderUnavailable
from memtree.memories.memory import Memory
from memtree.memories.ports import ANY, MemoryFilter, MemoryStore, SearchRows
from memtree.memories.scope import Scope
from memtree.memories.search.hits import NO_EMBEDDER, MemoryHit, SearchResult
from memtree.memories.search.index.loader import IndexLoader
from memtree.memories.search.index.scope_index import ScopeIndex, inverse_frequency
from memtree.memories.search.past import rows_of_then
from memtree.memories.search.query import LEAST_MEMORIES, Query, common, is_common, without
from memtree.memories.search.ranking import Ranked, ranked
from memtree.memories.search.vector_bytes import Vector
from memtree.memories.search.versions import Candidate, newest_first
from memtree.ports.models import Embedder, Matrix
from memtree.text.terms import terms

CACHE_BYTES = 256 << 20
IN_A_THREAD = 10_000  # rows from which ranking would hold up other requests
# Characters that are at most 126 wordpieces: of such a text an embedder of queries, which is quick,
# reads all, as an embedder of passages does.
SHORT = 126
MOST_PAST = 20_000  # memories of another time that one search reads
PAST_PAGE = 1_000
SPARE = 16  # rows ranked beyond the limit, for those that are gone when they are read


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
        self._loader = IndexLoader(store, cache_bytes)

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
        loop = asyncio.get_running_loop()
        until = None if patience is None else loop.time() + patience
        index, asked = await self._asked(scope, query, until)
        numbers: NDArray[np.int32] | None = None
        if wanted != ANY:
            numbers = np.array(await self._store.matching(scope, wanted), np.int32)
        past = wanted.superseded or wanted.expired or wanted.deleted
        if past:
            index = await self._past(scope)
        found = await self._ranked(index, asked, limit + SPARE, least, numbers)
        hits = _newest_first(index, asked, await self._hits(scope, found, past=past))
        lacking = self._embedder is not None and (asked.vector is None or not found.complete)
        return SearchResult(tuple(hits[:limit]), NO_EMBEDDER if lacking else ())

    async def search_as_of(
        self,
        scope: Scope,
        query: str,
        at: float,
        *,
        wanted: MemoryFilter = ANY,
        limit: int = 5,
        least: float = 0.0,
        patience: float | None = None,
    ) -> SearchResult:
        """As `search`, in what was remembered at that time (unix seconds), with the texts of that
        time. All of it is read, so it takes longer the more there was: of more than `MOST_PAST`
        memories the newest."""
        loop = asyncio.get_running_loop()
        _, asked = await self._asked(
            scope, query, None if patience is None else loop.time() + patience
        )
        memories = await self._remembered(scope, at, wanted)
        rows = await self._store.search_rows(scope, self._recipe, 0)
        index = await asyncio.to_thread(lambda: ScopeIndex.of(rows_of_then(memories, rows)))
        found = await self._ranked(index, asked, limit + SPARE, least)
        by_number = {memory.number: memory for memory in memories}
        hits = _newest_first(index, asked, _as_hits(found, by_number))
        lacking = self._embedder is not None and (asked.vector is None or not found.complete)
        return SearchResult(tuple(hits[:limit]), NO_EMBEDDER if lacking else ())

    async def _remembered(self, scope: Scope, at: float, wanted: MemoryFilter) -> list[Memory]:
        memories: list[Memory] = []
        before: int | None = None
        while len(memories) < MOST_PAST:
            page = await self._store.as_of(scope, at, wanted, before=before, limit=PAST_PAGE)
            memories += page.memories
            if not page.more or not page.memories:
                break
            before = page.memories[-1].number
        return memories

    async def neighbours(
        self, scope: Scope, text: str, vector: Vector | None, *, limit: int = 8
    ) -> tuple[MemoryHit, ...]:
        """Live memories of this very scope that may say the same as a text, best first. `vector`:
        the text's own, None while it is not known."""
        index = await self._loader.index(scope, self._recipe)
        found = await self._ranked(index, Query.of(text, vector), limit + SPARE)
        return tuple(await self._hits(scope, found))[:limit]

    async def embed(self, texts: Sequence[str], patience: float | None) -> Matrix | None:
        """(n, dimensions) unit rows of texts; None where there is no embedder, it failed, or it
        took more than `patience` seconds."""
        if self._embedder is None:
            return None
        try:
            async with asyncio.timeout(patience):
                if not self._embedder.dimensions:
                    await self._embedder.embed([])
                if len(texts) == 1 and len(texts[0]) <= SHORT:
                    return (await self._embedder.embed_query(texts[0]))[None]
                return await self._embedder.embed(texts)
        except (EmbedderUnavailable, TimeoutError):
            return None

    def forget(self, tenant: str) -> None:
        """Let go of all indexes of a tenant."""
        self._loader.forget(tenant)

    @property
    def index_bytes(self) -> int:
        """Of the indexes that are kept."""
        return self._loader.bytes

    async def settled(self) -> None:
        """Wait for what runs in the background."""
        await self._loader.settled()

    async def close(self) -> None:
        """End what runs in the background. Before the store is closed."""
        await self._loader.close()

    @property
    def _recipe(self) -> str:
        return self._embedder.recipe if self._embedder else ""

    async def _asked(
        self, scope: Scope, text: str, until: float | None
    ) -> tuple[ScopeIndex, Query]:
        """The index and the query, embedded as far as there is time until then. Whole and without
        its common words at the same time: each takes as long as all the rest of a search."""
        if self._embedder is not None and not self._embedder.dimensions:
            await self._embedded(text, until)  # a new model tells its recipe
        whole = asyncio.create_task(self._embedded(text, until))
        try:
            index = await self._loader.index(scope, self._recipe)
            left = _without_common(index, text, self._now()) if self._embedder else ""
            particular = await self._embedded(left, until) if left else None
            query = Query.of(text, await whole)
        finally:
            whole.cancel()
            await asyncio.gather(whole, return_exceptions=True)
        if query.vector is None or particular is None:
            return index, query
        return index, query.with_particular(particular)

    async def _past(self, scope: Scope) -> ScopeIndex:
        """All rows that are stored, live or not, in an index for one search."""
        found = await self._store.search_rows(scope, self._recipe, 0)

        def made() -> ScopeIndex:
            rows = tuple(row._replace(live=True, expires=None) for row in found.rows)
            return ScopeIndex.of(SearchRows(found.state, rows))

        return await asyncio.to_thread(made)

    async def _embedded(self, text: str, until: float | None) -> Vector | None:
        if self._embedder is None:
            return None
        left = None if until is None else max(0.0, until - asyncio.get_running_loop().time())
        try:
            async with asyncio.timeout(left):
                if not self._embedder.dimensions:
                    await self._embedder.embed([])
                return await self._embedder.embed_query(text)
        except (EmbedderUnavailable, TimeoutError):
            return None

    async def _ranked(
        self,
        index: ScopeIndex,
        query: Query,
        most: int,
        least: float = 0.0,
        wanted: NDArray[np.int32] | None = None,
    ) -> Ranked:
        scale = self._embedder.scale if self._embedder else None

        def rank() -> Ranked:
            return ranked(index, query, scale, self._now(), most=most, least=least, wanted=wanted)

        return rank() if len(index) < IN_A_THREAD else await asyncio.to_thread(rank)

    async def _hits(self, scope: Scope, found: Ranked, *, past: bool = False) -> list[MemoryHit]:
        """What is still there, as the store has it. `past`: what is not live, too."""
        stored = await self._store.get(scope, found.numbers.tolist(), deleted=past)
        return _as_hits(found, {memory.number: memory for memory in stored})


def _as_hits(found: Ranked, memories: Mapping[int, Memory]) -> list[MemoryHit]:
    """Those of the rows that are there. `memories`: by number."""
    columns = (found.numbers.tolist(), found.relevance.tolist(), found.scores.tolist())
    return [
        MemoryHit(memories[number], relevance, score)
        for number, relevance, score in zip(*columns, strict=True)
        if number in memories
    ]


def _without_common(index: ScopeIndex, text: str, now: float) -> str:
    """A query without the words that most memories hold; empty where it has none of these."""
    live = index.live(now)
    return without(text, common(index.counts(terms(text), live), int(live.sum())))


def _newest_first(index: ScopeIndex, query: Query, hits: Sequence[MemoryHit]) -> list[MemoryHit]:
    def weigh(terms: Sequence[int]) -> list[float]:
        # In a handful of memories a word that two of them hold is not common yet.
        live = index.live_rows
        total = max(live, LEAST_MEMORIES)
        counts = index.holders(terms).tolist()
        return [
            0.0 if is_common(count, live) else inverse_frequency(min(count, total), total)
            for count in counts
        ]

    candidates = [
        Candidate(hit.memory.text, (hit.memory.updated, hit.memory.number), hit.score)
        for hit in hits
    ]
    return [hits[at] for at in newest_first(candidates, query.terms, weigh)]

"""Search the memories of agents: one's own, and those that grants of other tenants opened.

    search = AgentSearch(store, memory_search, now=time.time)
    query = AgentQuery("which port?", AgentScopes("acme", "helper", None))
    result = await search.search(query)
    result.hits[0].memory.memory.data

    own index    -> ranked, newer versions first -> hits with their places' scores \\
    shared index -> ranked, newer versions first -> hits with their places' scores  > by score

The scopes of one tenant are ranked as one collection, however many there are: all its rows together
make the weights of words. What another tenant shares is ranked for itself, and its score puts it
between one's own. A score says how much of the query a row holds and means, on one scale for all
indexes, so scores compare. Nobody who shares memories can change the order of one's own, or learn
from the order of theirs what one's own hold.

Several queries over one index are ranked in one pass.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from memtree.agents.agent_memory import (
    AgentScopes,
    AgentSearchStore,
    LocatedMemory,
    PlacedRow,
    ScopeTotals,
)
from memtree.agents.group_index import NO_GROUP, GroupLoader, ManyRows, RowsToRead
from memtree.errors import BadRequest
from memtree.memories.memory import SNAPSHOT
from memtree.memories.memory_store import ANY, MemoryFilter, MemoryStore
from memtree.memories.scope import Scope
from memtree.memories.search.block_rows import BlockRows
from memtree.memories.search.query import PATIENCE, Query
from memtree.memories.search.ranking import (
    NO_EMBEDDER,
    MemoryHit,
    Ranked,
    as_hits,
    newest_hits_first,
    ranked,
    without_common,
)
from memtree.memories.search.scope_search import (
    RANKED_IN_A_THREAD,
    SPARE,
    IndexLoader,
    MemorySearch,
)
from memtree.memories.search.vector_bytes import Vector
from memtree.ranking.relevance_scale import RelevanceScale


class AgentHit(NamedTuple):
    """`score`: orders the hits of one search. `shared`: another tenant's grant opened it. `vector`:
    a unit row, where it is asked for and there is one."""

    scope: Scope
    memory: MemoryHit
    score: float
    shared: bool = False
    vector: Vector | None = None


def hits(
    index: BlockRows,
    query: Query,
    ranking: Ranked,
    there: Sequence[LocatedMemory],
    *,
    shared: bool = False,
    vectors: bool = False,
) -> list[AgentHit]:
    """Return the ranked hits that are still there, newer versions first. Snapshots are not
    shared."""
    by_number = {
        row.memory.number: row for row in there if not (shared and row.memory.kind == SNAPSHOT)
    }
    best = as_hits(ranking, {number: row.memory for number, row in by_number.items()})
    scores = [hit.score for hit in best]
    rows = index.vectors(ranking.rows) if vectors else {}
    by_row = dict(zip(ranking.numbers.tolist(), ranking.rows.tolist(), strict=True))
    made = []
    for hit, score in zip(newest_hits_first(index, query, best), scores, strict=True):
        number = hit.memory.number
        vector = rows.get(by_row.get(number, -1))
        made.append(AgentHit(by_number[number].scope, hit, score, shared, vector))
    return made


def in_one_order(lists: Sequence[Sequence[AgentHit]], limit: int) -> list[AgentHit]:
    """The best of all lists, each of which keeps its own order: a score is that of the place. Of
    equal ones those of an earlier list come first. A memory that stands in two lists counts once,
    as one's own if it is that, else where it stands best."""
    every = sorted((hit for hits in lists for hit in hits), key=lambda hit: -hit.score)
    counts: dict[tuple[str, int], AgentHit] = {}
    for hit in sorted(every, key=lambda hit: hit.shared):
        counts.setdefault(_identity(hit), hit)
    return [hit for hit in every if counts[_identity(hit)] is hit][:limit]


def _identity(hit: AgentHit) -> tuple[str, int]:
    return hit.scope.tenant, hit.memory.memory.number


Numbers = NDArray[np.int32]
Rows = NDArray[np.intp]


class SearchStore(MemoryStore, AgentSearchStore, Protocol):
    """Store as a search over agents' memories needs it."""


class OneScope:
    """One scope to be searched. `index`: its live rows, as they are now; `past`: all rows that are
    stored, for one search; `matching`: numbers of the memories that a filter lets through;
    `memories`: those of these rows of `index` that are still there, in this order, with `past` also
    what is not live."""

    def __init__(self, store: SearchStore, loader: IndexLoader, scope: Scope) -> None:
        self._store, self._loader, self._scope = store, loader, scope

    async def index(self, recipe: str) -> BlockRows:
        return await self._loader.index(self._scope, recipe)

    async def past(self, recipe: str) -> BlockRows:
        return await self._loader.past(self._scope, recipe)

    async def matching(self, wanted: MemoryFilter) -> list[int]:
        return await self._store.matching(self._scope, wanted)

    async def memories(
        self, index: BlockRows, rows: Rows, numbers: Numbers, *, past: bool
    ) -> list[LocatedMemory]:
        stored = await self._store.get(self._scope, numbers.tolist(), deleted=past)
        return [LocatedMemory(self._scope, memory) for memory in stored]


class ManyScopes:
    """Scopes of one tenant that are searched together, with the methods of `OneScope`."""

    def __init__(self, store: SearchStore, groups: GroupLoader, scopes: AgentScopes) -> None:
        self._store, self._groups, self._scopes = store, groups, scopes

    async def index(self, recipe: str) -> BlockRows:
        return await self._groups.rows(self._scopes, recipe)

    async def past(self, recipe: str) -> BlockRows:
        rows = await self._store.placed_rows(self._scopes, recipe, counted=False)
        return await asyncio.to_thread(_past, rows)

    async def matching(self, wanted: MemoryFilter) -> list[int]:
        return await self._store.matching_in(self._scopes, wanted)

    async def memories(
        self, index: BlockRows, rows: Rows, numbers: Numbers, *, past: bool
    ) -> list[LocatedMemory]:
        if not isinstance(index, ManyRows):
            raise TypeError("an index of something else")
        places = index.places_of(rows, numbers).tolist()
        pairs = list(zip(places, numbers.tolist(), strict=True))
        return await self._store.placed_memories(self._scopes, pairs, past=past)


def _past(rows: Sequence[PlacedRow]) -> ManyRows:
    live = [PlacedRow(place, row._replace(live=True, expires=None)) for place, row in rows]
    return ManyRows(NO_GROUP.refreshed(ScopeTotals(), (), RowsToRead(), live))


MORE_PATIENCE = 0.1  # seconds more for each other search of a batch


@dataclass(frozen=True, slots=True)
class AgentQuery:
    """`own`: one scope, or those of agents; None: none of one's own. `shared`: what grants opened.
    `wanted`: of one's own; `wanted_shared`: of the others, where only what is live counts.
    `least`: relevance that a hit must have. `vectors`: hits come with theirs."""

    text: str
    own: Scope | AgentScopes | None
    shared: tuple[AgentScopes, ...] = ()
    wanted: MemoryFilter = ANY
    wanted_shared: MemoryFilter = ANY
    limit: int = 10
    least: float = 0.0
    vectors: bool = False


@dataclass(frozen=True, slots=True)
class AgentSearchResult:
    """Best first. `degraded`: as in `SearchResult`. `at`: unix seconds."""

    hits: tuple[AgentHit, ...] = ()
    degraded: tuple[str, ...] = ()
    at: float = 0.0


class _Place(NamedTuple):
    """Where a query looks. `past`: for what is not live, too."""

    scopes: Scope | AgentScopes
    shared: bool = False
    past: bool = False


class AgentSearch:
    """One per process; safe for concurrent calls. `search`: whose indexes and embedder it uses.
    `now`: unix seconds. `patience`: seconds that the embedder has; None: as long as it takes."""

    def __init__(
        self,
        store: SearchStore,
        search: MemorySearch,
        *,
        now: Callable[[], float],
        patience: float | None = PATIENCE,
    ) -> None:
        self._store, self._now, self._patience = store, now, patience
        self._indexes, self._vectors = search.loader, search.vectors
        self._groups = GroupLoader(store, search.loader)

    @property
    def scale(self) -> RelevanceScale | None:
        """Scale of cosines of vectors; None without an embedder."""
        return self._vectors.scale

    async def search(self, query: AgentQuery) -> AgentSearchResult:
        """Raises `BadRequest` for an empty query, and store errors."""
        return (await self.search_many([query]))[0]

    async def search_many(self, queries: Sequence[AgentQuery]) -> list[AgentSearchResult]:
        """All or none; each as if it were alone. What several of them read is read once, and all
        are embedded in one call."""
        for query in queries:
            if not query.text.strip():
                raise BadRequest("query must not be empty", param="query")
        now = self._now()
        await self._vectors.meet(await self._vectors.until(self._patience))
        places = [list(_places(query)) for query in queries]
        order = list(dict.fromkeys(place for each in places for place in each))
        loaded = {
            place: await self._loaded(place) for place in {each[0]: 0 for each in places if each}
        }
        ready = await self._embedded(queries, places, loaded, now)
        hits_by_query: list[list[list[AgentHit]]] = [[] for _ in queries]
        complete = [True] * len(queries)
        for place in order:
            here = [at for at, each in enumerate(places) if place in each]
            # One after the other, so that few indexes are held at a time.
            index = loaded.pop(place, None) or await self._loaded(place)
            lists = await self._found(place, index, [(queries[at], ready[at]) for at in here], now)
            for at, (hits_here, whole) in zip(here, lists, strict=True):
                hits_by_query[at].append(hits_here)
                complete[at] = complete[at] and whole
        return [
            AgentSearchResult(
                tuple(in_one_order(hits_by_query[at], query.limit)),
                self._degraded(ready[at], complete[at]),
                now,
            )
            for at, query in enumerate(queries)
        ]

    def _degraded(self, query: Query, complete: bool) -> tuple[str, ...]:
        lacking = self._vectors.available and (query.vector is None or not complete)
        return NO_EMBEDDER if lacking else ()

    def _target(self, place: _Place) -> OneScope | ManyScopes:
        scopes = place.scopes
        scope = scopes.single if isinstance(scopes, AgentScopes) else scopes
        if scope is not None:
            return OneScope(self._store, self._indexes, scope)
        if isinstance(scopes, AgentScopes):
            return ManyScopes(self._store, self._groups, scopes)
        raise TypeError("neither a scope nor scopes")

    async def _loaded(self, place: _Place) -> BlockRows:
        target, recipe = self._target(place), self._vectors.recipe
        return await (target.past if place.past else target.index)(recipe)

    async def _embedded(
        self,
        queries: Sequence[AgentQuery],
        places: Sequence[Sequence[_Place]],
        loaded: dict[_Place, BlockRows],
        now: float,
    ) -> list[Query]:
        """Embed the queries. The first scopes of a query say which words are common: its own, if it
        has any."""
        if not self._vectors.available:
            return [Query.of(query.text) for query in queries]

        def particular() -> list[str]:
            return [
                without_common(loaded[each[0]], query.text, now) if each else ""
                for query, each in zip(queries, places, strict=True)
            ]

        size = sum(len(loaded[each[0]]) for each in places if each)
        left = particular() if size < RANKED_IN_A_THREAD else await asyncio.to_thread(particular)
        texts = list(dict.fromkeys([*(query.text for query in queries), *filter(None, left)]))
        more = MORE_PATIENCE * (len(queries) - 1)
        patience = None if self._patience is None else self._patience + more
        until = await self._vectors.until(patience)
        rows = await self._vectors.of(texts, until)
        if rows is None:
            return [Query.of(query.text) for query in queries]
        vectors: dict[str, Vector] = dict(zip(texts, rows, strict=True))
        made = []
        for query, rest in zip(queries, left, strict=True):
            whole = await self._vectors.query(query.text, vectors[query.text], until)
            made.append(whole.with_particular(vectors[rest]) if rest else whole)
        return made

    async def _found(
        self,
        place: _Place,
        index: BlockRows,
        queries: Sequence[tuple[AgentQuery, Query]],
        now: float,
    ) -> list[tuple[list[AgentHit], bool]]:
        """For each query the hits in one place, and whether all rows have vectors."""
        target = self._target(place)
        filtered: dict[MemoryFilter, Numbers] = {}
        for query, _ in queries:
            wanted = _wanted(query, place)
            if wanted != ANY and wanted not in filtered:
                filtered[wanted] = np.array(await target.matching(wanted), np.int32)

        def rank() -> list[Ranked]:
            """Each as if it were ranked alone, in one pass over the vectors."""
            scale = self._vectors.scale
            moved = [embedded.moved for _, embedded in queries if embedded.moved is not None]
            cosines = iter(index.cosines_of_many(moved) if len(moved) > 1 and scale else ())
            return [
                ranked(
                    index,
                    embedded,
                    scale,
                    now,
                    most=query.limit + SPARE,
                    least=query.least,
                    wanted=filtered.get(_wanted(query, place)),
                    cosines=next(cosines, None) if embedded.moved is not None else None,
                )
                for query, embedded in queries
            ]

        small = len(index) * len(queries) < RANKED_IN_A_THREAD
        ranks = rank() if small else await asyncio.to_thread(rank)
        rows, first = np.unique(np.concatenate([rank.rows for rank in ranks]), return_index=True)
        numbers = np.concatenate([rank.numbers for rank in ranks])[first]
        there = await target.memories(index, rows, numbers, past=place.past)
        return [
            (
                hits(index, asked_for, ranked, there, shared=place.shared, vectors=query.vectors),
                ranked.complete,
            )
            for (query, asked_for), ranked in zip(queries, ranks, strict=True)
        ]


def _places(query: AgentQuery) -> Iterator[_Place]:
    """Its own first."""
    if query.own is not None:
        wanted = query.wanted
        yield _Place(query.own, past=wanted.superseded or wanted.expired or wanted.deleted)
    for scopes in dict.fromkeys(query.shared):
        yield _Place(scopes, shared=True)


def _wanted(query: AgentQuery, place: _Place) -> MemoryFilter:
    if not place.shared:
        return query.wanted
    return replace(query.wanted_shared, superseded=False, expired=False, deleted=False)

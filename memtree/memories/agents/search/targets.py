"""Read the scopes that a search means: one, or many."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memtree.memories.agents.agent_memory import AgentScopes, LocatedMemory
from memtree.memories.agents.search.group_index import NO_GROUP, RowsToRead
from memtree.memories.agents.search.group_loader import GroupLoader, ManyRows
from memtree.memories.agents.search.ports import AgentSearchStore, PlacedRow, ScopeTotals
from memtree.memories.ports import MemoryFilter, MemoryStore, SearchRow, SearchRows
from memtree.memories.scope import Scope
from memtree.memories.search.index.block_rows import BlockRows
from memtree.memories.search.index.loader import IndexLoader
from memtree.memories.search.index.scope_index import ScopeIndex

Numbers = NDArray[np.int32]
Rows = NDArray[np.intp]


class SearchStore(MemoryStore, AgentSearchStore, Protocol):
    """Store as a search over agents' memories needs it."""


class SearchTarget(Protocol):
    """Scopes of one tenant that are searched together."""

    async def index(self, recipe: str) -> BlockRows:
        """Live rows, as they are now."""
        ...

    async def past(self, recipe: str) -> BlockRows:
        """All rows that are stored, live or not, for one search."""
        ...

    async def matching(self, wanted: MemoryFilter) -> list[int]:
        """Numbers of the memories that a filter lets through."""
        ...

    async def memories(
        self, index: BlockRows, rows: Rows, numbers: Numbers, *, past: bool
    ) -> list[LocatedMemory]:
        """Return those of these rows of `index` that are still there, in this order. `past`: what
        is not live, too."""
        ...


class OneScope:
    """A `SearchTarget`."""

    def __init__(self, store: SearchStore, loader: IndexLoader, scope: Scope) -> None:
        self._store, self._loader, self._scope = store, loader, scope

    async def index(self, recipe: str) -> BlockRows:
        return await self._loader.index(self._scope, recipe)

    async def past(self, recipe: str) -> BlockRows:
        stored = await self._store.search_rows(self._scope, recipe, 0)
        rows = (row._replace(live=True, expires=None) for row in stored.rows)
        return await asyncio.to_thread(lambda: ScopeIndex.of(SearchRows(stored.state, tuple(rows))))

    async def matching(self, wanted: MemoryFilter) -> list[int]:
        return await self._store.matching(self._scope, wanted)

    async def memories(
        self, index: BlockRows, rows: Rows, numbers: Numbers, *, past: bool
    ) -> list[LocatedMemory]:
        stored = await self._store.get(self._scope, numbers.tolist(), deleted=past)
        return [LocatedMemory(self._scope, memory) for memory in stored]


class ManyScopes:
    """A `SearchTarget`."""

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
    live = [PlacedRow(place, _live(row)) for place, row in rows]
    return ManyRows(NO_GROUP.refreshed(ScopeTotals(), (), RowsToRead(), live))


def _live(row: SearchRow) -> SearchRow:
    return row._replace(live=True, expires=None)

"""The rows of many scopes as the store has them now: small scopes out of one index, large ones out
of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from memtree.memories.agents.agent_memory import AgentScopes
from memtree.memories.agents.search.group_index import LARGE, NO_GROUP, GroupIndex
from memtree.memories.agents.search.ports import AgentSearchStore
from memtree.memories.scope import Scope
from memtree.memories.search.index.block_rows import BlockRows, Flags
from memtree.memories.search.index.loader import IN_A_THREAD, TAIL, IndexLoader
from memtree.memories.search.index.row_block import RowBlock
from memtree.memories.search.index.scope_index import ScopeIndex

_HASHES = 1 << 62  # of sessions; a bit above tells those of large scopes
_MIXING = 0x9E37_79B9_7F4A_7C15


@dataclass(frozen=True, slots=True, eq=False)
class ManyRows(BlockRows):
    """The rows of small scopes, then those of the large ones. `large`: the number of each of these
    scopes, and its index."""

    group: GroupIndex
    large: tuple[tuple[int, ScopeIndex], ...] = ()

    @property
    def blocks(self) -> Sequence[tuple[RowBlock, Flags]]:
        every = [*self.group.index.blocks]
        for _, index in self.large:
            every += index.blocks
        return every

    @property
    def sessions(self) -> NDArray[np.int64]:
        """Sessions of one name in two scopes are two, as they are among the small ones."""
        every = [self.group.index.sessions]
        for place, index in self.large:
            sessions = index.sessions
            salt = np.int64(place * _MIXING % _HASHES)
            every.append(np.where(sessions == 0, 0, sessions ^ salt | np.int64(_HASHES)))
        return np.concatenate(every)

    def places_of(self, rows: NDArray[np.intp], numbers: NDArray[np.int32]) -> NDArray[np.int64]:
        """The number of the scope that holds each of these rows."""
        places = np.zeros(len(rows), np.int64)
        start = len(self.group.index)
        here = rows < start
        places[here] = self.group.places_of(numbers[here])
        for place, index in self.large:
            here = (rows >= start) & (rows < start + len(index))
            places[here] = place
            start += len(index)
        return places


class GroupLoader:
    def __init__(self, store: AgentSearchStore, loader: IndexLoader) -> None:
        self._store, self._loader = store, loader
        self._locks: WeakValueDictionary[tuple[AgentScopes, str], asyncio.Lock] = (
            WeakValueDictionary()
        )

    async def rows(self, scopes: AgentScopes, recipe: str) -> ManyRows:
        """Searches of the same scopes that come at once share one load."""
        lock = self._locks.setdefault((scopes, recipe), asyncio.Lock())
        async with lock:
            group = await self._group(scopes, recipe)
        large = []
        for version in group.large:
            scope = Scope.of_agent(scopes.tenant, version.owner, version.subject)
            large.append((version.number, await self._loader.index(scope, recipe)))
        return ManyRows(group, tuple(large))

    async def _group(self, scopes: AgentScopes, recipe: str) -> GroupIndex:
        kept = self._loader.cache.get(scopes, recipe)
        known = kept if isinstance(kept, GroupIndex) else NO_GROUP
        totals = await self._store.scope_totals(scopes)
        if totals == known.totals:
            return known
        # What changes between these reads is read again by the next search.
        versions = await self._store.scope_versions(scopes)
        reading = known.reading(versions)
        rows = []
        if reading.anew:
            rows += await self._store.placed_rows(scopes, recipe, places=reading.anew)
        if reading.changed:
            rows += await self._store.placed_changes(scopes, recipe, reading.changed)

        def refreshed() -> GroupIndex:
            group = known.refreshed(totals, versions, reading, rows)
            many = group.index.live_rows >= LARGE
            spread = group.index.outdated > TAIL * group.index.live_rows
            return group.compact() if many and spread else group

        small = len(rows) + len(reading.dropped) < IN_A_THREAD
        group = refreshed() if small else await asyncio.to_thread(refreshed)
        self._loader.cache.put(scopes, recipe, group)
        return group

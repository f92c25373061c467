"""Keep the small scopes of a tenant's agents in one index, and the large ones in their own.

Ten thousand scopes of ten memories each are one set of arrays, not ten thousand. The index is a
value: a new one is made out of the last one and what changed since.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from memtree.agents.agent_memory import (
    AgentScopes,
    AgentSearchStore,
    PlacedRow,
    ScopeTotals,
    ScopeVersion,
)
from memtree.memories.memory_store import ScopeState, SearchRow, SearchRows
from memtree.memories.scope import Scope
from memtree.memories.search.block_rows import NOTHING, BlockRows, Flags, RowBlock, ScopeIndex
from memtree.memories.search.scope_search import IN_A_THREAD, TAIL, IndexLoader

# A scope with as many live memories has an index of its own, which a search of that scope alone
# uses as well; it keeps it until it has half of them, so that none goes to and fro.
LARGE = 2_000
AT_ONCE = 64  # scopes that are asked one by one what changed; more are read anew
_BYTES_PER_SCOPE = 256


@dataclass(frozen=True, slots=True)
class RowsToRead:
    """Rows to read to bring an index to the present. `anew`: scopes whose rows are all read;
    `changed`: what changed in a scope after a count; `dropped`: scopes whose rows go. `large`:
    scopes that have an index of their own."""

    anew: tuple[int, ...] = ()
    changed: Mapping[int, int] = field(default_factory=dict)
    dropped: tuple[int, ...] = ()
    large: tuple[ScopeVersion, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class GroupIndex:
    """`states`: the change counter and the erasures of each scope in it, by its number. `large`:
    scopes that are not in it. `numbers`, ascending, and `places`: of each row that may be in it,
    the scope that holds it."""

    totals: ScopeTotals
    states: Mapping[int, tuple[int, int]]
    large: tuple[ScopeVersion, ...]
    index: ScopeIndex
    numbers: NDArray[np.int32]
    places: NDArray[np.int64]

    def reading(self, versions: Sequence[ScopeVersion]) -> RowsToRead:
        """`versions`: of all scopes, as they are now."""
        were = {version.number for version in self.large}
        large = [
            version
            for version in versions
            if version.counted >= (LARGE // 2 if version.number in were else LARGE)
        ]
        there = {version.number for version in large}
        anew: list[int] = []
        changed: dict[int, int] = {}
        for version in versions:
            if version.number in there:
                continue
            known = self.states.get(version.number)
            if known is None or known[1] != version.purges:
                anew.append(version.number)
            elif known[0] != version.changed:
                changed[version.number] = known[0]
        if len(changed) > AT_ONCE:
            anew, changed = sorted([*anew, *changed]), {}
        gone = there & self.states.keys()
        dropped = sorted(gone | (self.states.keys() & set(anew)))
        empty = {version.number for version in versions if not version.counted}
        filled = tuple(number for number in anew if number not in empty)
        return RowsToRead(filled, changed, tuple(dropped), tuple(large))

    def refreshed(
        self,
        totals: ScopeTotals,
        versions: Sequence[ScopeVersion],
        reading: RowsToRead,
        rows: Sequence[PlacedRow],
    ) -> GroupIndex:
        """`rows`: what `reading` asked for."""
        there = {row.number for row in reading.large}
        states = {
            row.number: (row.changed, row.purges) for row in versions if row.number not in there
        }
        gone = np.isin(self.places, np.array(reading.dropped, np.int64))
        rows_by_number = {
            number: SearchRow(number, False, None, b"", None)
            for number in self.numbers[gone].tolist()
        }
        rows_by_number |= {placed.row.number: placed.row for placed in rows}
        # A number is that of one scope for ever, so what is left over harms nobody.
        fresh = np.array([placed.row.number for placed in rows], np.int32)
        numbers, first = np.unique(np.concatenate([self.numbers[~gone], fresh]), return_index=True)
        fresh_places = np.array([placed.place for placed in rows], np.int64)
        places = np.concatenate([self.places[~gone], fresh_places])[first]
        state = ScopeState(self.index.state.changed + 1)  # any that is not the one before
        every = tuple(rows_by_number[number] for number in sorted(rows_by_number))
        index = self.index.refreshed(SearchRows(state, every))
        return GroupIndex(totals, states, reading.large, index, numbers, places)

    def compact(self) -> GroupIndex:
        """Return the index with the same rows in one block."""
        block = self.index.whole()
        kept = np.ones(len(block), np.bool_)
        return replace(self, index=ScopeIndex(self.index.state, block, kept, NOTHING.tail))

    def places_of(self, numbers: NDArray[np.int32]) -> NDArray[np.int64]:
        """The scopes of rows that are in it."""
        return self.places[np.searchsorted(self.numbers, numbers)]

    @property
    def nbytes(self) -> int:
        own = self.numbers.nbytes + self.places.nbytes
        return self.index.nbytes + own + _BYTES_PER_SCOPE * len(self.states)


NO_GROUP = GroupIndex(
    ScopeTotals(-1), {}, (), NOTHING, np.empty(0, np.int32), np.empty(0, np.int64)
)


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

"""The small scopes of a tenant's agents as one index: ten thousand scopes of ten memories each are
one set of arrays, not ten thousand.

It is a value, made out of another one and what changed since.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memtree.memories.agents.search.ports import PlacedRow, ScopeTotals, ScopeVersion
from memtree.memories.ports import ScopeState, SearchRow, SearchRows
from memtree.memories.search.index.scope_index import NOTHING, ScopeIndex

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
        large = [version for version in versions if version.counted >= _least(version, were)]
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
        rows_by_number = self._dropping(reading.dropped)
        rows_by_number |= {placed.row.number: placed.row for placed in rows}
        numbers, places = self._placed(reading.dropped, rows)
        state = ScopeState(self.index.state.changed + 1)  # any that is not the one before
        every = tuple(rows_by_number[number] for number in sorted(rows_by_number))
        index = self.index.refreshed(SearchRows(state, every))
        return GroupIndex(totals, states, reading.large, index, numbers, places)

    def compact(self) -> GroupIndex:
        """Return the index with the same rows in one block."""
        block = self.index.whole()
        kept = np.ones(len(block), np.bool_)
        index = ScopeIndex(self.index.state, block, kept, NOTHING.tail)
        return GroupIndex(self.totals, self.states, self.large, index, self.numbers, self.places)

    def places_of(self, numbers: NDArray[np.int32]) -> NDArray[np.int64]:
        """The scopes of rows that are in it."""
        return self.places[np.searchsorted(self.numbers, numbers)]

    @property
    def nbytes(self) -> int:
        own = self.numbers.nbytes + self.places.nbytes
        return self.index.nbytes + own + _BYTES_PER_SCOPE * len(self.states)

    def _dropping(self, dropped: Sequence[int]) -> dict[int, SearchRow]:
        if not dropped:
            return {}
        gone = self.numbers[np.isin(self.places, np.array(dropped, np.int64))]
        return {number: SearchRow(number, False, None, b"", None) for number in gone.tolist()}

    def _placed(
        self, dropped: Sequence[int], rows: Iterable[PlacedRow]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """A number is that of one scope for ever, so what is left over harms nobody."""
        stays = ~np.isin(self.places, np.array(dropped, np.int64))
        fresh = list(rows)
        numbers = np.concatenate(
            [self.numbers[stays], np.array([placed.row.number for placed in fresh], np.int32)]
        )
        places = np.concatenate(
            [self.places[stays], np.array([placed.place for placed in fresh], np.int64)]
        )
        numbers, first = np.unique(numbers, return_index=True)
        return numbers, places[first]


def _least(scope: ScopeVersion, were: set[int]) -> int:
    """Live memories from which it has an index of its own."""
    return LARGE // 2 if scope.number in were else LARGE


NO_GROUP = GroupIndex(
    ScopeTotals(-1), {}, (), NOTHING, np.empty(0, np.int32), np.empty(0, np.int64)
)

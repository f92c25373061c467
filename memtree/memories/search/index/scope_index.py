"""The index of one scope as of one change count: made out of another and what changed since.

It is a value: a search that runs in a thread keeps the one that it began with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtree.memories.ports import ScopeState, SearchRows
from memtree.memories.search.index.block_rows import BlockRows, Flags
from memtree.memories.search.index.row_block import EMPTY, RowBlock


@dataclass(frozen=True, slots=True, eq=False)
class ScopeIndex(BlockRows):
    """`base` and the rows of it that are `kept`; `tail`: what came or changed after it was made.
    Rows are numbered through both, those of `base` first."""

    state: ScopeState
    base: RowBlock
    kept: Flags
    tail: RowBlock

    @classmethod
    def of(cls, rows: SearchRows) -> ScopeIndex:
        return NOTHING.refreshed(rows)

    def refreshed(self, changes: SearchRows) -> ScopeIndex:
        """The index after these changes; rows that are not live are gone."""
        if not changes.rows and changes.state == self.state:
            return self
        changed = np.array([row.number for row in changes.rows], np.int32)
        fresh = RowBlock.of([row for row in changes.rows if row.live])
        kept = self.kept & ~np.isin(self.base.numbers, changed)
        still = ~np.isin(self.tail.numbers, changed)
        tail = RowBlock.joined([(self.tail, still), (fresh, np.ones(len(fresh), np.bool_))])
        return ScopeIndex(changes.state, self.base, kept, tail)

    @property
    def blocks(self) -> tuple[tuple[RowBlock, Flags], ...]:
        return (self.base, self.kept), (self.tail, np.ones(len(self.tail), np.bool_))

    def whole(self) -> RowBlock:
        """All rows in one block."""
        return RowBlock.joined(self.blocks)

    @property
    def outdated(self) -> int:
        """Rows that came after `base`, or left it."""
        return len(self) - int(self.kept.sum())

    @property
    def nbytes(self) -> int:
        return self.base.nbytes + self.kept.nbytes + self.tail.nbytes


NOTHING = ScopeIndex(ScopeState(), EMPTY, np.zeros(0, np.bool_), EMPTY)

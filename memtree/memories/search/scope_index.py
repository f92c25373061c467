"""The index of one scope as of one change count: made out of another and what changed since.

It is a value: a search that runs in a thread keeps the one that it began with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtree.memories.ports import ScopeState, SearchRows
from memtree.memories.search.row_block import EMPTY, RowBlock
from memtree.memories.search.vector_bytes import Vector

K1, B = 1.2, 0.4
_MOST_OF_TERM = 3  # times that a term of the query counts

Flags = NDArray[np.bool_]
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class ScopeIndex:
    """`base` and the rows of it that are `kept`; `tail`: what came or changed after it was made.
    Rows are numbered through both, those of `base` first."""

    state: ScopeState
    base: RowBlock
    kept: Flags
    tail: RowBlock

    @classmethod
    def of(cls, rows: SearchRows) -> ScopeIndex:
        return NOTHING.refreshed(rows)

    def refreshed(self, found: SearchRows) -> ScopeIndex:
        """The index after these changes; rows that are not live are gone."""
        if found.state == self.state:
            return self
        changed = np.array([row.number for row in found.rows], np.int32)
        fresh = RowBlock.of([row for row in found.rows if row.live])
        kept = self.kept & ~np.isin(self.base.numbers, changed)
        tail = self.tail
        still = ~np.isin(tail.numbers, changed)
        tail = RowBlock.joined([(tail, still), (fresh, np.ones(len(fresh), np.bool_))])
        return ScopeIndex(found.state, self.base, kept, tail)

    def __len__(self) -> int:
        return len(self.base) + len(self.tail)

    @property
    def nbytes(self) -> int:
        return self.base.nbytes + self.kept.nbytes + self.tail.nbytes

    @property
    def numbers(self) -> NDArray[np.int32]:
        return np.concatenate([self.base.numbers, self.tail.numbers])

    @property
    def embedded(self) -> Flags:
        return np.concatenate([self.base.embedded, self.tail.embedded])

    def live(self, now: float) -> Flags:
        """Which rows are kept and have not expired."""
        return np.concatenate([self.kept & (self.base.expires > now), self.tail.expires > now])

    def cosines(self, query: Vector) -> Scores:
        return np.concatenate([self.base.cosines(query), self.tail.cosines(query)])

    def words(self, query: Mapping[int, int], live: Flags) -> tuple[Scores, Scores]:
        """Of each row the BM25 score for a query's terms (hash -> count), and the share of the
        weight (idf) of the query's terms that it holds, 0 to 1."""
        scores = np.zeros(len(self), np.float32)
        covered = np.zeros(len(self), np.float32)
        total = int(live.sum())
        if not total:
            return scores, covered
        lengths = np.concatenate([self.base.postings.lengths, self.tail.postings.lengths])
        norms = K1 * (1 - B + B * lengths / max(1.0, float(lengths[live].mean())))
        whole = 0.0
        for term, count in query.items():
            rows, times = self._rows_of(term)
            rows, times = rows[live[rows]], times[live[rows]].astype(np.float32)
            idf = np.log1p((total - len(rows) + 0.5) / (len(rows) + 0.5)).astype(np.float32)
            scores[rows] += (
                min(count, _MOST_OF_TERM) * idf * times * (K1 + 1) / (times + norms[rows])
            )
            covered[rows] += idf
            whole += float(idf)
        return scores, covered / np.float32(whole or 1)

    def _rows_of(self, term: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        first, first_counts = self.base.postings.of_term(term)
        then, then_counts = self.tail.postings.of_term(term)
        return (
            np.concatenate([first, then + np.int32(len(self.base))]),
            np.concatenate([first_counts, then_counts]),
        )


NOTHING = ScopeIndex(ScopeState(), EMPTY, np.zeros(0, np.bool_), EMPTY)

"""Rows of several blocks as if they were one: what a ranking reads of them.

A word's weight is made of all live rows, whichever block they lie in, so that the scores of rows of
different blocks compare.

The index of one scope as of one change count: made out of another and what changed since.

It is a value: a search that runs in a thread keeps the one that it began with.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log1p

import numpy as np
from numpy.typing import NDArray

from memtree.memories.ports import ScopeState, SearchRows
from memtree.memories.search.row_block import EMPTY, RowBlock
from memtree.memories.search.vector_bytes import Vector

# Memories are short and of similar length: k1 and b from 0.6 to 1.2 and 0 to 0.3 differ by less
# than a question in a hundred, b = 0.75 loses two.
K1, B = 0.9, 0.2
_MOST_OF_TERM = 3  # times that a term of the query counts

Flags = NDArray[np.bool_]
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class WordScores:
    """Scores by words of each row: `scores` by BM25, and the share of the weight (idf) of the
    query's terms that it holds (`covered`, 0 to 1). `most`: the score of a row that holds each term
    as often as an average row does."""

    scores: Scores
    covered: Scores
    most: float


class BlockRows(ABC):
    """Rows are numbered through all blocks, in the order of these."""

    __slots__ = ()

    @property
    @abstractmethod
    def blocks(self) -> Sequence[tuple[RowBlock, Flags]]:
        """At least one; and which of its rows count."""

    def __len__(self) -> int:
        return sum(len(block) for block, _ in self.blocks)

    @property
    def live_rows(self) -> int:
        """Expiry aside."""
        return sum(int(kept.sum()) for _, kept in self.blocks)

    @property
    def numbers(self) -> NDArray[np.int32]:
        return np.concatenate([block.numbers for block, _ in self.blocks])

    @property
    def sessions(self) -> NDArray[np.int64]:
        return np.concatenate([block.sessions for block, _ in self.blocks])

    @property
    def embedded(self) -> Flags:
        return np.concatenate([block.embedded for block, _ in self.blocks])

    def live(self, now: float) -> Flags:
        """Flag the rows that count and have not expired."""
        return np.concatenate([kept & (block.expires > now) for block, kept in self.blocks])

    def cosines(self, query: Vector, rows: NDArray[np.intp] | None = None) -> Scores:
        """Return the cosines of a unit query with these rows, or every one; 0 without a vector."""
        if rows is None:
            return np.concatenate([block.cosines(query) for block, _ in self.blocks])
        cosines = np.zeros(len(rows), np.float32)
        start = 0
        for block, _ in self.blocks:
            here = (rows >= start) & (rows < start + len(block))
            if here.any():
                cosines[here] = block.cosines(query, rows[here] - start)
            start += len(block)
        return cosines

    def cosines_of_many(self, queries: Sequence[Vector]) -> list[Scores]:
        """`cosines` with every row, of several queries in one pass."""
        parts = [block.cosines_of_many(queries) for block, _ in self.blocks]
        return [np.concatenate(of_one) for of_one in zip(*parts, strict=True)]

    def vectors(self, rows: NDArray[np.intp]) -> dict[int, Vector]:
        """Unit rows, by row; of those that have one."""
        vectors: dict[int, Vector] = {}
        start = 0
        for block, _ in self.blocks:
            here = rows[(rows >= start) & (rows < start + len(block))]
            for row in here[block.embedded[here - start]].tolist():
                vectors[row] = block.vectors[row - start] / block.norms[row - start]
            start += len(block)
        return vectors

    def unit_rows(self, rows: NDArray[np.intp], width: int) -> Scores:
        """(n, width) float32; zeros where there is no vector of this width."""
        matrix = np.zeros((len(rows), width), np.float32)
        start = 0
        for block, _ in self.blocks:
            here = (rows >= start) & (rows < start + len(block))
            if here.any() and block.vectors.shape[1] == width:
                own = rows[here] - start
                matrix[here] = block.vectors[own] / block.norms[own, None]
            start += len(block)
        return matrix

    def holding(self, term: int, live: Flags) -> Flags:
        """Flag the live rows that hold a term."""
        holds = np.zeros(len(self), np.bool_)
        holds[self._rows_of(term)[0]] = True
        return holds & live

    def counts(self, terms: Iterable[int], live: Flags) -> dict[int, int]:
        """How many live rows hold each term."""
        return {term: int(live[self._rows_of(term)[0]].sum()) for term in terms}

    def holders(self, terms: Sequence[int]) -> NDArray[np.int64]:
        """Count for many terms at once how many rows hold each, those that count no more among
        them."""
        wanted = np.array(terms, np.uint32)
        counts = np.zeros(len(wanted), np.int64)
        for block, _ in self.blocks:
            counts += block.postings.holders(wanted)
        return counts

    def words(self, query: Mapping[int, int], live: Flags) -> WordScores:
        """Live rows for a query's terms (hash -> count)."""
        scores = np.zeros(len(self), np.float32)
        covered = np.zeros(len(self), np.float32)
        whole, total = 0.0, int(live.sum())
        lengths = np.concatenate([block.postings.lengths for block, _ in self.blocks])
        mean = float(lengths[live].mean(dtype=np.float64)) if total else 1.0
        norms = (K1 * (1 - B + B * lengths / max(1.0, mean))).astype(np.float32)
        for term, count in query.items():
            rows, times = self._rows_of(term)
            rows, times = rows[live[rows]], times[live[rows]].astype(np.float32)
            idf = np.float32(inverse_frequency(len(rows), total))
            weight = np.float32(min(count, _MOST_OF_TERM) * (K1 + 1)) * idf
            scores[rows] += weight * times / (times + norms[rows])
            covered[rows] += idf
            whole += float(idf)
        return WordScores(scores, covered / np.float32(whole or 1), whole)

    def _rows_of(self, term: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        row_parts, counts, start = [], [], 0
        for block, _ in self.blocks:
            rows, times = block.postings.of_term(term)
            row_parts.append(rows + np.int32(start))
            counts.append(times)
            start += len(block)
        return np.concatenate(row_parts), np.concatenate(counts)


def inverse_frequency(rows: int, total: int) -> float:
    """The weight (idf) of a term that so many of all rows hold."""
    return log1p((total - rows + 0.5) / (rows + 0.5))


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

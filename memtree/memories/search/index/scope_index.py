"""The index of one scope as of one change count: made out of another and what changed since.

It is a value: a search that runs in a thread keeps the one that it began with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log1p

import numpy as np
from numpy.typing import NDArray

from memtree.memories.ports import ScopeState, SearchRows
from memtree.memories.search.index.row_block import EMPTY, RowBlock
from memtree.memories.search.vector_bytes import Vector

# Memories are short and of similar length: k1 and b from 0.6 to 1.2 and 0 to 0.3 differ by less
# than a question in a hundred, b = 0.75 loses two.
K1, B = 0.9, 0.2
_MOST_OF_TERM = 3  # times that a term of the query counts

Flags = NDArray[np.bool_]
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class WordScores:
    """Of each row: `scores` by BM25, and the share of the weight (idf) of the query's terms that it
    holds (`covered`, 0 to 1). `most`: the score of a row that holds each term as often as an
    average row does."""

    scores: Scores
    covered: Scores
    most: float


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
        if not found.rows and found.state == self.state:
            return self
        changed = np.array([row.number for row in found.rows], np.int32)
        fresh = RowBlock.of([row for row in found.rows if row.live])
        kept = self.kept & ~np.isin(self.base.numbers, changed)
        still = ~np.isin(self.tail.numbers, changed)
        tail = RowBlock.joined([(self.tail, still), (fresh, np.ones(len(fresh), np.bool_))])
        return ScopeIndex(found.state, self.base, kept, tail)

    def whole(self) -> RowBlock:
        """All rows in one block."""
        everything = np.ones(len(self.tail), np.bool_)
        return RowBlock.joined([(self.base, self.kept), (self.tail, everything)])

    def __len__(self) -> int:
        return len(self.base) + len(self.tail)

    @property
    def live_rows(self) -> int:
        return int(self.kept.sum()) + len(self.tail)

    @property
    def outdated(self) -> int:
        """Rows that came after `base`, or left it."""
        return len(self) - int(self.kept.sum())

    @property
    def nbytes(self) -> int:
        return self.base.nbytes + self.kept.nbytes + self.tail.nbytes

    @property
    def numbers(self) -> NDArray[np.int32]:
        return np.concatenate([self.base.numbers, self.tail.numbers])

    @property
    def sessions(self) -> NDArray[np.int64]:
        return np.concatenate([self.base.sessions, self.tail.sessions])

    @property
    def embedded(self) -> Flags:
        return np.concatenate([self.base.embedded, self.tail.embedded])

    def live(self, now: float) -> Flags:
        """Which rows are kept and have not expired."""
        return np.concatenate([self.kept & (self.base.expires > now), self.tail.expires > now])

    def cosines(self, query: Vector, rows: NDArray[np.intp] | None = None) -> Scores:
        """Of a unit query with these rows, or every one; 0 without a vector."""
        if rows is None:
            return np.concatenate([self.base.cosines(query), self.tail.cosines(query)])
        found = np.zeros(len(rows), np.float32)
        first = rows < len(self.base)
        found[first] = self.base.cosines(query, rows[first])
        found[~first] = self.tail.cosines(query, rows[~first] - len(self.base))
        return found

    def holding(self, term: int, live: Flags) -> Flags:
        """Which live rows hold a term."""
        holds = np.zeros(len(self), np.bool_)
        holds[self._rows_of(term)[0]] = True
        return holds & live

    def counts(self, terms: Iterable[int], live: Flags) -> dict[int, int]:
        """How many live rows hold each term."""
        return {term: int(live[self._rows_of(term)[0]].sum()) for term in terms}

    def holders(self, terms: Sequence[int]) -> NDArray[np.int64]:
        """Of many terms at once: how many rows hold each, those that died since `base` was made
        among them."""
        wanted = np.array(terms, np.uint32)
        return self.base.postings.holders(wanted) + self.tail.postings.holders(wanted)

    def words(self, query: Mapping[int, int], live: Flags) -> WordScores:
        """Live rows for a query's terms (hash -> count)."""
        scores = np.zeros(len(self), np.float32)
        covered = np.zeros(len(self), np.float32)
        whole, total = 0.0, int(live.sum())
        lengths = np.concatenate([self.base.postings.lengths, self.tail.postings.lengths])
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
        first, first_counts = self.base.postings.of_term(term)
        then, then_counts = self.tail.postings.of_term(term)
        return (
            np.concatenate([first, then + np.int32(len(self.base))]),
            np.concatenate([first_counts, then_counts]),
        )


def inverse_frequency(rows: int, total: int) -> float:
    """The weight (idf) of a term that so many of all rows hold."""
    return log1p((total - rows + 0.5) / (rows + 0.5))


NOTHING = ScopeIndex(ScopeState(), EMPTY, np.zeros(0, np.bool_), EMPTY)

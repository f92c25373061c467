"""Hold the rows of a scope as arrays, in blocks, and rank several blocks as if they were one.

Blocks and postings are made once and never changed. The index of a scope is a value as of one
change count, made out of another one and what changed since: a search that runs in a thread keeps
the one that it began with.

Words are ranked by BM25 as in `ranking/bm25.py` (there k1 = 1.2 and b = 0.4, here `K1` and `B`),
but over the live rows alone: a row that died counts neither in the frequency of a term nor in the
mean length. A word's weight is made of all live rows, whichever block they lie in, so that the
scores of rows of different blocks compare.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log1p

import numpy as np
import xxhash
from numpy.typing import NDArray

from memtree.memories.memory_store import ScopeState, SearchRow, SearchRows
from memtree.memories.search.vector_bytes import Vector, unpack_terms

Flags = NDArray[np.bool_]
Scores = NDArray[np.float32]
Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """`hashes`: ascending, one a posting; `rows` and `counts` beside them. `lengths`: terms of each
    row, float32 (n,)."""

    hashes: NDArray[np.uint32]
    rows: Ints
    counts: NDArray[np.uint8]
    lengths: NDArray[np.float32]

    @classmethod
    def of(cls, packed: Iterable[bytes]) -> Postings:
        """Make the postings of rows numbered from 0, out of their packed terms."""
        read = [unpack_terms(row) for row in packed]
        sizes = np.array([len(counts) for _, counts in read], np.int64)
        hashes = np.concatenate([hashes for hashes, _ in read] or [np.empty(0, np.uint32)])
        counts = np.concatenate([counts for _, counts in read] or [np.empty(0, np.uint8)])
        rows = np.repeat(np.arange(len(read), dtype=np.int32), sizes)
        lengths = np.bincount(rows, counts, minlength=len(read)).astype(np.float32)
        return _sorted(hashes, rows, counts, lengths)

    @classmethod
    def joined(cls, parts: Sequence[tuple[Postings, Flags]]) -> Postings:
        """Join the flagged rows of several postings, numbered anew in this order."""
        hashes, rows, counts, lengths, base = [], [], [], [], 0
        for postings, keep in parts:
            numbers = np.cumsum(keep, dtype=np.int32) - 1 + np.int32(base)
            kept = keep[postings.rows]
            hashes.append(postings.hashes[kept])
            rows.append(numbers[postings.rows[kept]])
            counts.append(postings.counts[kept])
            lengths.append(postings.lengths[keep])
            base += int(keep.sum())
        return _sorted(
            np.concatenate(hashes),
            np.concatenate(rows),
            np.concatenate(counts),
            np.concatenate(lengths),
        )

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in (self.hashes, self.rows, self.counts, self.lengths))

    def of_term(self, term: int) -> tuple[Ints, NDArray[np.uint8]]:
        """Return the rows that hold a term, and how often."""
        low = np.searchsorted(self.hashes, np.uint32(term))
        high = np.searchsorted(self.hashes, np.uint32(term), "right")
        return self.rows[low:high], self.counts[low:high]

    def holders(self, terms: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Count the rows that hold each of these terms."""
        low = np.searchsorted(self.hashes, terms)
        return np.asarray(np.searchsorted(self.hashes, terms, "right") - low, np.int64)


def _sorted(
    hashes: NDArray[np.uint32],
    rows: Ints,
    counts: NDArray[np.uint8],
    lengths: NDArray[np.float32],
) -> Postings:
    order = np.argsort(hashes, kind="stable")
    return Postings(hashes[order], rows[order], counts[order], lengths)


# Numbers that are floats at one time: 1.5 MB, which a core's cache holds. 100,000 rows of 384 take
# 6.7 ms so, and 18 ms with blocks of eight times the size.
_AT_ONCE = 1_024 * 384


@dataclass(frozen=True, slots=True, eq=False)
class RowBlock:
    """n rows in no order. `numbers`: int32 (n,). `expires`: float64 (n,), infinity for never.
    `sessions`: int64 (n,), a hash of the session's id, 0 for none. `vectors`: int8 (n, d), zeros
    where there is none, which `embedded` tells; d is 0 where no row has one. `norms`: float32 (n,),
    lengths of the vectors, never 0."""

    numbers: Ints
    expires: NDArray[np.float64]
    sessions: NDArray[np.int64]
    vectors: NDArray[np.int8]
    norms: NDArray[np.float32]
    embedded: Flags
    postings: Postings

    @classmethod
    def of(cls, rows: Sequence[SearchRow]) -> RowBlock:
        """Make a block of rows. A vector that is not as long as the first counts as none."""
        width = next((len(row.vector) for row in rows if row.vector), 0)
        packed = [row.vector for row in rows if row.vector and len(row.vector) == width]
        embedded = np.array([bool(row.vector) and len(row.vector or b"") == width for row in rows])
        vectors = np.zeros((len(rows), width), np.int8)
        if packed:
            vectors[embedded] = np.frombuffer(b"".join(packed), np.int8).reshape(-1, width)
        return cls(
            np.array([row.number for row in rows], np.int32),
            np.array([np.inf if row.expires is None else row.expires for row in rows], np.float64),
            np.array([_session(row.session) for row in rows], np.int64),
            vectors,
            _norms(vectors),
            embedded.astype(np.bool_),
            Postings.of(row.terms for row in rows),
        )

    @classmethod
    def joined(cls, parts: Sequence[tuple[RowBlock, Flags]]) -> RowBlock:
        """Join the flagged rows of several blocks."""
        width = max(block.vectors.shape[1] for block, _ in parts)
        return cls(
            np.concatenate([block.numbers[keep] for block, keep in parts]),
            np.concatenate([block.expires[keep] for block, keep in parts]),
            np.concatenate([block.sessions[keep] for block, keep in parts]),
            np.concatenate([block._widened(width, keep) for block, keep in parts]),
            np.concatenate([block.norms[keep] for block, keep in parts]),
            np.concatenate(
                [block.embedded[keep] & (block.vectors.shape[1] == width) for block, keep in parts]
            ),
            Postings.joined([(block.postings, keep) for block, keep in parts]),
        )

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def nbytes(self) -> int:
        own = (self.numbers, self.expires, self.sessions, self.vectors, self.norms, self.embedded)
        return sum(array.nbytes for array in own) + self.postings.nbytes

    def cosines(self, query: Vector, rows: NDArray[np.intp] | None = None) -> Vector:
        """Return the cosines of a unit query with these rows, or all; 0 where there is no vector of
        its length."""
        vectors = self.vectors if rows is None else self.vectors[rows]
        norms = self.norms if rows is None else self.norms[rows]
        [cosines] = _cosines([query], vectors, norms)
        return cosines

    def cosines_of_many(self, queries: Sequence[Vector]) -> list[Vector]:
        """Return the cosines of several queries with all rows, to the bit as for each alone, in one
        pass over these."""
        return _cosines(queries, self.vectors, self.norms)

    def _widened(self, width: int, keep: Flags) -> NDArray[np.int8]:
        if self.vectors.shape[1] == width:
            return self.vectors[keep]
        return np.zeros((int(keep.sum()), width), np.int8)


def _cosines(
    queries: Sequence[Vector], vectors: NDArray[np.int8], norms: NDArray[np.float32]
) -> list[Vector]:
    count, width = vectors.shape
    cosines = [np.zeros(count, np.float32) for _ in queries]
    fitting = [at for at, query in enumerate(queries) if len(query) == width]
    if not fitting or not count:
        return cosines
    step = max(1, _AT_ONCE // width)
    floats = np.empty((min(step, count), width), np.float32)
    for start in range(0, count, step):
        part = vectors[start : start + step]
        block = floats[: len(part)]
        np.copyto(block, part)
        for at in fitting:
            np.dot(block, queries[at], out=cosines[at][start : start + step])
    for at in fitting:
        cosines[at] /= norms
    return cosines


def _session(id_: str | None) -> int:
    if not id_:
        return 0
    return xxhash.xxh64_intdigest(id_.encode("utf-8", "surrogatepass")) % (1 << 62) + 1


def _norms(vectors: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the lengths of vectors, computed in pieces since floats take four times the bytes."""
    norms = np.ones(len(vectors), np.float32)
    step = max(1, _AT_ONCE // max(1, vectors.shape[1]))
    for start in range(0, len(vectors), step):
        part = vectors[start : start + step].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", part, part))
        norms[start : start + step] = np.where(lengths > 0, lengths, 1)
    return norms


EMPTY = RowBlock.of(())


# Memories are short and of similar length: k1 and b from 0.6 to 1.2 and 0 to 0.3 differ by less
# than a question in a hundred, b = 0.75 loses two.
K1, B = 0.9, 0.2
_MOST_OF_TERM = 3  # times that a term of the query counts


@dataclass(frozen=True, slots=True, eq=False)
class WordScores:
    """The scores by words of each row: `scores` by BM25, and the share of the weight (idf) of the
    query's terms that it holds (`covered`, 0 to 1). `most`: the score of a row that holds each term
    as often as an average row does."""

    scores: Scores
    covered: Scores
    most: float


class BlockRows(ABC):
    """The rows of several blocks, numbered through all of them in their order."""

    __slots__ = ()

    @property
    @abstractmethod
    def blocks(self) -> Sequence[tuple[RowBlock, Flags]]:
        """The blocks, at least one, each with flags of the rows that count."""

    def __len__(self) -> int:
        return sum(len(block) for block, _ in self.blocks)

    @property
    def live_rows(self) -> int:
        """Count the live rows, expiry aside."""
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
        for block, here, own in self._by_block(rows):
            cosines[here] = block.cosines(query, own)
        return cosines

    def cosines_of_many(self, queries: Sequence[Vector]) -> list[Scores]:
        """`cosines` with every row, of several queries in one pass."""
        parts = [block.cosines_of_many(queries) for block, _ in self.blocks]
        return [np.concatenate(of_one) for of_one in zip(*parts, strict=True)]

    def vectors(self, rows: NDArray[np.intp]) -> dict[int, Vector]:
        """Return the unit vectors of those rows that have one, by row."""
        vectors: dict[int, Vector] = {}
        for block, here, own in self._by_block(rows):
            for row, at in zip(rows[here].tolist(), own.tolist(), strict=True):
                if block.embedded[at]:
                    vectors[row] = block.vectors[at] / block.norms[at]
        return vectors

    def unit_rows(self, rows: NDArray[np.intp], width: int) -> Scores:
        """Return the unit vectors of rows, (n, width) float32; zeros where there is no vector of
        this width."""
        matrix = np.zeros((len(rows), width), np.float32)
        for block, here, own in self._by_block(rows):
            if block.vectors.shape[1] == width:
                matrix[here] = block.vectors[own] / block.norms[own, None]
        return matrix

    def _by_block(
        self, rows: NDArray[np.intp]
    ) -> Iterator[tuple[RowBlock, Flags, NDArray[np.intp]]]:
        """Yield each block with flags of the rows that lie in it, and their places there."""
        start = 0
        for block, _ in self.blocks:
            here = (rows >= start) & (rows < start + len(block))
            if here.any():
                yield block, here, rows[here] - start
            start += len(block)

    def holding(self, term: int, live: Flags) -> Flags:
        """Flag the live rows that hold a term."""
        holds = np.zeros(len(self), np.bool_)
        holds[self._rows_of(term)[0]] = True
        return holds & live

    def counts(self, terms: Iterable[int], live: Flags) -> dict[int, int]:
        """Count the live rows that hold each term."""
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
        """Score live rows for a query's terms (hash -> count)."""
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
    """Return the weight (idf) of a term that `rows` of all rows hold."""
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
        """Return the index after these changes; rows that are not live are gone."""
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
        """Return all rows in one block."""
        return RowBlock.joined(self.blocks)

    @property
    def outdated(self) -> int:
        """Count the rows that came after `base` was made, or left it."""
        return len(self) - int(self.kept.sum())

    @property
    def nbytes(self) -> int:
        return self.base.nbytes + self.kept.nbytes + self.tail.nbytes


NOTHING = ScopeIndex(ScopeState(), EMPTY, np.zeros(0, np.bool_), EMPTY)

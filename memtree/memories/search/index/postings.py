"""Find the rows that hold a term: postings sorted by term, made once and never changed.

BM25 with k1 = 1.2 and b = 0.4, as in `ranking/bm25.py`, but over the live rows alone: a row that
died counts neither in the frequency of a term nor in the mean length.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtree.memories.search.text_terms import unpack_terms

Flags = NDArray[np.bool_]
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
        """The flagged rows of several postings, numbered anew in this order."""
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
        """The rows that hold a term, and how often."""
        low = np.searchsorted(self.hashes, np.uint32(term))
        high = np.searchsorted(self.hashes, np.uint32(term), "right")
        return self.rows[low:high], self.counts[low:high]

    def holders(self, terms: NDArray[np.uint32]) -> NDArray[np.int64]:
        """How many rows hold each of these terms."""
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

"""Rows of a scope as arrays: what a search reads of them, made once and never changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtree.memories.ports import SearchRow
from memtree.memories.search.postings import Postings
from memtree.memories.search.vector_bytes import Vector

Flags = NDArray[np.bool_]
Ints = NDArray[np.int32]

_AT_ONCE = 8_192  # rows that are floats at one time: 12 MB of 384 numbers


@dataclass(frozen=True, slots=True, eq=False)
class RowBlock:
    """n rows in no order. `numbers`: int32 (n,). `expires`: float64 (n,), infinity for never.
    `vectors`: int8 (n, d), zeros where there is none, which `embedded` tells; d is 0 where no row
    has one. `norms`: float32 (n,), lengths of the vectors, never 0."""

    numbers: Ints
    expires: NDArray[np.float64]
    vectors: NDArray[np.int8]
    norms: NDArray[np.float32]
    embedded: Flags
    postings: Postings

    @classmethod
    def of(cls, rows: Sequence[SearchRow]) -> RowBlock:
        """A vector that is not as long as the first is as good as none."""
        width = next((len(row.vector) for row in rows if row.vector), 0)
        embedded = [row.vector is not None and len(row.vector) == width > 0 for row in rows]
        vectors = np.zeros((len(rows), width), np.int8)
        if any(embedded):
            data = b"".join(row.vector for row in rows if row.vector and len(row.vector) == width)
            vectors[np.flatnonzero(embedded)] = np.frombuffer(data, np.int8).reshape(-1, width)
        return cls(
            np.array([row.number for row in rows], np.int32),
            np.array([np.inf if row.expires is None else row.expires for row in rows], np.float64),
            vectors,
            _norms(vectors),
            np.array(embedded, np.bool_),
            Postings.of(row.terms for row in rows),
        )

    @classmethod
    def joined(cls, parts: Sequence[tuple[RowBlock, Flags]]) -> RowBlock:
        """The flagged rows of several blocks."""
        width = max(block.vectors.shape[1] for block, _ in parts)
        return cls(
            np.concatenate([block.numbers[keep] for block, keep in parts]),
            np.concatenate([block.expires[keep] for block, keep in parts]),
            np.concatenate([block._widened(width)[keep] for block, keep in parts]),
            np.concatenate([block.norms[keep] for block, keep in parts]),
            np.concatenate([block._has(width)[keep] for block, keep in parts]),
            Postings.joined([(block.postings, keep) for block, keep in parts]),
        )

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def nbytes(self) -> int:
        own = (self.numbers, self.expires, self.vectors, self.norms, self.embedded)
        return sum(array.nbytes for array in own) + self.postings.nbytes

    def cosines(self, query: Vector, rows: NDArray[np.intp] | None = None) -> Vector:
        """Cosine of a unit query with these rows, or all; 0 where there is no vector."""
        count = len(self) if rows is None else len(rows)
        found = np.zeros(count, np.float32)
        if self.vectors.shape[1] != len(query):
            return found
        for start in range(0, count, _AT_ONCE):
            part = (
                slice(start, start + _AT_ONCE) if rows is None else rows[start : start + _AT_ONCE]
            )
            products = self.vectors[part].astype(np.float32) @ query
            found[start : start + _AT_ONCE] = products / self.norms[part]
        return found

    def _widened(self, width: int) -> NDArray[np.int8]:
        if self.vectors.shape[1] == width:
            return self.vectors
        return np.zeros((len(self), width), np.int8)

    def _has(self, width: int) -> Flags:
        return self.embedded if self.vectors.shape[1] == width else np.zeros(len(self), np.bool_)


def _norms(vectors: NDArray[np.int8]) -> NDArray[np.float32]:
    norms = np.ones(len(vectors), np.float32)
    for start in range(0, len(vectors), _AT_ONCE):
        part = vectors[start : start + _AT_ONCE].astype(np.float32)
        lengths = np.linalg.norm(part, axis=1)
        norms[start : start + _AT_ONCE] = np.where(lengths > 0, lengths, 1)
    return norms


EMPTY = RowBlock.of(())

"""Vectors at rest and in memory: one byte a number in the store, float32 rows for ranking.

    data = pack(rows, [1, 2])                # two passages, the second in two segments
    rows, [counts] = unpack([data], [2], 384)   # one byte a number, as packed
    vectors = VectorRows(384).extended(rows)
    compared(vectors[:], query, vectors.mean)   # cosines, and centred ones, in the order of rows

The stored form is the number of rows of each passage, a byte each, and then the rows. If each
passage has one row, only the rows are stored: the format used before passages had segments.

Only directions count: rows are scaled to unit length when they are added, and a zero row (a text
without tokens) stays zero, so its cosine with everything is 0. Callers know what a row represents.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
Packed = NDArray[np.int8]
Counts = NDArray[np.int32]

LEVELS = 127
_TINY = 1e-6  # least product of squared lengths, so that nothing is divided by 0


def pack(matrix: Matrix, counts: Sequence[int]) -> bytes:
    """Pack (n, d) rows as signed bytes, each row scaled to its largest number. `counts`: the number
    of rows of each passage, from 1 to 255.

    Raises:
        ValueError: a number is infinite or not a number, or the counts are not those of the rows.
    """
    if not np.isfinite(matrix).all():
        raise ValueError("vectors hold a number that is not finite")
    if sum(counts) != len(matrix) or not all(counts):
        raise ValueError(f"{len(matrix)} rows are not those of {len(counts)} passages")
    head = b"" if len(counts) == len(matrix) else bytes(counts)
    return head + np.rint(_peaked(matrix) * LEVELS).astype(np.int8).tobytes()


def unpack(
    packed: Sequence[bytes], passages: Sequence[int], dimensions: int
) -> tuple[Packed, list[Counts]]:
    """Return the (n, dimensions) int8 rows that `pack` stored in each of `packed`, one behind the
    other, and for each the number of rows of each passage. `passages`: how many each holds. An
    unpacked embedding has a cosine of at least 0.999 with the original.

    Raises:
        ValueError: one was not packed for its number of passages.
    """
    counted = [
        _counts(data, number, dimensions) for data, number in zip(packed, passages, strict=True)
    ]
    joined = b"".join([data[head:] for data, (head, _) in zip(packed, counted, strict=True)])
    rows = np.frombuffer(joined, np.int8).reshape(-1, dimensions)
    return rows, [counts for _, counts in counted]


def _counts(data: bytes, passages: int, dimensions: int) -> tuple[int, Counts]:
    """Return where the rows begin, and the number of rows of each passage."""
    head, counts = 0, np.ones(passages, np.int32)
    if len(data) != passages * dimensions:
        head, counts = passages, np.frombuffer(data[:passages], np.uint8).astype(np.int32)
    size = len(data) - head
    if len(counts) != passages or not counts.all() or size != int(counts.sum()) * dimensions:
        raise ValueError(f"{size} bytes are no rows of {dimensions} for {passages} passages")
    return head, counts


def are_packed(data: bytes, passages: int) -> bool:
    """Return True if `pack` may have made these bytes for this number of passages, in any number
    of dimensions."""
    if not passages:
        return not data
    if len(data) % passages == 0:
        return True
    rows = sum(data[:passages])
    return all(data[:passages]) and (len(data) - passages) % rows == 0


class _Buffer:
    """Rows, of which the first `filled` are in use."""

    def __init__(self, capacity: int, dimensions: int) -> None:
        self.rows: Matrix = np.empty((capacity, dimensions), np.float32)
        self.filled = 0


class VectorRows:
    """Unit rows. Never changed: `extended` returns others, which share a buffer with these as long
    as it has room behind them; it doubles when it is full."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._buffer = _Buffer(0, dimensions)
        self._rows: Matrix = self._buffer.rows  # those of the buffer that are its own
        self._sum = np.zeros(dimensions)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        """Size of the buffer in bytes, including the part not filled yet."""
        return self._buffer.rows.nbytes

    def extended(self, matrix: Matrix | Packed) -> VectorRows:
        """Return them with (n, dimensions) more rows of numbers up to 127; n may be 0. Not for
        several threads at once, unless these are none. Raises `ValueError` for another width."""
        if matrix.ndim != 2 or matrix.shape[1] != self.dimensions:
            raise ValueError(f"expected rows of {self.dimensions}, got shape {matrix.shape}")
        begin, buffer = len(self._rows), self._buffer
        end = begin + len(matrix)
        # Behind these rows stand those of another growth, or there is no room.
        if buffer.filled != begin or end > len(buffer.rows):
            buffer = _Buffer(max(end, 2 * begin), self.dimensions)
            buffer.rows[:begin] = self._rows
        buffer.rows[begin:end] = matrix
        _to_unit_length(buffer.rows[begin:end])
        buffer.filled = end
        grown = VectorRows(self.dimensions)
        grown._buffer, grown._rows = buffer, buffer.rows[:end]
        grown._sum = self._sum + buffer.rows[begin:end].sum(axis=0, dtype=np.float64)
        return grown

    @property
    def mean(self) -> Matrix:
        """Mean of all rows, (dimensions,); zeros if there are none."""
        return np.asarray(self._sum / max(1, len(self)), np.float32)

    def __getitem__(self, rows: slice) -> Matrix:
        return self._rows[rows]


def compared(rows: Matrix, query: Matrix, mean: Matrix) -> tuple[Matrix, Matrix]:
    """Return the cosine of each row with a query, (rows,), and the cosine after `mean` is
    subtracted from both. Rows have unit length, or are zero; a zero row has 0 and 0.

    What all rows of a history share (a name before each message, the subject, the style) brings
    them near to any question that shares it, and short rows nearest; subtraction removes it.
    """
    query = unit(query[None])[0]
    cosines, along = rows @ query, rows @ mean
    own, shared = float(query @ mean), float(mean @ mean)
    lengths = np.sqrt(np.maximum((1 - 2 * along + shared) * (1 - 2 * own + shared), _TINY))
    nearness = (cosines - along - own + shared) / lengths
    centred = np.where((cosines != 0) | (along != 0), nearness, 0).astype(np.float32)
    return cosines, centred


def unit(matrix: Matrix | Packed) -> Matrix:
    """Return rows scaled to unit length; a zero row stays as it is."""
    rows = _peaked(matrix)
    _to_unit_length(rows)
    return rows


def _to_unit_length(rows: Matrix) -> None:
    """Scale rows of numbers up to 127 to unit length, in place; a zero row stays as it is."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    np.divide(rows, lengths, out=rows, where=lengths > 0)


def _peaked(matrix: Matrix | Packed) -> Matrix:
    """Scale rows so that their largest number is 1 or -1: squares neither overflow nor vanish."""
    peaks = np.abs(matrix).max(axis=1, keepdims=True, initial=0)
    out = np.zeros(matrix.shape, np.float32)
    np.divide(matrix, peaks, out=out, where=peaks > 0)
    return out

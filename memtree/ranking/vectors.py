"""Vectors at rest and in memory: one byte a number in the store, float32 rows for ranking.

    data = pack(rows, [1, 2])                # two passages, the second in two segments
    rows, counts = unpack(data, 2, 384)
    vectors = VectorRows(384)
    vectors.extend(rows)
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


def unpack(data: bytes, passages: int, dimensions: int) -> tuple[Matrix, Counts]:
    """Return the (n, dimensions) float32 unit rows that `pack` stored, and the number of rows of
    each passage. An unpacked embedding has a cosine of at least 0.999 with the original.

    Raises:
        ValueError: `data` was not packed for this number of passages.
    """
    counts = np.ones(passages, np.int32)
    if len(data) != passages * dimensions:
        counts = np.frombuffer(data[:passages], np.uint8).astype(np.int32)
        data = data[passages:]
    whole = len(counts) == passages and counts.all()
    if not whole or len(data) != int(counts.sum()) * dimensions:
        raise ValueError(f"{len(data)} bytes are no rows of {dimensions} for {passages} passages")
    rows = np.frombuffer(data, np.int8).reshape(-1, dimensions)
    return _unit(rows.astype(np.float32)), counts


def are_packed(data: bytes, passages: int) -> bool:
    """Return True if `pack` may have made these bytes for this number of passages, in any number
    of dimensions."""
    if not passages:
        return not data
    if len(data) % passages == 0:
        return True
    rows = sum(data[:passages])
    return all(data[:passages]) and (len(data) - passages) % rows == 0


class VectorRows:
    """Unit rows that are only ever appended, in one float32 buffer that doubles when it is full.

    One thread may append while others read: a reader sees the rows as they were when it began,
    because rows are written behind those it sees, and a full buffer is replaced, not changed.
    """

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._buffer: Matrix = np.empty((0, dimensions), np.float32)
        self._rows: Matrix = self._buffer  # the part of the buffer that is filled
        self._sum = np.zeros(dimensions)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        """Size of the buffer in bytes, including the part not filled yet."""
        return self._buffer.nbytes

    def extend(self, matrix: Matrix) -> None:
        """Append (n, dimensions) rows; n may be 0. Raises `ValueError` for another width."""
        if matrix.ndim != 2 or matrix.shape[1] != self.dimensions:
            raise ValueError(f"expected rows of {self.dimensions}, got shape {matrix.shape}")
        begin = len(self._rows)
        end = begin + len(matrix)
        if end > len(self._buffer):
            capacity = max(end, 2 * len(self._buffer))
            buffer = np.empty((capacity, self.dimensions), np.float32)
            buffer[:begin] = self._rows
            self._buffer = buffer
        self._buffer[begin:end] = _unit(matrix)
        self._sum = self._sum + self._buffer[begin:end].sum(axis=0, dtype=np.float64)
        self._rows = self._buffer[:end]

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
    query = _unit(query[None])[0]
    cosines, along = rows @ query, rows @ mean
    own, shared = float(query @ mean), float(mean @ mean)
    lengths = np.sqrt(np.maximum((1 - 2 * along + shared) * (1 - 2 * own + shared), _TINY))
    nearness = (cosines - along - own + shared) / lengths
    centred = np.where((cosines != 0) | (along != 0), nearness, 0).astype(np.float32)
    return cosines, centred


def _peaked(matrix: Matrix) -> Matrix:
    """Scale rows so that their largest number is 1 or -1: squares neither overflow nor vanish."""
    peaks = np.abs(matrix).max(axis=1, keepdims=True, initial=0.0)
    out = np.zeros(matrix.shape, np.float32)
    np.divide(matrix, peaks, out=out, where=peaks > 0)
    return out


def _unit(matrix: Matrix) -> Matrix:
    peaked = _peaked(matrix)
    norms = np.linalg.norm(peaked, axis=1, keepdims=True)
    np.divide(peaked, norms, out=peaked, where=norms > 0)
    return peaked

"""Vectors of memories at rest: one signed byte a number.

    packed = pack_vector(row)              # float32 (d,)
    row = unpack_vector(packed)            # float32 (d,), of unit length, within cosine 0.999

All rows of d numbers are scaled alike, 16 levels to the standard deviation of a unit row, so that
inner products with the bytes order rows as cosines do: rows whose largest number would not fit are
the exception, and scaled to it. A cosine is computed from the stored bytes wherever it is computed,
so an index, a scan and another process agree.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]

LEVELS = 127
DEVIATIONS = 8.0  # that fit into the levels; MiniLM's largest numbers lie at 4 to 6


def pack_vector(row: Vector) -> bytes:
    """`ValueError` where a number is infinite or not a number."""
    if not np.isfinite(row).all():
        raise ValueError("the vector holds a number that is not finite")
    peak = np.abs(row).max(initial=0.0)
    if not peak:
        return bytes(len(row))
    peaked = row / peak  # so that squares neither overflow nor vanish
    scale = LEVELS * np.sqrt(len(row)) / DEVIATIONS / np.linalg.norm(peaked)
    return bytes(np.rint(peaked * min(float(scale), LEVELS)).astype(np.int8).tobytes())


def unpack_vector(packed: bytes) -> Vector:
    """A zero row stays zero."""
    row = np.frombuffer(packed, np.int8).astype(np.float32)
    length = np.linalg.norm(row)
    return np.asarray(row / length if length else row, np.float32)

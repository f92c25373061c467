"""Terms of a memory's text as a row keeps them, so that no index reads texts.

    packed = packed_terms("The staging port is 8090")
    hashes, counts = unpack_terms(packed)

All hashes stand first, ascending and four bytes each, then all counts, a byte each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memtree.text.terms import terms

BYTES_PER_TERM = 5
_MAX_COUNT = 255


def packed_terms(text: str) -> bytes:
    """Term statistics of a text: what `NewMemory.terms` holds. Shows no text."""
    counted = terms(text)
    hashes = sorted(counted)
    counts = bytes(min(counted[term], _MAX_COUNT) for term in hashes)
    return np.array(hashes, "<u4").tobytes() + counts


def unpack_terms(packed: bytes) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """Hashes and counts; none of what `packed_terms` did not make."""
    count, rest = divmod(len(packed), BYTES_PER_TERM)
    if rest:
        return np.empty(0, np.uint32), np.empty(0, np.uint8)
    return (
        np.frombuffer(packed, "<u4", count).astype(np.uint32, copy=False),
        np.frombuffer(packed, np.uint8, count, 4 * count),
    )

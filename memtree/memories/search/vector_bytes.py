"""Pack the vectors and the terms of memories as the store keeps them.

A vector takes one signed byte a number.

    packed = pack_vector(row)              # float32 (d,)
    row = unpack_vector(packed)            # float32 (d,), of unit length, within cosine 0.999

All rows of d numbers are scaled alike, 16 levels to the standard deviation of a unit row, so that
inner products with the bytes order rows as cosines do. Rows whose largest number would not fit are
the exception, and scaled to it. A cosine is computed from the stored bytes wherever it is computed,
so an index, a scan and another process agree.

A row keeps the terms of a memory's text, so that no index reads texts.

    packed = packed_terms("Ada: The staging port is 8090")
    hashes, counts = unpack_terms(packed)

All hashes stand first, ascending and four bytes each, then all counts, a byte each. Who speaks,
where a text begins with a name and a colon, is a term of its own, with the count 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memtree.text import speakers
from memtree.text.telling_words import word_forms
from memtree.text.terms import hashed, terms

Vector = NDArray[np.float32]

LEVELS = 127
DEVIATIONS = 8.0  # that fit into the levels; MiniLM's largest numbers lie at 4 to 6


def pack_vector(row: Vector) -> bytes:
    """Pack a vector. Raises `ValueError` where a number is infinite or not a number."""
    if not np.isfinite(row).all():
        raise ValueError("the vector holds a number that is not finite")
    peak = np.abs(row).max(initial=0.0)
    if not peak:
        return bytes(len(row))
    peaked = row / peak  # so that squares neither overflow nor vanish
    scale = LEVELS * np.sqrt(len(row)) / DEVIATIONS / np.linalg.norm(peaked)
    return bytes(np.rint(peaked * min(float(scale), LEVELS)).astype(np.int8).tobytes())


def unpack_vector(packed: bytes) -> Vector:
    """Unpack a vector to a unit row; a zero row stays zero."""
    row = np.frombuffer(packed, np.int8).astype(np.float32)
    length = np.linalg.norm(row)
    return np.asarray(row / length if length else row, np.float32)


BYTES_PER_TERM = 5
_MAX_COUNT = 255


def memory_terms(text: str) -> dict[int, int]:
    """Return the terms of a text (hash -> count). Where the text is not ASCII, they include the
    forms in which its inflections meet, which `terms` has for English alone."""
    counted = terms(text)
    if not text.isascii():
        for form in word_forms(text):
            if not form.isascii() and len(form) > 1:
                counted.setdefault(hashed(form), 1)
    return counted


def packed_terms(text: str) -> bytes:
    """Pack the term statistics of a text, for `NewMemory.terms`. They show no text."""
    counted = memory_terms(text)
    first_name = next(iter(terms(speakers.tag(text))), None)
    if first_name is not None:
        counted.setdefault(spoken_by(first_name), 0)
    hashes = sorted(counted)
    counts = bytes(min(counted[term], _MAX_COUNT) for term in hashes)
    return np.array(hashes, "<u4").tobytes() + counts


def spoken_by(name: int) -> int:
    """Return the term of texts that begin with this name (a term) and a colon."""
    return hashed(f"{name} speaks")


def unpack_terms(packed: bytes) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """Return hashes and counts; none of what `packed_terms` did not make."""
    count, rest = divmod(len(packed), BYTES_PER_TERM)
    if rest:
        return np.empty(0, np.uint32), np.empty(0, np.uint8)
    return (
        np.frombuffer(packed, "<u4", count).astype(np.uint32, copy=False),
        np.frombuffer(packed, np.uint8, count, 4 * count),
    )

"""A block of rows as one piece of bytes, so that a restart reads it instead of making it anew.

    data = packed(block, "scope and recipe")
    block = unpacked(data, "scope and recipe")     # None: damaged, of another format or another key

The arrays stand one behind the other, little-endian, and the block that is read back shares the
memory of `data`. The head holds a checksum over everything else and over the key.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from memtree.memories.search.index.postings import Postings
from memtree.memories.search.index.row_block import RowBlock

_HEAD = struct.Struct("<8sQIII")  # magic, checksum; rows, numbers of a vector, postings
_MAGIC = b"memtree1"


def packed(block: RowBlock, key: str) -> bytes:
    postings = block.postings
    arrays: tuple[NDArray[Any], ...] = (
        block.expires,
        block.sessions,
        block.numbers,
        block.norms,
        postings.lengths,
        postings.hashes,
        postings.rows,
        postings.counts,
        block.embedded,
        block.vectors,
    )
    parts = [array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes() for array in arrays]
    sizes = len(block), block.vectors.shape[1], len(postings.hashes)
    return b"".join((_HEAD.pack(_MAGIC, _checksum(parts, key, sizes), *sizes), *parts))


def unpacked(data: bytes, key: str) -> RowBlock | None:
    if len(data) < _HEAD.size:
        return None
    magic, checksum, *sizes = _HEAD.unpack_from(data)
    rows, width, postings = sizes
    if magic != _MAGIC or len(data) != _HEAD.size + _length(rows, width, postings):
        return None
    if checksum != _checksum([memoryview(data)[_HEAD.size :]], key, sizes):
        return None
    at = _HEAD.size

    def array(dtype: str, count: int) -> NDArray[Any]:
        nonlocal at
        values = np.frombuffer(data, np.dtype(dtype).newbyteorder("<"), count, at)
        at += values.nbytes
        return values.astype(dtype, copy=False)

    expires, sessions = array("f8", rows), array("i8", rows)
    numbers, norms, lengths = array("i4", rows), array("f4", rows), array("f4", rows)
    hashes, of_rows = array("u4", postings), array("i4", postings)
    counts, embedded = array("u1", postings), array("?", rows)
    vectors = array("i1", rows * width).reshape(rows, width)
    row_postings = Postings(hashes, of_rows, counts, lengths)
    return RowBlock(numbers, expires, sessions, vectors, norms, embedded, row_postings)


def _length(rows: int, width: int, postings: int) -> int:
    return rows * (2 * 8 + 3 * 4 + 1 + width) + postings * (2 * 4 + 1)


def _checksum(
    parts: list[bytes] | list[memoryview], key: str, sizes: tuple[int, ...] | list[int]
) -> int:
    digest = xxhash.xxh3_64(repr((key, *sizes)).encode("utf-8", "surrogatepass"))
    for part in parts:
        digest.update(part)
    return digest.intdigest()

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.memories.ports import SearchRow
from memtree.memories.search.block_rows import RowBlock
from memtree.memories.search.loader import packed, unpacked
from memtree.memories.search.vector_bytes import packed_terms

rows = st.builds(
    SearchRow,
    st.integers(1, 1 << 30),
    st.just(True),
    st.none() | st.floats(1, 1e12),
    st.text("abc ", max_size=20).map(packed_terms),
    st.none() | st.binary(min_size=4, max_size=4),
    st.none() | st.text(max_size=5),
)
BLOCK = RowBlock.of(
    [SearchRow(n, True, None, packed_terms(f"port {n}"), bytes([n] * 8)) for n in range(1, 9)]
)


def same(one: RowBlock, other: RowBlock) -> bool:
    pairs = [(getattr(one, name), getattr(other, name)) for name in RowBlock.__slots__[:-1]]
    postings = one.postings, other.postings
    pairs += [tuple(getattr(part, name) for part in postings) for name in postings[0].__slots__]
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


@pytest.mark.slow
@given(st.lists(rows, max_size=8))
def test_a_block_comes_back(given_rows):
    block = RowBlock.of(given_rows)
    back = unpacked(packed(block, "key"), "key")
    assert back is not None
    assert same(block, back)
    query = np.array([0.5, 0.5, 0.5, 0.5], np.float32)
    assert np.array_equal(block.cosines(query), back.cosines(query))


@pytest.mark.parametrize("size", [0, 3, 27, 28, 100])
def test_a_part_of_a_segment_is_none(size):
    assert unpacked(packed(BLOCK, "key")[:size], "key") is None


def test_a_longer_one_is_none():
    assert unpacked(packed(BLOCK, "key") + b"\0", "key") is None


def test_the_segment_of_another_key_is_none():
    assert unpacked(packed(BLOCK, "key"), "other") is None


def test_one_changed_byte_makes_it_none():
    data = packed(BLOCK, "key")
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1
        assert unpacked(bytes(changed), "key") is None

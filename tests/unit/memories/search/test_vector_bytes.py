from __future__ import annotations

import numpy as np
import pytest

from memtree.memories.search.vector_bytes import pack_vector, unpack_vector


@pytest.mark.parametrize("size", [8, 384, 1024, 3072])
def test_a_vector_comes_back_in_its_direction(size):
    rows = np.random.default_rng(size).normal(size=(50, size)).astype(np.float32)
    for row in rows:
        back = unpack_vector(pack_vector(row))
        assert back @ row / np.linalg.norm(row) > 0.999
        assert abs(np.linalg.norm(back) - 1) < 1e-5


def test_rows_without_outliers_have_one_length():
    """Only then do inner products with the bytes order rows as cosines do."""
    rows = np.random.default_rng(1).normal(size=(200, 384)).astype(np.float32)
    rows *= np.random.default_rng(2).uniform(0.1, 9, (200, 1)).astype(np.float32)
    norms = [np.linalg.norm(np.frombuffer(pack_vector(row), np.int8)) for row in rows]
    assert max(norms) / min(norms) < 1.01


def test_one_large_number_is_not_cut_off():
    row = np.full(384, 0.01, np.float32)
    row[7] = 5
    assert unpack_vector(pack_vector(row)) @ row / np.linalg.norm(row) > 0.999


@pytest.mark.parametrize("factor", [1e-30, 1e30])
def test_only_directions_count(factor):
    row = np.random.default_rng(3).normal(size=64).astype(np.float32)
    assert pack_vector(row * np.float32(factor)) == pack_vector(row)


def test_a_zero_row_stays_zero():
    assert not unpack_vector(pack_vector(np.zeros(16, np.float32))).any()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused(bad):
    with pytest.raises(ValueError, match="finite"):
        pack_vector(np.array([0.0, bad], np.float32))

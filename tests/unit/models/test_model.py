"""Words and places are added up."""

from __future__ import annotations

import numpy as np

from memtree.models.minilm import WordVectors, overflows

TABLE = "inner.embeddings.{}_embeddings.weight"


def test_a_word_is_scaled_and_its_place_added():
    rows = WordVectors(
        {
            TABLE.format("word") + "_q": np.array([[1, 2], [-3, 4]], np.int8),
            TABLE.format("word") + "_scale": np.array([[0.5], [2.0]], np.float32),
            TABLE.format("position") + "_q": np.array([[10, 0], [0, 10], [1, 1]], np.int8),
            TABLE.format("position") + "_scale": np.array([[1.0], [0.1], [1.0]], np.float32),
            TABLE.format("token_type"): np.array([[100.0, 200.0], [7.0, 7.0]], np.float32),
        }
    ).of([1, 0])
    assert rows.dtype == np.float32
    assert rows.shape == (1, 2, 2)
    np.testing.assert_allclose(rows[0], [[-6 + 10 + 100, 8 + 200], [0.5 + 100, 1 + 1 + 200]])


# -- Products of integers are exact on every processor.


def test_the_detour_is_exact_wherever_the_direct_way_is_not():
    assert not overflows(detour=True)

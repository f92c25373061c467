"""The best of n numbers, by chance."""

from __future__ import annotations

import numpy as np
import pytest

from memtree.ranking.recipe import expected_maxima


def test_it_is_what_the_best_of_so_many_numbers_has_in_the_mean():
    dice = np.random.default_rng(0)
    counts = np.array([2, 3, 10, 50], np.int32)
    means = [dice.normal(size=(4_000, count)).max(axis=1).mean() for count in counts]
    assert expected_maxima(counts) == pytest.approx(means, abs=0.06)


def test_fewer_than_two_have_no_advantage_and_more_have_more():
    maxima = expected_maxima(np.array([1, 0, 2, 1, 4_000, 300], np.int32))
    assert list(maxima[[0, 1, 3]]) == [0, 0, 0]
    assert 0 < maxima[2] < maxima[5] < maxima[4] < 4
    assert expected_maxima(np.empty(0, np.int32)).shape == (0,)

"""Fusion by rank, smoothed over short neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from memtree.ranking.fusion import FAR, NEAR, RRF_K, rank, smooth


def row(*values):
    return np.array(values, np.float32)


def flags(*values):
    return np.array(values, bool)


NONE = flags(*[False] * 4)


def test_fusion_gives_reciprocal_ranks():
    found = rank(row(3, 0, 9, 1), None, NONE)
    assert found.fused == pytest.approx([1 / (RRF_K + 1), 0, 1 / RRF_K, 1 / (RRF_K + 2)])
    assert found.cosine is None


def test_both_rankings_count():
    found = rank(row(9, 1, 0, 0), row(-0.5, 0.2, 0.9, 0), NONE)
    wanted = [1 / RRF_K, 1 / (RRF_K + 1) + 1 / (RRF_K + 1), 1 / RRF_K, 0]
    assert found.fused == pytest.approx(wanted)
    heavy = rank(row(9, 1, 0, 0), row(-0.5, 0.2, 0.9, 0), NONE, dense_weight=2)
    assert heavy.fused[2] == pytest.approx(2 / RRF_K)


def test_only_order_matters():
    one = rank(row(3, 0, 9, 1), row(0.1, 0.2, 0.3, 0.4), NONE)
    other = rank(row(30, 0, 9000, 2), row(0.01, 0.02, 0.9, 0.91), NONE)
    assert np.array_equal(one.fused, other.fused)


def test_of_equals_the_later_comes_first():
    found = rank(row(1, 1, 1, 0), None, NONE).fused
    assert found[2] > found[1] > found[0] > found[3] == 0


def test_short_passages_lend_score_to_short_neighbours():
    short = flags(True, True, True, True, False, True)
    found = smooth(row(0, 0, 0, 1, 5, 0), short)
    assert found == pytest.approx([0, FAR, NEAR, 1, 5, FAR])


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_small_rankings(size):
    scores = np.ones(size, np.float32)
    assert rank(scores, scores, np.ones(size, bool)).fused.shape == (size,)


def test_what_is_shown_is_not_smoothed():
    found = rank(row(0, 1), row(0.5, -0.5), flags(True, True))
    assert list(found.lexical) == [0, 1]
    assert list(found.cosine) == [0.5, -0.5]

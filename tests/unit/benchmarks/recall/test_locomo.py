"""How the product is compared with its rival, question by question."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.recall.locomo import OURS, RIVAL, Outcome, differences, interval


def _outcome(ours: float, rival: float) -> Outcome:
    return Outcome("talk", "temporal", 2_000, {OURS: ours, RIVAL: rival})


def test_differences_are_paired():
    outcomes = [_outcome(1.0, 0.5), _outcome(0.0, 1.0)]
    assert differences(outcomes).tolist() == [0.5, -1.0]


def test_an_interval_holds_the_mean_and_is_the_same_in_each_run():
    values = np.array([0.0, 1.0, 1.0, 0.0, 1.0] * 20)
    low, high = interval(values)
    assert 0.45 < low < values.mean() < high < 0.75
    assert interval(values) == (low, high)


def test_an_interval_of_equal_differences_is_a_point():
    assert interval(np.full(10, 0.25)) == pytest.approx((0.25, 0.25))

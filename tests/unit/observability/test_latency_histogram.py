"""Percentiles of counts by bucket are close to those of the times themselves."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from memtree_proxy.observability.usage_tallies import BOUNDS, bucket, percentile


def test_a_time_falls_into_the_bucket_that_ends_behind_it() -> None:
    assert [bucket(ms) for ms in (0.0, 0.25, 0.26, 30.0, 32.0, 33.0)] == [
        0.25, 0.25, 0.35, 32, 32, 45,
    ]  # fmt: skip
    assert bucket(1e12) == BOUNDS[-1]
    assert list(BOUNDS) == sorted(set(BOUNDS))
    assert [float(f"{bound:g}") for bound in BOUNDS] == list(BOUNDS)  # as tallies name them


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95, 0.99])
def test_a_percentile_is_off_by_a_sixth_at_most(share: float) -> None:
    random = Random(7)
    times = sorted(random.lognormvariate(3, 1.2) for _ in range(20_000))
    true = times[int(share * len(times))]
    found = percentile(Counter(map(bucket, times)), share)
    assert found is not None
    assert abs(found - true) <= true / 6


def test_of_nothing_there_is_none() -> None:
    assert percentile({}, 0.5) is None
    assert percentile({32: 0}, 0.5) is None


def test_one_value_and_numbers_that_were_taken_back() -> None:
    assert percentile({32: 1}, 0.5) == 27.5
    assert percentile({32: 1}, 1.0) == 32
    assert percentile({0.25: 1}, 0.5) == 0.1
    assert percentile({32: 5, 64: -1}, 0.5) is not None
    assert percentile({16: 1, 7.5: 3}, 0.9) == BOUNDS[-1]  # a bound that is none

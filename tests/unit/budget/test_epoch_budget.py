"""How an epoch under a hard target is divided, as a function of three numbers."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.budget.epoch_budget import (
    FEW,
    LARGE,
    MANY,
    MOST_RESERVED,
    MOST_SPARE,
    epoch_budget,
    least_memory,
)

GROWTHS = st.one_of(st.floats(0, 400), st.floats(0, 5_000), st.floats(0, 70_000))
RECENT = st.one_of(st.integers(0, 2_000), st.integers(0, 70_000))


@given(GROWTHS, RECENT, st.integers(1_000, 1_099))
def test_memory_never_falls_when_the_target_grows(growth, recent, first):
    made = [epoch_budget(target, growth, recent) for target in range(first, 64_001, 100)]
    assert all(one.memory <= other.memory for one, other in pairwise(made))


@pytest.mark.slow
@given(GROWTHS, RECENT, st.integers(1_000, 63_000))
def test_no_token_more_of_a_target_changes_much(growth, recent, start):
    """It is continuous: 1,000 targets in a row."""
    made = [epoch_budget(target, growth, recent) for target in range(start, start + 1_000)]
    for one, other in pairwise(made):
        assert 0 <= other.memory - one.memory <= 2
        assert abs(other.reserved - one.reserved) <= 2


@given(GROWTHS, RECENT, st.integers(1_000, 64_000))
def test_all_is_spent_or_reserved_but_what_is_spare(growth, recent, target):
    made = epoch_budget(target, growth, recent)
    assert 0 <= made.reserved <= MOST_RESERVED * target
    if recent + made.memory <= target:
        assert recent + made.memory + made.reserved <= target
    assert recent + made.memory + made.reserved >= (1 - MOST_SPARE) * target - 2
    assert made.memory >= least_memory(min(target, recent))
    assert 0 <= made.alike <= 1


@pytest.mark.parametrize(
    ("target", "requests"),
    [(1_000, FEW), (8_000, FEW), (14_000, 5.5), (LARGE, MANY), (64_000, MANY)],
)
def test_an_epoch_reserves_for_more_requests_the_larger_its_target(target, requests):
    assert epoch_budget(target, 50, 0).requests == pytest.approx(requests, rel=0.01) or (
        epoch_budget(target, 50, 0).reserved == int(MOST_RESERVED * target)
    )


def test_little_is_reserved_for_requests_that_do_not_fit():
    reserved = [epoch_budget(8_000, growth, 0).reserved for growth in (3_360, 5_040, 10_080)]
    assert reserved == [3_360, 2_520, 0]


@pytest.mark.parametrize(
    ("target", "least"),
    [(1_000, 500), (1_600, 800), (2_000, 1_000), (4_000, 1_000), (8_000, 2_000)],
)
def test_the_least_that_memory_may_have(target, least):
    assert least_memory(target) == least
    assert epoch_budget(target, 100, target).memory == least

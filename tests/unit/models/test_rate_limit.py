"""When calls may begin: limits in every minute, rests, one that finds out alone."""

from __future__ import annotations

import math

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from memtree.models.chat_endpoint import FAILURES, LONGEST_DOWN, LONGEST_REST, MINUTE, RateLimit


def admitted(pace, sizes, arrivals):
    """Begins of calls that come at these times, each waiting for its turn, one after another."""
    now, begun = 0.0, []
    for size, pause in zip(sizes, arrivals, strict=True):
        now += pause
        while (wait := pace.wait(now, size)) > 0:
            now += wait
        pace.end(pace.begin(now, size))
        begun.append((now, size))
    return begun


CALLS = st.lists(
    st.tuples(st.integers(0, 900), st.floats(0, 40, allow_nan=False)), min_size=1, max_size=60
)


@given(CALLS, st.integers(0, 12), st.integers(0, 2_000))
def test_no_minute_holds_more_than_the_limits(calls, requests, most):
    begun = admitted(RateLimit(requests, most), *zip(*calls, strict=True))
    waited = begun[-1][0] > sum(pause for _, pause in calls) + 1e-6
    event(f"waited: {waited}")
    for first, (start, _) in enumerate(begun):
        # Half-open, and a hair less than a minute: sums of floats are not exact.
        inside = [size for at, size in begun[first:] if at < start + MINUTE - 1e-6]
        assert not requests or len(inside) <= requests
        assert not most or sum(inside) <= most or len(inside) == 1


def test_without_limits_nobody_waits():
    assert admitted(RateLimit(), [10**6] * 50, [0.0] * 50)[-1][0] == 0.0


def test_one_that_is_larger_than_the_limit_goes_alone():
    begun = admitted(RateLimit(tokens=100), [10, 500, 10], [0.0] * 3)
    assert [at for at, _ in begun] == [0.0, 60.0, 120.0]


def test_estimates_are_corrected():
    pace = RateLimit(tokens=1_000)
    ticket = pace.begin(0.0, 900)
    assert pace.wait(1.0, 500) == 59.0
    pace.end(ticket, 300)
    assert pace.wait(1.0, 500) == 0.0
    pace.end(ticket, 0)  # it has ended already
    assert pace.wait(1.0, 800) == 59.0


def test_a_refusal_stops_all_until_one_finds_out_alone():
    pace = RateLimit()
    pace.slowed(0.0, 7.5)
    assert pace.wait(1.0, 1) == 6.5
    probe = pace.begin(8.0, 1)
    assert pace.wait(8.0, 1) == math.inf
    pace.slowed(9.0, 2.0)
    pace.end(probe)
    assert pace.wait(9.0, 1) == 2.0
    probe = pace.begin(11.0, 1)
    pace.worked()
    pace.end(probe)
    assert pace.wait(11.0, 1) == 0.0
    pace.begin(11.0, 1)
    assert pace.wait(11.0, 1) == 0.0


def test_a_probe_that_was_given_up_makes_room_for_another():
    pace = RateLimit()
    pace.slowed(0.0, 1.0)
    pace.end(pace.begin(2.0, 1))
    assert pace.wait(2.0, 1) == 0.0
    assert pace.begin(2.0, 1).alone


def test_rests_double_and_several_refusals_of_one_moment_are_one():
    pace, now, rests = RateLimit(), 0.0, []
    for _ in range(9):
        for _ in range(4):
            pace.slowed(now)
        rests.append(pace.rest(now))
        now += rests[-1]
    assert rests == [1, 2, 4, 8, 16, 32, LONGEST_REST, LONGEST_REST, LONGEST_REST]
    assert not pace.down  # who refuses, lives
    pace.worked()
    pace.slowed(now)
    assert pace.rest(now) == 1


def test_some_failures_in_a_row_are_an_outage():
    pace, now, rests = RateLimit(), 0.0, []
    for number in range(9):
        assert pace.down == (number >= FAILURES)
        pace.failed(now)
        rests.append(pace.rest(now))
        now += rests[-1]
    assert rests == [1, 2, 30, 60, 120, 240, 480, LONGEST_DOWN, LONGEST_DOWN]
    pace.worked()
    assert not pace.down


@pytest.mark.parametrize("way", ["slowed", "failed"])
def test_what_is_told_counts_within_reason(way):
    pace = RateLimit()
    getattr(pace, way)(0.0, 1e300)
    assert pace.rest(0.0) == 86_400
    getattr(pace, way)(0.0, 5.0)  # less does not shorten it
    assert pace.rest(0.0) == 86_400

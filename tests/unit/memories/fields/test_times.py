"""Times as callers write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.errors import BadRequest
from memtree.memories.fields.times import future_timestamp, shown, timestamp, ttl_seconds

HALF_PAST_TEN = 1772879400.0  # 2026-03-07T10:30:00Z


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-07T10:30:00.000Z",
        "2026-03-07T10:30Z",
        "2026-03-07t10:30:00z",
        "2026-03-07 10:30:00",
        " 2026-03-07T10:30:00.000Z ",
        "2026-03-07T11:30:00+01:00",
        "2026-03-07T11:30:00+0100",
        "2026-03-07T11:30:00+01",
        "2026-03-07T05:00:00-05:30",
        "2026-03-08T00:30:00 +14:00",
    ],
)
def test_one_instant_in_many_spellings(text):
    assert timestamp(text, "expires_at") == HALF_PAST_TEN
    assert shown(HALF_PAST_TEN) == "2026-03-07T10:30:00.000Z"


def test_a_date_is_its_first_instant_and_fractions_count():
    assert shown(timestamp("2026-03-07", "at")) == "2026-03-07T00:00:00.000Z"
    assert timestamp("2026-03-07T10:30:00,25Z", "at") == HALF_PAST_TEN + 0.25
    assert timestamp("2026-03-07T10:30:00.123456789Z", "at") == pytest.approx(
        HALF_PAST_TEN + 0.123456789
    )


def test_nothing_given_is_no_time():
    assert timestamp(None, "expires_at") is None
    assert future_timestamp(None, "expires_at", HALF_PAST_TEN) is None


@pytest.mark.parametrize(
    "value",
    [
        *(0, 1772879400, 1.5, True, [], {}, b"2026-03-07"),
        *("", " ", "tomorrow", "07.03.2026", "2026-3-7", "20260307", "2026-W10-6", "2026-066"),
        *("2026-02-29", "2026-13-01", "2026-00-10", "2026-03-32", "0000-01-01"),
        *("2026-03-07T24:00:00Z", "2026-03-07T10:60Z", "2026-03-07T10:30:60Z", "2026-03-07T10"),
        *("2026-03-07T10:30:00+24:00", "2026-03-07T10:30:00+01:60", "2026-03-07T10:30:00 CET"),
        *("2026-03-07T10:30:00Z Z", "2026-03-07Z", "12026-03-07", "-2026-03-07"),
        *("٢٠٢٦-٠٣-٠٧", "2026-03-07\n2026-03-08", "2" * 10_000),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_no_time_is_refused_with_the_name_of_the_field(value):
    with pytest.raises(BadRequest, match=r"^expires_at must be an ISO 8601") as refused:
        timestamp(value, "expires_at")
    assert refused.value.param == "expires_at"


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+01:00"])
def test_the_ends_of_the_calendar(text):
    seconds = timestamp(text, "at")
    assert shown(seconds) in ("9999-12-31T23:59:59.000Z", "0001-01-01T00:00:00.000Z")


def test_an_end_must_lie_ahead():
    assert future_timestamp("2026-03-07T10:30:01.000Z", "expires_at", HALF_PAST_TEN)
    with pytest.raises(BadRequest, match="future") as refused:
        future_timestamp("2026-03-07T10:30:00.000Z", "expires_at", HALF_PAST_TEN)
    assert refused.value.param == "expires_at"


@given(st.integers(-62_135_596_800, 253_402_300_798), st.floats(0, 0.999))
def test_what_is_shown_is_the_next_millisecond(whole, fraction):
    later = timestamp(shown(whole + fraction), "at") - (whole + fraction)
    assert -0.00002 <= later <= 0.00102  # such large numbers have no more places


@given(st.floats())
def test_any_number_can_be_shown(seconds):
    assert len(shown(seconds)) == 24


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("15m", 900),
        ("1h", 3_600),
        ("24H", 86_400),
        ("7d", 604_800),
        ("2 w", 1_209_600),
    ],
)
def test_times_to_live(text, seconds):
    assert ttl_seconds(text, "ttl") == seconds


@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        True,
        "",
        "h",
        "5",
        "1y",
        "-1h",
        "1.5h",
        "0s",
        "1h30m",
        "1 h\n",
        "٣d",
        "9" * 10 + "w",
    ],
)
def test_what_is_no_time_to_live_is_refused(value):
    with pytest.raises(BadRequest, match="ttl must be") as refused:
        ttl_seconds(value, "ttl")
    assert refused.value.param == "ttl"

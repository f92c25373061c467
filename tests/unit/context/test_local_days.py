"""Days of a time zone, made of the days in UTC and the log."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest

from memtree.days import DAY, date_of, day_of
from memtree.errors import BadRequest
from memtree.ports.request_log import StateSums
from memtree_proxy.context.local_days import DayShift, day_shifts, local_day, moved
from memtree_proxy.context.time_zones import IN_UTC, time_zone
from memtree_proxy.observability.usage_tallies import RAW, SAVED, STATE

HOUR = 3_600
BERLIN = ZoneInfo("Europe/Berlin")


def number(day: str) -> int:
    return (date.fromisoformat(day) - date(1970, 1, 1)).days


def test_in_utc_nothing_moves() -> None:
    assert day_shifts(10, 40, UTC) == []


def test_west_and_east() -> None:
    west, east = (timezone(timedelta(hours=hours)) for hours in (-8, 13))
    assert day_shifts(5, 5, west)[0] == DayShift(5.0 * DAY, 5.0 * DAY + 8 * HOUR, 5, 4)
    assert day_shifts(5, 5, east)[0] == DayShift(5.0 * DAY - 13 * HOUR, 5.0 * DAY, 4, 5)


def test_summer_time_begins_and_ends_between_two_days() -> None:
    widths = {}
    for day in ("2026-03-29", "2026-03-30", "2026-10-25", "2026-10-26"):
        shift = day_shifts(number(day), number(day), BERLIN)[0]
        widths[day] = round((shift.until - shift.since) / HOUR)
    assert list(widths.values()) == [1, 2, 2, 1]


@pytest.mark.parametrize("zone", [UTC, BERLIN, timezone(timedelta(hours=-11))])
def test_the_day_there(zone: tzinfo) -> None:
    for hour in range(48):
        now = 1_772_879_400.0 + hour * HOUR
        assert date_of(local_day(now, zone)) == datetime.fromtimestamp(now, zone).date()
    assert local_day(now, UTC) == day_of(now)


def test_what_the_log_does_not_know_stays_where_it_is_counted() -> None:
    shift = DayShift(0, 1, away=4, to=5)
    counted = {4: {STATE + "packed": 2, RAW: 100, SAVED: 50_000}}
    assert moved(counted, [(shift, [])]) == counted
    one = StateSums("packed", 1, 70, 0, -10)
    assert moved(counted, [(shift, [one])]) == {
        4: {STATE + "packed": 1, RAW: 30, SAVED: 60_000},
        5: {STATE + "packed": 1, RAW: 70, SAVED: -10_000},
    }


def test_a_row_that_was_never_counted_makes_no_day_negative() -> None:
    found = moved({}, [(DayShift(0, 1, away=4, to=5), [StateSums("packed", 1, 70, 9, 0)])])
    assert found[4] == {}
    assert found[5][RAW] == 70


@pytest.mark.parametrize("named", ["Europe/Berlin", "+02:00", "-0930", "Etc/GMT+5"])
def test_zones(named: str) -> None:
    assert time_zone(named, "timezone").name == named


def test_a_plus_sign_that_nobody_encoded() -> None:
    assert time_zone(" 02:00", "timezone").name == "+02:00"
    assert time_zone(None, "timezone") == IN_UTC == time_zone("UTC", "timezone")


@pytest.mark.parametrize(
    "named", ["", "Berlin", "America", "../etc/passwd", "+15:00", "+2", "A" * 70, "+01:60", "\0"]
)
def test_no_zones(named: str) -> None:
    with pytest.raises(BadRequest, match="timezone must be a time zone") as caught:
        time_zone(named, "timezone")
    assert caught.value.param == "timezone"

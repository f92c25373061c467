"""Days of a time zone, made of what is counted by day in UTC and of the log of requests.

    UTC    |----- 21st -----|----- 22nd -----|
    +02:00   |----- 21st -----|----- 22nd ---    what came from 22:00 to midnight goes one day on

Only requests between the two midnights change their day, and the log knows them for `LOG_DAYS`
days. What it knows no more stays where UTC has it, so nothing is lost or counted twice. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, time, tzinfo
from typing import NamedTuple

from memtree.days import DAY, date_of
from memtree.ports.request_log import StateSums
from memtree_proxy.observability.records.usage_tallies import MILLI, RAW, SAVED, SENT, STATE


class DayShift(NamedTuple):
    """Requests from `since` to `until` (unix seconds) are counted on the day `away` in UTC, and
    came on the day `to`."""

    since: float
    until: float
    away: int
    to: int


def local_day(now: float, zone: tzinfo) -> int:
    """Days since 1970 by the calendar there."""
    return datetime.fromtimestamp(now, zone).toordinal() - _1970


def day_shifts(first: int, last: int, zone: tzinfo) -> list[DayShift]:
    """Return what to move so that the days from `first` to `last`, both included, are those of the
    zone.

    >>> from datetime import timedelta, timezone
    >>> day_shifts(1, 1, timezone(timedelta(hours=2)))[0]
    DayShift(since=79200.0, until=86400.0, away=0, to=1)
    """
    shifts = []
    for day in range(first, last + 2):
        begins = datetime.combine(date_of(day), time(), zone).timestamp()
        midnight = float(day * DAY)
        if begins < midnight:
            shifts.append(DayShift(begins, midnight, day - 1, day))
        elif begins > midnight:
            shifts.append(DayShift(midnight, begins, day, day - 1))
    return shifts


def moved(
    daily: Mapping[int, Mapping[str, int]],
    shifts: Sequence[tuple[DayShift, Sequence[StateSums]]],
) -> dict[int, dict[str, int]]:
    """Return the tallies by day, with what each shift found in the log on its other day."""
    days = {day: dict(amounts) for day, amounts in daily.items()}
    for shift, of_shift in shifts:
        for sums in of_shift:
            for name, amount in _amounts(sums).items():
                for day, sign in ((shift.away, -1), (shift.to, 1)):
                    amounts = days.setdefault(day, {})
                    amounts[name] = amounts.get(name, 0) + sign * amount
    return {day: _possible(amounts) for day, amounts in days.items()}


def _amounts(sums: StateSums) -> dict[str, int]:
    return {
        STATE + sums.state: sums.requests,
        RAW: sums.posted_tokens,
        SENT: sums.sent_tokens,
        SAVED: sums.saved_tokens * MILLI,
    }


def _possible(amounts: Mapping[str, int]) -> dict[str, int]:
    """Only savings may be negative: a server that was killed may have logged what it lost count
    of."""
    return {name: n for name, n in amounts.items() if n > 0 or (n and name == SAVED)}


_1970 = date_of(0).toordinal()

"""Convert counts by UTC day to days of a time zone, with the log of requests.

    UTC    |----- 21st -----|----- 22nd -----|
    +02:00   |----- 21st -----|----- 22nd ---    requests from 22:00 to midnight move a day on

Only requests between the two midnights change their day, and the log holds them for `LOG_DAYS`
days. Older requests stay on their UTC day, so none is lost or counted twice. Does no I/O.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import NamedTuple

from memtree.days import DAY, date_of
from memtree.ports.request_log import StateSums
from memtree_proxy.http.usage_tallies import MILLI, RAW, SAVED, SENT, STATE


class DayShift(NamedTuple):
    """Requests to move: those from `since` to `until` (unix seconds) are counted on the UTC day
    `away`, and belong to the zone's day `to`."""

    since: float
    until: float
    away: int
    to: int


def local_day(now: float, zone: tzinfo) -> int:
    """Return the zone's current day, in days since 1970."""
    return datetime.fromtimestamp(now, zone).toordinal() - _1970


def day_shifts(first: int, last: int, zone: tzinfo) -> list[DayShift]:
    """Return the shifts that turn the UTC days `first` to `last`, inclusive, into days of the zone.

    >>> from datetime import timedelta, timezone
    >>> day_shifts(1, 1, timezone(timedelta(hours=2)))[0]
    DayShift(since=79200.0, until=86400.0, away=0, to=1)
    """
    shifts = []
    for day in range(first, last + 2):
        begins = datetime.combine(date_of(day), datetime.min.time(), zone).timestamp()
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
    """Return the counts by day after moving the requests that the log holds for each shift."""
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
    """Drop negative counts, except savings: a killed server may have logged requests that it never
    counted."""
    return {name: n for name, n in amounts.items() if n > 0 or (n and name == SAVED)}


_1970 = date_of(0).toordinal()

"""The clock as a port, and days as tallies, recipes and limits count them: since 1970, UTC."""

from __future__ import annotations

from datetime import date
from typing import Protocol

DAY = 86_400  # seconds


def day_of(now: float) -> int:
    """Days since 1970, UTC, at that time (unix seconds).

    >>> day_of(86_399.9), day_of(86_400.0)
    (0, 1)
    """
    return int(now // DAY)


_1970 = date(1970, 1, 1).toordinal()


def date_of(day: int) -> date:
    """Return the date of a day since 1970."""
    return date.fromordinal(_1970 + day)


def written(now: float) -> str:
    """Write the day of a time (unix seconds) in UTC, as in 1970-01-01.

    >>> written(1_772_879_400.25)
    '2026-03-07'
    """
    day = max(date.min.toordinal(), min(date.max.toordinal(), _1970 + day_of(now)))
    return date.fromordinal(day).isoformat()


class Clock(Protocol):
    """Port for the time, so that the core takes it as an argument."""

    def now(self) -> float:
        """Return unix seconds."""
        ...

    def monotonic(self) -> float: ...

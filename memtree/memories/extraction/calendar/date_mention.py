"""A date in a text, as a value."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import date


class DateKind(enum.Enum):
    DAY = "day"  # with its year
    MONTH_DAY = "month and day"
    MONTH = "month"
    WEEKDAY = "weekday"
    RELATIVE = "relative"  # counted from the day it was said
    RECURRING = "recurring"
    TIME = "time"  # of a day


@dataclass(frozen=True, slots=True)
class DateMention:
    """`day`: the one day that is meant, where that is certain."""

    start: int
    end: int
    kind: DateKind
    day: date | None = None

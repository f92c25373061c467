"""The day of each message of a history, read once in order.

A day holds for the messages behind it until the next one. Nothing is looked up ahead, so the days
of a history stay when messages are added to it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from datetime import date

from memtree.conversation.days.day_marks import DayMark, MarkSource
from memtree.conversation.history import History
from memtree.language.day_names import ENGLISH_NAMES
from memtree.language.written_days import WrittenDay, ordinal

AHEAD = 366  # days that a loose mark may lie behind the last day; before it it may not lie
AGAIN = 31  # days between two loose marks, both far ahead, that are believed
HALF_YEAR = 183
EARLIEST = date(1990, 1, 1).toordinal()  # of a loose mark: before it is history that is told


def message_days(history: History) -> Sequence[int]:
    """Return the proleptic ordinal of each message's day, 0 where nothing gives one."""
    return days_of((fact.day_mark, fact.role) for fact in history.facts)


def days_of(marked: Iterable[tuple[DayMark | None, str]]) -> Sequence[int]:
    """Return the day of each of some messages, given their marks and roles."""
    days, current, refused = array("i"), 0, 0
    orders: dict[str, bool] = {}
    answered, last = False, None
    for mark, role in marked:
        if mark is not None and mark is not last and (answered or _stays(mark)):
            day = _ordinal(mark, current, orders)
            if mark.source is not MarkSource.LOOSE or _follows(day, current, refused):
                current = day  # 0 where it is not to be told: the day before holds no longer
            elif day > current:
                refused = day
            last = mark
        answered = answered or role == "assistant"
        days.append(current)
    return days


def _stays(mark: DayMark) -> bool:
    """Tell whether a mark before the first answer is as it was sent: some clients write their
    first reminder anew, with the day on which an old session is taken up again."""
    return mark.source is not MarkSource.REMINDER


def _follows(day: int, current: int, refused: int) -> bool:
    """Tell whether a loose mark may be the next day of the history, and not one that is told of:
    it is soon behind the day before, or behind another mark that was refused."""
    if day < EARLIEST:
        return False
    return not current or 0 <= day - current <= AHEAD or 0 < day - refused <= AGAIN


def _ordinal(mark: DayMark, current: int, orders: dict[str, bool]) -> int:
    """Return the day of a mark. `orders`: whether the day comes before the month, by the sign
    between them. A number over 12 shows it; else the first date that may be read both ways: "." is
    written where the day comes first, a clock of 12 hours in most places where the month does."""
    written = mark.written
    if not written.year:
        return _in_known_year(written, current) if current else 0
    if not written.sign or written.month == written.day:
        return written.ordinal
    swapped = ordinal(written.year, written.day, written.month)
    if not (written.ordinal and swapped):
        orders[written.sign] = bool(written.ordinal)
        return written.ordinal or swapped
    if written.sign not in orders and (written.sign == "." or mark.clock):
        orders[written.sign] = written.sign == "." or mark.clock == 24
    day_first = orders.get(written.sign)
    return 0 if day_first is None else written.ordinal if day_first else swapped


def _in_known_year(written: WrittenDay, current: int) -> int:
    """Return the day in the year that was known last, or in the next where it would else lie more
    than half a year back."""
    year = date.fromordinal(current).year
    day = ordinal(year, written.month, written.day)
    if not day or day < current - HALF_YEAR:
        return ordinal(year + 1, written.month, written.day)
    return day


def day_text(day: int) -> str:
    """Write an ordinal as people do: five tokens of o200k, where ISO 8601 takes six.

    >>> day_text(738648)
    '8 May 2023'
    """
    calendar_day = date.fromordinal(day)
    return f"{calendar_day.day} {ENGLISH_NAMES[calendar_day.month - 1]} {calendar_day.year}"

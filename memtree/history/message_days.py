"""Give each message of a history its day, read once in order.

A day applies to the messages after it until the next day. Later messages are never consulted, so
the days of a history stay when messages are added to it.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from datetime import date

from memtree.history.chat_history import History
from memtree.history.day_marks import DayMark, MarkSource
from memtree.language.day_names import ENGLISH_NAMES
from memtree.language.written_days import WrittenDay, ordinal

AHEAD = 366  # days by which a loose mark may follow the last day; it may not precede it
AGAIN = 31  # days between two loose marks, both far ahead, that confirm each other
HALF_YEAR = 183
# earliest day of a loose mark: an earlier date is one that the text talks about
EARLIEST = date(1990, 1, 1).toordinal()


def message_days(history: History) -> Sequence[int]:
    """Return the proleptic ordinal of each message's day, 0 if it is unknown."""
    facts = history.facts
    marks = [(at, fact.day_mark) for at, fact in enumerate(facts) if fact.day_mark is not None]
    answer = next((at for at, fact in enumerate(facts) if fact.role == "assistant"), len(facts))
    days, current, refused = array("i"), 0, 0
    orders: dict[str, bool] = {}
    last = None
    for at, mark in marks:
        # Some clients update their first reminder with the day on which an old session is resumed:
        # before the first answer, only other marks are unchanged since they were sent.
        if mark is last or (at <= answer and mark.source is MarkSource.REMINDER):
            continue
        days += array("i", (current,)) * (at - len(days))
        day = _ordinal(mark, current, orders)
        if mark.source is not MarkSource.LOOSE or _follows(day, current, refused):
            current = day  # 0 if it is unknown: the day before no longer applies
        elif day > current:
            refused = day
        last = mark
    return days + array("i", (current,)) * (len(facts) - len(days))


def _follows(day: int, current: int, refused: int) -> bool:
    """Return True if a loose mark may be the next day of the history, rather than a day that the
    text talks about: it follows the day before closely, or follows another refused mark."""
    if day < EARLIEST:
        return False
    return not current or 0 <= day - current <= AHEAD or 0 < day - refused <= AGAIN


def _ordinal(mark: DayMark, current: int, orders: dict[str, bool]) -> int:
    """Return the day of a mark. `orders`: by separator, True if the day comes before the month. A
    number over 12 decides; else the first ambiguous date: "." is written where the day comes first,
    a 12-hour clock mostly where the month does."""
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
    """Return the day in the last known year, or in the next if it would otherwise be more than half
    a year back."""
    year = date.fromordinal(current).year
    day = ordinal(year, written.month, written.day)
    if not day or day < current - HALF_YEAR:
        return ordinal(year + 1, written.month, written.day)
    return day


def day_text(day: int) -> str:
    """Format an ordinal as people write it: five tokens of o200k, where ISO 8601 takes six.

    >>> day_text(738648)
    '8 May 2023'
    """
    calendar_day = date.fromordinal(day)
    return f"{calendar_day.day} {ENGLISH_NAMES[calendar_day.month - 1]} {calendar_day.year}"

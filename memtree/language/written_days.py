"""Read a date where a text is known to contain one: a heading, a time stamp.

In prose "may", "2.10.12" and "3/4" are mostly something else; callers know that a date stands
there, or reject the rest of the line. Prose is read by `statements.calendar_dates`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from memtree.language import day_names
from memtree.language.word_file import lazily

_NAME = r"[^\W\d_]{3,10}"  # looked up in a table: a tenth of the time of listing alternatives
_YEAR = r"(?:19|20|21)\d\d"
_END = r"(?![0-9]|[-./][0-9])"
_FORMS = lazily(
    rf"(?P<year>{_YEAR})(?P<sign>[-/.])\s?(?P<month>[0-9]{{1,2}})(?P=sign)\s?(?P<day>[0-9]{{1,2}}){_END}"
    r"|(?P<first>[0-9]{1,2})(?P<between>[-/.])\s?(?P<second>[0-9]{1,2})(?P=between)\s?"
    rf"(?P<last>{_YEAR}|[0-9]{{2}}){_END}"
    rf"|(?:(?P<year3>{_YEAR})\s?[年년]\s?)?(?P<month3>[0-9]{{1,2}})\s?[月월]\s?"
    r"(?P<day3>[0-9]{1,2})\s?[日일號号]"
    r"|(?P<day4>[0-9]{1,2})(?:st|nd|rd|th|er|[ºª°.])?[\s-]?(?:of\s|de\s|d['’])?"
    rf"(?P<name4>{_NAME})\b\.?(?:,?[\s-](?:de\s|del\s|of\s)?(?P<year4>{_YEAR})\b)?"
    rf"|(?P<name5>{_NAME})\b\.?[\s-](?:the\s)?(?P<day5>[0-9]{{1,2}})(?:st|nd|rd|th)?\b(?!:)"
    r"(?:(?:\s[0-9]{2}:[0-9]{2}:[0-9]{2})?(?:\s[A-Z]{3,4}\b)?,?[\s-]"
    rf"(?P<year5>{_YEAR})\b)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class WrittenDay:
    """A date as it is written. `year`: 0 if absent. `sign`: the separator of two numbers that may
    be day and month in either order; they are stored as if the day came first."""

    year: int
    month: int
    day: int
    sign: str = ""
    short_year: bool = False

    @property
    def ordinal(self) -> int:
        """Return the proleptic ordinal; 0 if the calendar has no such day."""
        return ordinal(self.year, self.month, self.day)


def ordinal(year: int, month: int, day: int) -> int:
    """Return the proleptic ordinal of a day; 0 if the calendar has no such day."""
    try:
        return date(year, month, day).toordinal()
    except ValueError:
        return 0


def written_day(text: str, at: int = 0) -> tuple[WrittenDay, int] | None:
    """Read the date that begins exactly at `at`; return it and its end, or None.

    >>> written_day("8 May, 2023")
    (WrittenDay(year=2023, month=5, day=8, sign='', short_year=False), 11)
    >>> written_day("31/12/2023")[0], written_day("version 2"), written_day("2023-02-30")
    (WrittenDay(year=2023, month=12, day=31, sign='/', short_year=False), None, None)
    """
    match = _FORMS.match(text, at)
    if match is None:
        return None
    day = _day(match)
    year = day.year or 2024  # a leap year
    exists = ordinal(year, day.month, day.day) or (day.sign and ordinal(year, day.day, day.month))
    return (day, match.end()) if exists else None


def _day(match: re.Match[str]) -> WrittenDay:
    if match["year"]:
        return WrittenDay(int(match["year"]), int(match["month"]), int(match["day"]))
    if match["first"]:
        last, short = int(match["last"]), len(match["last"]) == 2
        year = last + 2000 if short else last
        return WrittenDay(year, int(match["second"]), int(match["first"]), match["between"], short)
    if match["day3"]:
        return WrittenDay(int(match["year3"] or 0), int(match["month3"]), int(match["day3"]))
    form = "4" if match["day4"] else "5"
    name, year = match[f"name{form}"].lower(), int(match[f"year{form}"] or 0)
    month = (day_names.ALL_BESIDE_YEARS if year else day_names.ALL_MONTHS).get(name, 0)
    return WrittenDay(year, month, int(match[f"day{form}"]))

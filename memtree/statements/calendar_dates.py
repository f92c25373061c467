"""Read the dates of a sentence, and tell what a user's calendar and diary would hold.

Dates are read by rules of our own: days, months, weekdays, and what is counted from today. The
general parsers find a date in "I may go", "line 1200" and "version 2.1". Here a number is one only
beside the name of a month, or in a form that nothing else has, and a word that is a month as well
as something else ("may", "march", "mars") only where its neighbours leave no doubt. A day is
resolved where the sentence and the day it was said give exactly one; everything else keeps its
words.

    >>> from datetime import date
    >>> [found.day for found in dates("I may fly on May 5, 2026 or in 3 days.", date(2026, 3, 2))]
    [datetime.date(2026, 5, 5), datetime.date(2026, 3, 5)]

A calendar would hold appointments, deadlines, journeys, and what recurs every week (`is_schedule`).
They are told by a date beside an event of the user's ("my dentist appointment is on March 15"), a
plan ("I'm moving to Lisbon in June") or a habit ("I have yoga every Tuesday"). What is over is no
schedule.

    >>> is_schedule("My flight is next Friday.", date(2026, 3, 2))
    True

Such a memory does not expire by itself. After its day it is still true that the exam was on March
15, and who asks "when was my exam?" must get an answer; newer memories rank above it. So the stored
text keeps the words, and where these count from the day they were said, that day stands behind
them (`with_day`).

    >>> with_day("User's flight is next Friday", date(2026, 3, 2))
    "User's flight is next Friday (said 2026-03-02)"

A diary would hold what happened in a user's life on a day that they name (`is_event`): "we went to
Rome last summer". A day makes it worth keeping: who tells when something was will ask when it was.
What was done to files, tests and servers has its days as well and is nobody's life, so words of
work with a machine speak against it.

    >>> is_event("I adopted a puppy last week.")
    True
    >>> is_event("I tried it yesterday and it failed.")
    False
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from memtree.language import day_names
from memtree.language.word_file import WordFile, WordFiles, alternation, lazily

_DATA = WordFile("all", "memory_dates")
_DAYS = _DATA.pattern("days", re.IGNORECASE)
_DIGITS = WordFiles("numbers").table("cardinals", "counts")
UNSPACED_TRIGGERS = "每周|每星期|每个星期|毎週"


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


@cache
def triggers() -> frozenset[str]:
    """Return words of which a text with a date holds one, where it holds no digit: a hundred times
    as fast to see."""
    return frozenset(day_names.ALL_MONTHS) | _DATA.words("triggers")


def _with_names(pattern: str) -> str:
    """Fill the names of months and weekdays into a pattern of the data file."""
    for name, names in _names().items():
        pattern = pattern.replace(f"{{{name}}}", names)
    return pattern


@cache
def _names() -> dict[str, str]:
    whole = _one_of(day_names.MONTHS | day_names.AMBIGUOUS_MONTHS)
    return {
        "month": rf"(?:{whole}|(?:{_one_of(day_names.SHORT_MONTHS)})\b\.?)",
        "any_month": f"(?:{whole})",
        "short_months": "|".join(day_names.SHORT_MONTHS),
        "weekdays": day_names.WEEKDAYS,
    }


def _one_of(names: Iterable[str]) -> str:
    return alternation(map(re.escape, names))


# Reads a match; the date is the day the text was said.
_Reader = Callable[[re.Match[str], date | None], DateMention | None]


def _mention(match: re.Match[str], kind: DateKind, day: date | None = None) -> DateMention:
    start = match.start("date") if "date" in match.re.groupindex else match.start()
    return DateMention(start, match.end(), kind, day)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


# -- numbers alone -----------------------------------------------------------------------------


def _iso(match: re.Match[str], said: date | None) -> DateMention | None:
    day = _day(int(match["year"]), int(match["month"]), int(match["day"]))
    return _mention(match, DateKind.DAY, day) if day else None


def _numbers(match: re.Match[str], said: date | None) -> DateMention | None:
    """3/15/2026 and 15.03.2026; of a number pair that may be read both ways the day stays open."""
    first, second, year = int(match["a"]), int(match["b"]), int(match["year"])
    year += 2000 if year < 100 else 0
    pairs = {(first, second), (second, first)} if match["sign"] == "/" else {(second, first)}
    days = {day for month, number in pairs if (day := _day(year, month, number))}
    if not days or not 1900 <= year < 2200:
        return None
    return _mention(match, DateKind.DAY, days.pop() if len(days) == 1 else None)


def _month_and_day(match: re.Match[str], said: date | None) -> DateMention | None:
    """3/15 and 15.3., only where a word before says that it is a day and only one reading is."""
    first, second = int(match["a"]), int(match["b"])
    if match["sign"] == "/" and ((first > 12) == (second > 12) or (first, second) == (24, 7)):
        return None
    month, day = (second, first) if first > 12 or match["sign"] == "." else (first, second)
    return _mention(match, DateKind.MONTH_DAY) if _day(2024, month, day) else None


# -- names of months ---------------------------------------------------------------------------


def _named(match: re.Match[str], said: date | None) -> DateMention | None:
    """A day of a named month, before or behind it."""
    name, number = match["month"].rstrip(".").lower(), int(match["day"])
    month = day_names.ALL_MONTHS[name]
    if not _day(2024, month, number) or not _is_month(match, name):
        return None
    if not match["year"]:
        return _mention(match, DateKind.MONTH_DAY)
    day = _day(int(match["year"]), month, number)
    several = _SEVERAL.search(match.group())
    return _mention(match, DateKind.DAY, None if several else day) if day else None


_SEVERAL = lazily(r"\d\s?[-–]\s?\d")
_MEASURED = _DATA.pattern("not_a_day", re.IGNORECASE)
_CERTAIN = _DATA.pattern("before_month", re.IGNORECASE)
_OF = lazily(r"\s(?:of|de)\s", re.IGNORECASE)


def _is_month(match: re.Match[str], name: str) -> bool:
    """Return True if "May 5" is a day: not in "option 3 may fail" nor in "March 15 miles a day"."""
    text = match.string
    number_first = match.start("day") < match.start("month")
    sure = number_first or match["year"] or match["suffix"]
    if not sure and _MEASURED.match(text, match.end()):
        return False
    if name not in day_names.AMBIGUOUS_MONTHS and name not in day_names.SHORT_MONTHS:
        return True
    certain = (
        match["year"]
        or (number_first and _OF.search(match.group()))
        or _CERTAIN.search(text, max(0, match.start() - 20), match.start())
    )
    if certain or name in day_names.ENGLISH_MONTHS or name in day_names.SHORT_MONTHS:
        return bool(certain) or match["month"][0].isupper()
    return bool(number_first and match["suffix"])


def _month(match: re.Match[str], said: date | None) -> DateMention | None:
    """A month by itself, behind a word that goes with months, or before its year."""
    name = match["month"].lower()
    before = match["before"].strip().lower() if match["before"] else ""
    if name not in day_names.AMBIGUOUS_MONTHS:
        return _mention(match, DateKind.MONTH) if before or match["year"] else None
    following = match.string[match.end() : match.end() + 12]
    if not match["year"] and _GOES_ON.match(following):
        return None
    upper = match["month"][0].isupper()
    certain = before and before not in _LOOSE
    return _mention(match, DateKind.MONTH) if (match["year"] and upper) or certain else None


_GOES_ON = _DATA.pattern("goes_on")
_LOOSE = frozenset({"a", "de", "di", "da", "para", "for", "from", "this"})

# -- weekdays and days counted from today ------------------------------------------------------


def _weekday(match: re.Match[str], said: date | None) -> DateMention | None:
    name = match["weekday"]
    if name.lower() in ("domingo", "domenica", "sabato") and name[0].isupper():
        before = match.string[max(0, match.start("weekday") - 20) : match.start("weekday")]
        if before.rstrip()[-1:].isalpha() and not match["before"]:
            return None  # somebody's name
    recurring = bool(match["each"]) or _PLURAL.fullmatch(name) is not None
    return _mention(match, DateKind.RECURRING if recurring else DateKind.WEEKDAY)


_PLURAL = _DATA.pattern("plural", re.IGNORECASE)


def _short_weekday(match: re.Match[str], said: date | None) -> DateMention | None:
    name = match["weekday"] or match["alone"]
    return _mention(match, DateKind.WEEKDAY) if name[0].isupper() else None


_AWAY = _DATA.table("away")


def _from_today(match: re.Match[str], said: date | None) -> DateMention | None:
    name = match["date"].lower()
    day = _shifted(said, int(_AWAY[name])) if name in _AWAY else None
    return _mention(match, DateKind.RELATIVE, day)


def _counted(match: re.Match[str], said: date | None) -> DateMention | None:
    """In 3 weeks. Not "I learned it in 3 weeks", which is how long it took."""
    text = match.string
    before = text[max(0, match.start() - 60) : match.start()]
    before = before[max(before.rfind(". "), before.rfind("! "), before.rfind("? ")) + 1 :]
    if _TOOK.search(before) and not _AHEAD.search(before):
        return None
    number = match["number"].lower()
    days = int(number) if number.isdigit() else int(_DIGITS.get(number, 0))
    exact = days and _DAYS.fullmatch(match["unit"])
    return _mention(match, DateKind.RELATIVE, _shifted(said, days) if exact else None)


_TOOK = _DATA.pattern("took", re.IGNORECASE)
_AHEAD = _DATA.pattern("ahead", re.IGNORECASE)


def _shifted(said: date | None, days: int) -> date | None:
    try:
        return said + timedelta(days=days) if said else None
    except OverflowError:
        return None


def _day_of_month(match: re.Match[str], said: date | None) -> DateMention | None:
    return _mention(match, DateKind.MONTH_DAY)


def _quarter(match: re.Match[str], said: date | None) -> DateMention | None:
    return _mention(match, DateKind.MONTH) if "Q" in match.group() else None


_READERS: tuple[tuple[str, _Reader], ...] = (
    ("rule_iso", _iso),
    ("rule_numbers", _numbers),
    ("rule_month_and_day", _month_and_day),
    ("rule_day_and_month", _month_and_day),
    ("rule_month_day", _named),
    ("rule_day_month", _named),
    ("rule_day_short_month", _named),
    ("rule_ordinal_of_month", _day_of_month),
    ("rule_the_nth", _from_today),
    ("rule_unspaced_weekday", lambda match, said: _mention(match, DateKind.RECURRING)),
    ("rule_unspaced_day", _day_of_month),
    ("rule_quarter", _quarter),
    ("rule_month_alone", _month),
    ("rule_weekday", _weekday),
    ("rule_short_weekday", _short_weekday),
    ("rule_holiday", _day_of_month),
    ("rule_from_today", _from_today),
    ("rule_near_today", _from_today),
    ("rule_counted", _counted),
    ("rule_counted_from_now", lambda match, said: _mention(match, DateKind.RELATIVE)),
    ("rule_time", lambda match, said: _mention(match, DateKind.TIME)),
)
RULES = tuple(
    (_DATA.pattern(section, re.IGNORECASE, shaped=_with_names), read) for section, read in _READERS
)


READ = 20_000  # characters of a text that are searched
_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(rf"\d|{UNSPACED_TRIGGERS}")


def dates(text: str, said: date | None = None) -> list[DateMention]:
    """All mentions, left to right; none overlaps another. `said`: the day the text was said."""
    text = text[:READ]
    tokens = _WORD.findall(text.lower())
    if triggers().isdisjoint(tokens) and not _DIGIT.search(text):
        return []
    mentions: list[DateMention] = []
    for pattern, read in RULES:
        for match in pattern.finditer(text):
            if mention := read(match, said):
                mentions.append(mention)
    # Of two that overlap the earlier, then the longer.
    mentions.sort(key=lambda date_mention: (date_mention.start, -date_mention.end))
    kept: list[DateMention] = []
    for date_mention in mentions:
        if not kept or date_mention.start >= kept[-1].end:
            kept.append(date_mention)
    return kept


_SCHEDULE = WordFile("all", "memory_schedule")

LONGEST = 600  # characters of a sentence
_COUNTED = frozenset(
    {DateKind.WEEKDAY, DateKind.RELATIVE, DateKind.MONTH_DAY, DateKind.MONTH, DateKind.TIME}
)
_OWN_EVENT = _SCHEDULE.pattern("own_event", re.IGNORECASE)
_SET = _SCHEDULE.pattern("set", re.IGNORECASE)
_DEADLINE = _SCHEDULE.pattern("deadline", re.IGNORECASE)
_PLAN = _SCHEDULE.pattern("plan", re.IGNORECASE)
# What recurs in a calendar; "we deploy on Thursdays" is a fact about a team.
_HABIT = _SCHEDULE.pattern("habit", re.IGNORECASE)
_OVER = _SCHEDULE.pattern("over", re.IGNORECASE)
_MOVED = _SCHEDULE.pattern("moved", re.IGNORECASE)
_PAST = _SCHEDULE.pattern("past", re.IGNORECASE)
_RECKONED = lazily(r"\d\s?(?:mph|km/?h|kmh|m/s|knots)\b")  # trains in exercises
_NOW = _SCHEDULE.words("now")


def is_schedule(sentence: str, said: date | None = None) -> bool:
    """Return True if a sentence of the user tells of an appointment, a deadline, a plan or a habit
    of theirs with its date. `said`: the day it was said; without it, what counts from that day
    tells nothing and is left out."""
    text = sentence[:LONGEST]
    if _RECKONED.search(text):
        return False
    days = [day for day in dates(text, said) if not _PAST.search(text[day.start : day.end])]
    if said is None:
        days = [day for day in days if day.kind not in _COUNTED or day.kind is DateKind.MONTH_DAY]
    if not days or (_OVER.search(text) and not _MOVED.search(text)):
        return False
    if all(day.kind is DateKind.RECURRING for day in days):
        return bool(_HABIT.search(text) or _OWN_EVENT.search(text))
    if _OWN_EVENT.search(text) or _DEADLINE.search(text):
        return True
    dated = [day for day in days if day.kind is not DateKind.TIME]
    if not dated:
        return False
    # What is dated by "now" alone is a step of the session, more likely than an appointment.
    planned = _PLAN.search(text) is not None and not all(
        text[day.start : day.end].lower() in _NOW for day in dated
    )
    return planned or _SET.search(text) is not None


def with_day(text: str, said: date | None, days: Iterable[DateMention] | None = None) -> str:
    """The text, with the day it was said where its dates count from that. `days`: its dates, where
    they are known."""
    kinds = {day.kind for day in (dates(text, said) if days is None else days)}
    if kinds > {DateKind.TIME}:  # of a day that is named beside it
        kinds.remove(DateKind.TIME)
    if said is None or kinds.isdisjoint(_COUNTED):
        return text
    stop = "." if text.endswith(".") else ""
    return f"{text.removesuffix('.')} (said {said.isoformat()}){stop}"


_EVENTS = WordFile("en", "memory_events")

LONGEST_EVENT = 300  # characters of a sentence
_KINDS = frozenset(
    {DateKind.DAY, DateKind.MONTH_DAY, DateKind.MONTH, DateKind.WEEKDAY, DateKind.RELATIVE}
)
_HAPPENED = _EVENTS.pattern("happened", re.IGNORECASE)
_WORK = _EVENTS.pattern("work", re.IGNORECASE)
_TODAY = _EVENTS.words("today")


def is_event(sentence: str, said: date | None = None) -> bool:
    """Return True if a sentence tells something of the user's life with its day."""
    text = sentence[:LONGEST_EVENT]
    if not _HAPPENED.search(text) or _WORK.search(text):
        return False
    return any(
        mention.kind in _KINDS and text[mention.start : mention.end].lower() not in _TODAY
        for mention in dates(text, said)
    )

"""Find what a user's calendar would hold: appointments, deadlines, journeys, what recurs every
week.

Told by a date beside an event of the user's ("my dentist appointment is on March 15"), a plan ("I'm
moving to Lisbon in June") or a habit ("I have yoga every Tuesday"). What is over is no schedule.

Such a memory does not expire by itself. After its day it is still true that the exam was on March
15, and who asks "when was my exam?" must get an answer; newer memories rank above it. So the stored
text keeps the words, and where these count from the day they were said, that day stands behind
them: `with_day`.

    >>> from datetime import date
    >>> is_schedule("My flight is next Friday.", date(2026, 3, 2))
    True
    >>> with_day("User's flight is next Friday", date(2026, 3, 2))
    "User's flight is next Friday (said 2026-03-02)"

Find what happened in a user's life on a day that they name: "we went to Rome last summer".

A day makes it worth keeping: who tells when something was will ask when it was. What was done to
files, tests and servers has its days as well and is nobody's life, so words of work with a machine
speak against it.

    >>> is_event("I adopted a puppy last week.")
    True
    >>> is_event("I tried it yesterday and it failed.")
    False
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from memtree.language.word_file import WordFile, lazily
from memtree.statements.dates import DateKind, DateMention, dates

_DATA = WordFile("all", "memory_schedule")

LONGEST = 600  # characters of a sentence
_COUNTED = frozenset(
    {DateKind.WEEKDAY, DateKind.RELATIVE, DateKind.MONTH_DAY, DateKind.MONTH, DateKind.TIME}
)
_OWN_EVENT = _DATA.pattern("own_event", re.IGNORECASE)
_SET = _DATA.pattern("set", re.IGNORECASE)
_DEADLINE = _DATA.pattern("deadline", re.IGNORECASE)
_PLAN = _DATA.pattern("plan", re.IGNORECASE)
# What recurs in a calendar; "we deploy on Thursdays" is a fact about a team.
_HABIT = _DATA.pattern("habit", re.IGNORECASE)
_OVER = _DATA.pattern("over", re.IGNORECASE)
_MOVED = _DATA.pattern("moved", re.IGNORECASE)
_PAST = _DATA.pattern("past", re.IGNORECASE)
_RECKONED = lazily(r"\d\s?(?:mph|km/?h|kmh|m/s|knots)\b")  # trains in exercises
_NOW = _DATA.words("now")


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
    planned = _PLAN.search(text) is not None and not all(_is_now(text, day) for day in dated)
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


def _is_now(text: str, day: DateMention) -> bool:
    """A step of the session, more likely than an appointment."""
    return text[day.start : day.end].lower() in _NOW


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

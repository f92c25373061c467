"""Where a question about time has its evidence in sight: is the day of its session there as well?

It is there where a date of that day stands in the evidence's own message, or where the nearest line
above that has a date has that one, as a reader would take it: a label, a heading, a line of the
tree. Only what was posted and what is visible is read, with a reader of dates of its own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime

from benchmarks.data import Conversation
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, asked, evidence, open_subject, percent

TALKS = ("locomo", "realtalk")
SETTINGS = (("fresh", 4_000), ("fresh", 8_000), ("stable", 10_000))
GOAL = 95
TEMPORAL = "temporal"
Shown = tuple[tuple[str, int], list[bool]]
_HEAD = re.compile(r"\[([^\]\n]{8,40})\]\n")
_HEAD_FORMS = ("%I:%M %p on %d %B, %Y", "%d.%m.%Y, %H:%M:%S")
_MONTHS = "january february march april may june july august september october november december"
_NUMBERS = {name[:3]: number for number, name in enumerate(_MONTHS.split(), 1)}
_NAME = rf"(?P<month>{'|'.join(_NUMBERS)})[a-z]{{0,6}}"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"\b(?P<year>\d{4})-(?P<number>\d\d)-(?P<day>\d\d)\b",
        r"\b(?P<day>\d\d?)\.(?P<number>\d\d?)\.(?P<year>\d{4})\b",
        rf"\b(?P<day>\d\d?)(?:st|nd|rd|th)? (?:of )?{_NAME},? (?P<year>\d{{4}})\b",
        rf"\b{_NAME} (?P<day>\d\d?)(?:st|nd|rd|th)?,? (?P<year>\d{{4}})\b",
    )
)


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    broken: list[str] = []
    answers = 0
    for name in TALKS:
        async with open_subject(bench.keep, name) as subject:
            dated: dict[tuple[str, int], list[float]] = defaultdict(list)
            visible: dict[tuple[str, int], list[float]] = defaultdict(list)
            for talk in bench.data.talks(name):
                await subject.learn(talk.id, talk.messages)
                async for setting, shown in _shown(subject, talk):
                    visible[setting].append(float(bool(shown)))
                    if shown:
                        dated[setting].append(sum(shown) / len(shown))
        rows += [row for setting in SETTINGS for row in _rows(name, setting, dated, visible)]
        answers += subject.tally.answers
        broken += subject.tally.broken
    return [*rows, *promises(answers, len(broken))], broken


def _rows(
    name: str,
    setting: tuple[str, int],
    dated: dict[tuple[str, int], list[float]],
    visible: dict[tuple[str, int], list[float]],
) -> Iterator[Row]:
    mode, target = setting
    there = f"{name}, {mode} at {target}"
    yield Row(f"{there}: the day is told", percent(dated[setting]), "%", GOAL)
    yield Row(f"  {there}: evidence in sight", percent(visible[setting]), "%")


async def _shown(subject: Subject, talk: Conversation) -> AsyncIterator[Shown]:
    """Ask each question about time in each setting; for each text of its evidence that is visible
    tell whether its day is there."""
    days = session_days(talk)
    for probe in talk.probes:
        if probe.kind != TEMPORAL:
            continue
        for mode, target in SETTINGS:
            ask = replace(asked(talk.id, talk.messages, probe.question, target), mode=mode)
            reply = await subject.answer(ask, f"{talk.id}, {mode} at {target}, {probe.question!r}")
            seen = [text for text in evidence(probe) if text in reply.visible]
            told = [is_dated(reply.visible, text, days_of(text, talk, days)) for text in seen]
            yield (mode, target), told


def session_days(talk: Conversation) -> list[date]:
    """Return the day of each message: of the heading that its session's first message begins
    with."""
    days: list[date] = []
    for message in talk.messages:
        head = _HEAD.match(message.text)
        days.append(_head_day(head[1]) if head else days[-1])
    return days


def _head_day(text: str) -> date:
    for form in _HEAD_FORMS:
        with suppress(ValueError):
            return datetime.strptime(text, form).date()
    raise ValueError(f"no day is known of {text!r}")


def days_of(text: str, talk: Conversation, days: list[date]) -> set[date]:
    """Return the days on which it was said."""
    turn = f": {text}"
    pairs = zip(talk.messages, days, strict=True)
    return {day for message, day in pairs if turn in message.text}


def is_dated(visible: str, text: str, days: set[date]) -> bool:
    """Tell whether some place where a text is visible has one of these days."""
    at = visible.find(text)
    while at >= 0:
        if _dated_at(visible, at, at + len(text), days):
            return True
        at = visible.find(text, at + 1)
    return False


def _dated_at(visible: str, start: int, end: int, days: set[date]) -> bool:
    begin = visible.rfind("\n", 0, start) + 1
    if before := dates_in(visible[begin:start]):
        return not days.isdisjoint(before)
    if not days.isdisjoint(dates_in(visible[start:end])):
        return True
    for line in reversed(visible[:begin].split("\n")):
        if dates := dates_in(line):
            return not days.isdisjoint(dates)
    return False


def dates_in(line: str) -> set[date]:
    """Return the days that a line names with their years."""
    if not any(map(str.isdigit, line)):
        return set()
    found: set[date] = set()
    for form in _FORMS:
        for match in form.finditer(line):
            named = match.groupdict()
            month = int(named.get("number") or 0) or _NUMBERS[named["month"][:3].lower()]
            with suppress(ValueError):
                found.add(date(int(named["year"]), month, int(named["day"])))
    return found

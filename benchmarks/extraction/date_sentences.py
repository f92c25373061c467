"""Measure which dates are found in sentences written by hand (`cases/dates.txt`), and what is taken
for one. No outside data."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.statements.calendar_dates import DateMention, dates

CASES = Path(__file__).parents[1] / "cases" / "dates.txt"
SAID = date(2026, 3, 2)
RIGHT = 97.0  # percent
_MARK = re.compile(r"\[(.*?)(?:=(\d{4}-\d\d-\d\d))?\]")


class DateCase(NamedTuple):
    """`marked`: places of dates in `text`, each with its day, None where there is not exactly
    one."""

    text: str
    marked: tuple[tuple[int, int, date | None], ...]

    def right(self, found: list[DateMention]) -> bool:
        """Return True if each mark is found, with its day, and nothing outside of the marks is."""
        for start, end, day in self.marked:
            within = [one for one in found if one.start < end and start < one.end]
            days = {one.day for one in within if one.day}
            if not within or days != ({day} if day else set()):
                return False
        return all(
            any(start < one.end and one.start < end for start, end, _ in self.marked)
            for one in found
        )


def cases() -> list[DateCase]:
    lines = CASES.read_text("utf-8").splitlines()
    return [_case(line) for line in lines if line and not line.startswith("#")]


def _case(line: str) -> DateCase:
    text, marked, at = "", [], 0
    for match in _MARK.finditer(line):
        text += line[at : match.start()]
        day = date.fromisoformat(match[2]) if match[2] else None
        marked.append((len(text), len(text) + len(match[1]), day))
        text += match[1]
        at = match.end()
    return DateCase(text + line[at:], tuple(marked))


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows, wrong = [], []
    for name, wanted in (("with a date", True), ("without one", False)):
        those = [case for case in cases() if bool(case.marked) is wanted]
        missed = [case.text for case in those if not case.right(dates(case.text, SAID))]
        share = 100.0 * (1 - len(missed) / len(those))
        rows.append(Row(f"{len(those)} sentences {name}: right", share, "%", RIGHT))
        wrong += missed
    return rows, wrong

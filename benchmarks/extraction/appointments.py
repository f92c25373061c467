"""Measure which sentences written by hand (`cases/appointments.txt`) are taken for entries of a
calendar. No outside data."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.statements.calendar_dates import is_schedule

CASES = Path(__file__).parents[1] / "cases" / "appointments.txt"
SAID = date(2026, 3, 2)
RIGHT = 95.0  # percent


def cases() -> list[tuple[str, bool]]:
    """(sentence, whether it is one)."""
    lines = CASES.read_text("utf-8").splitlines()
    return [(line[2:], line[0] == "+") for line in lines if line[:2] in ("+ ", "- ")]


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows, wrong = [], []
    for name, wanted in (("entries of a calendar", True), ("other sentences", False)):
        those = [text for text, calendar in cases() if calendar is wanted]
        missed = [text for text in those if is_schedule(text, SAID) is not wanted]
        share = 100.0 * (1 - len(missed) / len(those))
        rows.append(Row(f"{len(those)} {name}: right", share, "%", RIGHT))
        wrong += missed
    return rows, wrong

from __future__ import annotations

from datetime import date

import pytest

from benchmarks.extraction.date_sentences import SAID, cases
from memtree.text.statements.dates import READ, DateKind, dates

RIGHT = 0.97  # of sentences written before the rules were seen on them: all but one or two


@pytest.mark.parametrize("dated", [True, False])
def test_dates_are_found_in_sentences_of_seven_languages_and_nowhere_else(dated):
    those = [case for case in cases() if bool(case.marked) is dated]
    wrong = [case.text for case in those if not case.right(dates(case.text, SAID))]
    assert len(those) >= 120
    assert len(wrong) <= (1 - RIGHT) * len(those), wrong


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("2026-03-15", DateKind.DAY),
        ("March 15", DateKind.MONTH_DAY),
        ("in March", DateKind.MONTH),
        ("on Friday", DateKind.WEEKDAY),
        ("in 3 weeks", DateKind.RELATIVE),
        ("every Friday", DateKind.RECURRING),
        ("at 5:30 pm", DateKind.TIME),
    ],
)
def test_kinds_and_places(text, kind):
    (found,) = dates(f"It is {text}, he said.")
    assert found.kind is kind
    assert (found.start, found.end) == (6, 6 + len(text))


def test_what_is_counted_from_a_day_has_none_where_that_is_not_known():
    assert [one.day for one in dates("tomorrow and in 3 days")] == [None, None]
    days = [one.day for one in dates("tomorrow and in 3 days", date(2024, 2, 28))]
    assert days == [date(2024, 2, 29), date(2024, 3, 2)]


def test_no_day_is_made_up():
    assert dates("2026-02-30 and February 30 and 31.02.2026 and 13/13/2026") == []
    (leap,) = dates("February 29")
    assert leap.day is None
    assert [one.day for one in dates("February 29, 2025")] == []
    assert [one.day for one in dates("tomorrow", date.max)] == [None]


@pytest.mark.slow
def test_a_long_text_is_read_as_far_as_sentences_go():
    assert len(dates("on Friday. " * READ)) == READ // len("on Friday. ")

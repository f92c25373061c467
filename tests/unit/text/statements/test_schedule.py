from __future__ import annotations

from datetime import date

import pytest

from benchmarks.extraction.appointments import SAID, cases
from memtree.text.statements.schedule import is_schedule, with_day


@pytest.mark.parametrize("wanted", [True, False])
def test_a_calendars_entries_and_other_sentences_with_dates(wanted):
    those = [text for text, calendar in cases() if calendar is wanted]
    wrong = [text for text in those if is_schedule(text, SAID) is not wanted]
    assert len(those) >= 60
    assert not wrong


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("User's flight is next Friday", "User's flight is next Friday (said 2026-03-02)"),
        ("User has an interview tomorrow.", "User has an interview tomorrow (said 2026-03-02)."),
        ("The exam is on March 15", "The exam is on March 15 (said 2026-03-02)"),
        ("The exam is at 5 pm", "The exam is at 5 pm (said 2026-03-02)"),
        ("The exam is on March 15, 2027", "The exam is on March 15, 2027"),
        ("The exam is on May 3, 2024, at 7:45 PM", "The exam is on May 3, 2024, at 7:45 PM"),
        ("User has yoga every Tuesday at 5 pm", "User has yoga every Tuesday at 5 pm"),
        ("User likes tea", "User likes tea"),
    ],
)
def test_what_counts_from_the_day_it_was_said_is_kept_with_that_day(text, shown):
    assert with_day(text, SAID) == shown
    assert with_day(text, None) == text


def test_without_the_day_it_was_said_a_relative_date_tells_nothing():
    assert not is_schedule("I have an interview tomorrow.")
    assert is_schedule("I have an interview on 2026-03-15.")
    assert is_schedule("I have an interview on March 15.")
    assert is_schedule("I have yoga every Tuesday.")


def test_a_date_decides():
    assert is_schedule("My flight is on Friday.", date(2026, 3, 2))
    assert not is_schedule("My flight is delayed.", date(2026, 3, 2))

"""Check whether a day stands where somebody who reads the evidence finds it."""

from __future__ import annotations

from datetime import date

import pytest

from benchmarks.data import Conversation
from benchmarks.recall.dates import dates_in, days_of, is_dated, session_days
from memtree.conversation.message import Message

DAY = date(2023, 5, 8)
TALK = Conversation(
    "talk",
    tuple(
        Message.of({"role": "user", "content": content})
        for content in (
            "[1:56 pm on 8 May, 2023]\nAda: hello",
            "Bob: hi there",
            "[09.05.2023, 00:51:12]\nAda: hello",
        )
    ),
)


@pytest.mark.parametrize(
    "line", ["2023-05-08", "on 8 May, 2023", "May 8th, 2023", "08.05.2023, 13:56", "8 may 2023 -"]
)
def test_a_day_of_a_line(line):
    assert dates_in(line) == {DAY}


@pytest.mark.parametrize("line", ["may", "8 May", "2.10.12", "2023-13-08", "12023-05-08", ""])
def test_a_line_without_one(line):
    assert dates_in(line) == set()


@pytest.mark.parametrize(
    ("visible", "dated"),
    [
        ("[8 May 2023]\nAda: hello", True),
        ("[3 user, 8 May 2023] Ada: hello", True),
        ("[8 May 2023]\nBob: yes\nAda: hello", True),
        ("[8 May 2023]\n[9 May 2023]\nAda: hello", False),
        ("[8 May 2023]\n[3 user, 9 May 2023] Ada: hello", False),
        ("Ada: hello\n[8 May 2023]", False),
        ("[9 May 2023]\nAda: hello\n[8 May 2023]\nAda: hello", True),
        ("[8 May]\nAda: hello", False),
    ],
)
def test_where_a_day_is_told(visible, dated):
    assert is_dated(visible, "hello", {DAY}) is dated


def test_days_of_sessions():
    days = session_days(TALK)
    assert days == [DAY, DAY, date(2023, 5, 9)]
    assert days_of("hi there", TALK, days) == {DAY}
    assert days_of("hello", TALK, days) == {DAY, date(2023, 5, 9)}

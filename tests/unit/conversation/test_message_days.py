"""The day of each message: how long it holds, and which order day and month have."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.conversation.history import read
from memtree.conversation.message import Message, Volatile
from memtree.conversation.message_days import day_text, message_days
from memtree.text import tokens


def days(*texts, roles="ua"):
    names = {"u": "user", "a": "assistant"}
    posted = [
        Message.of({"role": names[roles[at % len(roles)]], "content": text})
        for at, text in enumerate(texts)
    ]
    return [
        date.fromordinal(day).isoformat() if day else ""
        for day in message_days(read("t", posted, Volatile()))
    ]


def test_a_day_holds_until_the_next():
    assert days("hi", "[8 May 2023]\nAda: a", "b", "2023-05-09\nc", "d") == [
        "", "2023-05-08", "2023-05-08", "2023-05-08", "2023-05-08",
    ]  # fmt: skip
    assert days("[8 May 2023]\na", "b", "2023-05-09\nc", "d")[2:] == ["2023-05-09"] * 2


def test_a_loose_day_neither_runs_back_nor_far_ahead():
    told = days("[8 May 2023]\na", "b", "2022-05-08\nc", "d", "2025-05-08\ne", "f", "2023-06-01: g")
    assert told == ["2023-05-08"] * 6 + ["2023-06-01"]


def test_two_loose_days_far_ahead_are_believed():
    told = days("[8 May 2023]\na", "b", "2025-05-08\nc", "d", "2025-05-08\ne", "f", "2025-05-09\ng")
    assert told == ["2023-05-08"] * 6 + ["2025-05-09"]


def test_a_loose_day_of_long_ago_is_told_about():
    assert days("8 May 1945: the end", "a") == ["", ""]
    assert days("[8 May 1945]\nAda: the end") == ["1945-05-08"]


def test_a_heading_may_run_back():
    assert days("[8 May 2023]\na", "[7 May 2020]\nb") == ["2023-05-08", "2020-05-07"]


@pytest.mark.parametrize(
    ("stamps", "wanted"),
    [
        (["08/05/2024, 13:56", "09/05/2024, 9:12"], ["2024-05-08", "2024-05-09"]),
        (["5/8/24, 1:56 PM", "5/9/24, 9:12 AM"], ["2024-05-08", "2024-05-09"]),
        (["08.05.24, 13:56", "09.05.24, 9:12"], ["2024-05-08", "2024-05-09"]),
        (["31/12/2023, 1:56 PM", "01/02/2024, 9:12 AM"], ["2023-12-31", "2024-02-01"]),
        (["12/31/2023, 13:56", "01/02/2024, 9:12"], ["2023-12-31", "2024-01-02"]),
        (["02/02/2024, 13:56", "2/3/2024, 9:12 AM"], ["2024-02-02", "2024-02-03"]),
    ],
)
def test_the_order_of_day_and_month(stamps, wanted):
    assert days(*(f"[{stamp}] Ada: hello" for stamp in stamps)) == wanted
    if not stamps[1].startswith("2/3"):
        assert days(*(f"{stamp} - Ada: hello" for stamp in stamps)) == wanted


def test_an_order_that_nothing_shows_gives_no_day():
    assert days("[8 May 2023]\na", "[05/06/2023]\nb", "c") == ["2023-05-08", "", ""]


def test_a_year_that_is_known():
    assert days("[8 May]\na", "[20 December 2023]\nb", "[24 December]\nc", "[3 January]\nd") == [
        "", "2023-12-20", "2023-12-24", "2024-01-03",
    ]  # fmt: skip


def test_a_reminder_before_the_first_answer_tells_when_the_session_was_taken_up():
    today = "<system-reminder>\nToday's date is {}.\n</system-reminder>"
    told = days(today.format("2023-05-09"), "a", today.format("2023-05-10"), "b")
    assert told == ["", "", "2023-05-10", "2023-05-10"]


def test_a_day_is_written_in_the_fewest_tokens():
    for ahead in range(0, 40_000, 173):
        day = date(1990, 1, 1) + timedelta(ahead)
        written = day_text(day.toordinal())
        assert tokens.count(written) < tokens.count(day.isoformat())


DAYS = st.dates(date(1971, 1, 1), date(2099, 12, 31))
HEADS = st.one_of(
    st.builds("[1:56 pm on {0.day} {0:%B}, {0.year}]\nAda: hello".format, DAYS),
    st.builds("[{0:%d/%m/%Y}, 13:56] Ada: hello".format, DAYS),
    st.builds("{0:%m/%d/%y}, 1:56 PM - Ada: hello".format, DAYS),
    st.builds("{0}\nhello".format, DAYS),
    st.builds("[{0.day} {0:%B}]\nhello".format, DAYS),
    st.text(max_size=30),
)


@given(st.lists(st.text(st.characters(exclude_categories=["Nd", "Cs"]), max_size=60), max_size=6))
def test_without_a_digit_there_is_no_day(texts):
    assert not any(days(*texts))


@given(st.lists(HEADS, max_size=12), st.integers(0, 12))
def test_days_stay_when_messages_are_added(texts, size):
    assert days(*texts[:size]) == days(*texts)[:size]


@given(DAYS)
def test_a_written_day_is_read_again(day):
    assert days(f"--- {day_text(day.toordinal())} ---") == [day.isoformat()]

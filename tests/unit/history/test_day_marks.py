"""The day that a message says of itself, lines that name a day, and who speaks."""

from __future__ import annotations

from datetime import date

import pytest

from memtree.history.chat_history import describe
from memtree.history.day_marks import DayLine, MarkSource, day_line, day_mark, first_day
from memtree.history.message import HEAD as LONGEST_HEAD
from memtree.history.message import Message, Volatile

# ------------------------------------------------------------------------------------------------
# The day that a message says of itself, and the dates that are none.


MAY = date(2023, 5, 8).toordinal()
HEAD, LOOSE, REMINDER = MarkSource.HEAD, MarkSource.LOOSE, MarkSource.REMINDER


def mark(text, role="user", **fields):
    return day_mark(Message.of({"role": role, "content": text, **fields}), Volatile())


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize(
    "text",
    [
        "[1:56 pm on 8 May, 2023]\nAda: hello", "Session 3 (2023-05-08)\nAda: hello",
        "\n--- 8 May 2023 ---\n\nhello", "=== 2023-05-08 ===", "Session 3\n[8 May 2023]\nAda: hi",
        "# aider chat started at 2023-05-08 11:46:29\n\nhello", "[2023-05-08 13:56] Ada: hello",
        "2023-05-08 13:56 - Ada: hello", "2023-05-08, 13:56 - +49 170 1234: hello",
        "Ada (2023-05-08 10:02): hello", "**Ada** [13:56, 8 May 2023]\nhello",
        "[8. Mai 2023, 13:56] Jörg: hallo", "[2023年5月8日 13:56] 田中: こんにちは",
        "[2023-05-08 13:56] <ada> hello: it is me", "[8 de mayo de 2023 13:56] Íñigo: hola",
        "[2023-05-08 13:56] Ada: error in my code",
        "[2023. 5. 8. 13:56] Ада: привет",
    ],
)  # fmt: skip
def test_a_heading_or_stamp(text, role):
    found = mark(text, role)
    assert (found.written.ordinal, found.source) == (MAY, HEAD)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("## 2023-05-08\nhello", HEAD), ("Date: 8 May 2023\nhello", LOOSE),
        ("Today's date: 2023-05-08\nhello", HEAD), ("Today is Monday, 8 May 2023.", HEAD),
        ("2023-05-08\nhello", LOOSE), ("2023-05-08: met Ada", LOOSE), ("2023-05-08 - met Ada",
        LOOSE),
        ("[2023-05-08 13:56] hello there", LOOSE), ("8 May 2023\nhello", LOOSE),
        ("Diary, 8 May 2023\nhello", LOOSE), ("[2023-05-08 13:56] ada: hello", LOOSE),
        ("[Mon 2023-05-08 13:56 UTC] hello there", LOOSE),
    ],
)  # fmt: skip
def test_what_a_user_alone_writes_about_the_day(text, source):
    found = mark(text)
    assert (found.written.ordinal, found.source) == (MAY, source)
    assert mark(text, "assistant") is None


@pytest.mark.parametrize(
    "text",
    [
        # Talk about days, and what looks like one.
        "2023-05-08 is the deadline", "2023-05-08: is that a Monday?", "8 May 2023",
        "on 8 May 2023.",
        "May I go?", "Sat down at 8", "2.10.12 is out", "[2.10.12] is out",
        "[3] on 2023-05-08 he said",
        "# Release 2023-05-08\n- a", "## [1.2.0] - 2023-05-08\n- a", "Date: 8 May 2023",
        "- 8 May 2023\n- 9 May 2023", "8-9 May 2023\nhello", "Meeting (2023-05-08): notes",
        "$8.05.23", "Version 2023.05.08\nhello", "[x] 2023-05-08", "12:30: lunch",
        "20230508\nhello",
        "---\ndate: 2023-05-08\n---\nhello", "2023-05-08\n2023-05-09", "8 May 2023\n9 May 2023\n",
        # Quoted or pasted.
        "> [8 May 2023]\n> Ada: hello", "```\n[8 May 2023]\n```", '"[8 May 2023]"\nhello',
        "Date: Mon, 8 May 2023 10:00:00 +0200\nFrom: a@b.example\n\nhello",
        "From: a@b.example\nDate: 8 May 2023\n\nhello",
        "commit 1f3a\nDate: Mon May 8 13:56:01 2023",
        "2023-05-08 13:56:01,123 ERROR no such file", "[2023-05-08 13:56:01] app.ERROR: no file",
        "2023-05-08T13:56:01Z web[12]: started", "2023-05-08 13:56:01 INFO a: b",
        "[2023-05-08 13:56] [main] started", "2023-05-08 13:56:01 - WARNING: low\n2023-05-08",
        "[2023-05-08 13:56:01] proxy: worker started", "[2023-05-08T13:56:01Z] GET /a 200",
        "[May 8] fix: typo", "1/2/2023: 4 hours\n1/3/2023: 5 hours", "a 8.5.2023 – 10.5.2023",
        "2023-05-08,12.5,3\n2023-05-09,13,4", "--- a/x 2023-05-08 10:00\n+++ b/x",
        "127.0.0.1 - - [08/May/2023:13:56:01 +0000] GET /", "BERLIN, May 8, 2023 - We are proud",
        "2023-05-08 - a\n2023-05-09 - b", "[2023-05-08 1:00] start\n[2023-05-08 2:00] stop",
        '{"date": "2023-05-08"}', "See [8 May 2023]", "hello\n[8 May 2023]\nAda: hello",
        "1. 8 May 2023\n2. 9 May 2023", "| 2023-05-08 | 3 |\n| 2023-05-09 | 4 |",
        # Other languages.
        "El 8 de mayo de 2023 es lunes", "Am 8. Mai 2023 war ich da", "Le 8 mai 2023, on part",
        "Em 8 de maio de 2023 saí", "L'8 maggio 2023 parto", "Op 8 mei 2023 ga ik", "5月8日に行く",
        "Mars 2023 var kall", "8 maja 2023 r. byłem", "8 мая 2023 года", "8 Mayıs 2023'te",
        "٨ مايو ٢٠٢٣",
    ],
)  # fmt: skip
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_what_is_no_day_of_the_message(text, role):
    assert mark(text, role) is None


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_speaker_behind_a_day_without_a_clock(role):
    assert mark("[8 May 2023] Sam: hello", role).source is LOOSE
    assert mark("[8 May 2023] fix: hello", "assistant") is None


def test_nothing_behind_the_head_is_read():
    assert mark("a " * 200 + "\n[8 May 2023]\nAda: hello") is None
    assert mark("[8 May 2023]\n" + "a" * 1_000).written.ordinal == MAY
    assert mark("-" * 190 + " 8 May 2023 and more") is None


def test_the_last_of_several_headings_counts():
    text = (
        "# team chat started at 2023-05-07 10:00\n\n# team chat started at 2023-05-08 09:00\n\nhi"
    )
    assert mark(text).written.ordinal == MAY


def test_a_heading_stays_whatever_day_is_below_it():
    assert mark("[8 May 2023]\n2019-03-04\nhello").source is HEAD
    assert mark("[8 May 2023]\n2019-03-04\nhello").written.ordinal == MAY


@pytest.mark.parametrize(
    "fields",
    [
        {"timestamp": "2023-05-08T23:30:00-05:00"}, {"created_at": 1683554160},
        {"createdAt": 1683554160000}, {"ts": "1683554160.000100"},
        {"metadata": {"date": "2023-05-08"}},
        {"timestamp": "8 May 2023"}, {"timestamp": "", "time": "2023-05-08"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_field_with_a_time(fields, role):
    found = mark("[8 June 2020]\nhello", role, **fields)
    assert (found.written.ordinal, found.source) == (MAY, HEAD)


@pytest.mark.parametrize(
    "value", [True, 12, -1, 1e300, 1e14, [], {}, "soon", "05/08/2023", "12345678901234", None]
)
def test_a_field_that_tells_no_time(value):
    assert mark("hello", timestamp=value) is None


def test_the_result_of_a_tool_has_no_day_but_in_a_field():
    text = "[1:56 pm on 8 May, 2023]\nAda: hello"
    assert mark(text, "tool", tool_call_id="a") is None
    assert mark(text, "tool", tool_call_id="a", timestamp=1683554160).written.ordinal == MAY


@pytest.mark.parametrize(
    ("block", "source"),
    [
        ("<system-reminder>\nToday's date is 2023-05-08.\n</system-reminder>", REMINDER),
        ("<environment_context>\n<current_date>2023-05-08</current_date>\n</environment_context>",
        HEAD),
        ("<environment_details>\n# Current Time\n5/8/2023, 3:04 PM\n</environment_details>", HEAD),
        ("<env>\nPlatform: x\nToday's date: Mon May 8 2023\n</env>", HEAD),
    ],
)  # fmt: skip
def test_today_in_a_block_of_a_client(block, source):
    for text in (f"{block}\nhello", f"hello\n{block}", [{"type": "text", "text": block}]):
        found = mark(text)
        assert (found.written.year, found.source) == (2023, source)
        assert mark(text, "assistant") is None


def test_today_outside_of_a_block_is_what_somebody_says():
    assert mark("What is it?\nToday's date is 2023-05-08.</b>") is None
    rules = "<INSTRUCTIONS>\nToday's date: 2023-05-08\n</INSTRUCTIONS>"
    assert mark(f"# AGENTS.md instructions for /p\n\n{rules}") is None
    assert mark("<system-reminder>\nDate: 2023-05-08\n</system-reminder>") is None
    assert mark("<system-reminder>We met on that date, 2023-05-08.</system-reminder>") is None


# ------------------------------------------------------------------------------------------------
# Lines that name a day and nothing else.


@pytest.mark.parametrize(
    "line",
    [
        "[1:56 pm on 8 May, 2023]", "Session 3 (2023-05-08)", "--- 8 May 2023 ---", "## 2023-05-08",
        "# aider chat started at 2023-05-08 11:46:29", "Today's date: Mon May 8 2023",
        "Montag, 8. Mai 2023 um 13:56 Uhr", "lunes, 8 de mayo de 2023", "lundi 8 mai 2023 à 13h56",
        "segunda-feira, 8 de maio de 2023", "lunedì 8 maggio 2023 alle 13:56",
        "2023年5月8日 星期一",
        "maandag 8 mei 2023 om 13.56 uur", "2023년 5월 8일 월요일 오후 1:56",
        "2023-05-08T13:56:01.5Z",
        "Monday, 8 May 2023, 1:56:04 p.m. GMT+2", "Sitzung Nr. 4 - 8. Mai 2023",
        "Chat: 08.05.23, 13:56",
    ],
)  # fmt: skip
def test_a_line_of_a_day(line):
    assert day_line(line).written.ordinal == MAY


@pytest.mark.parametrize(
    "line",
    [
        "Lunch on 8 May 2023", "8 May 2023, 9 May 2023", "8 - 9 May 2023", "# Release 2023-05-08",
        "## [1.2.0] - 2023-05-08", "2023-05-08 13:56 Ada: hello", "8 May 2023 was great",
        "Total 12 (2023-05-08)", "Ada's chat with Bob, 8 May 2023",
    ],
)  # fmt: skip
def test_a_line_that_says_more(line):
    assert day_line(line) is None


@pytest.mark.parametrize("line", ["# 2.10.12", "[10/10/12]", "Session 3", "[13:56]", "---"])
def test_a_line_that_goes_with_a_day_and_names_none(line):
    assert day_line(line).written is None


def test_what_a_line_tells_beside_its_day():
    assert day_line("Session 3: 05/08/23, 1:56 PM") == DayLine(
        day_line("05/08/23, 1:56 PM").written, clock=12, session=True
    )
    assert day_line("5/8/23, 3:04 PM (UTC, UTC+0:00)").clock == 12
    assert day_line("Today is 8 May 2023").today
    assert day_line("Datum: 8. Mai 2023").labelled


@pytest.mark.parametrize("name", ["Ada", "Sam", "Dom", "Di"])
def test_the_name_behind_a_stamp_is_no_part_of_it(name):
    line = f"2023-05-08 13:56 {name}: hello"
    read, end = first_day(line)
    assert read.written.ordinal == MAY
    assert line[end:].strip().startswith(name)


# ------------------------------------------------------------------------------------------------
# Who speaks in a message.


@pytest.mark.parametrize(
    ("fields", "spoken"),
    [
        ({"role": "user", "content": "Ada: Hello"}, ("ada", True)),
        ({"role": "user", "content": "Hello", "name": "Bo"}, ("bo", False)),
        ({"role": "user", "content": "<system-reminder>x</system-reminder>Ada: Hi"}, ("ada", True)),
        ({"role": "assistant", "content": [{"type": "text", "text": "Kim: Yes"}]}, ("kim", True)),
        ({"role": "assistant", "content": "<think>Who?</think>Kim: Yes"}, ("kim", True)),
        ({"role": "assistant", "content": "\x1b[1mKim\x1b[0m: Yes"}, ("kim", True)),
        ({"role": "assistant", "content": None, "tool_calls": []}, ("", False)),
        ({"role": "tool", "tool_call_id": "1", "content": "Error: none"}, ("", False)),
        ({"role": "user", "content": "Hello Ada"}, ("", False)),
    ],
)
def test_who_speaks_is_among_the_facts(fields, spoken):
    assert describe(Message.of(fields), Volatile()).spoken == spoken


@pytest.mark.parametrize(
    "text", ["", "Monday, 3 May 2026\nHi", "<think>a</think>Hi", "\x1b[1mbold\x1b[0m", "x" * 500]
)
def test_the_head_of_what_an_assistant_says_begins_its_view(text):
    message = Message.of({"role": "assistant", "content": text})
    head = message.head(Volatile())
    assert message.view(Volatile()).text.startswith(head)
    assert len(head) == min(len(message.view(Volatile()).text), LONGEST_HEAD)

"""Lines that name a day and nothing else."""

from datetime import date

import pytest

from memtree.conversation.day_marks import DayLine, day_line, first_day

MAY = date(2023, 5, 8).toordinal()


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

"""Days as they are written in headings and stamps."""

from datetime import date

import pytest

from memtree.language.written_days import ordinal, written_day

MAY = date(2023, 5, 8)


@pytest.mark.parametrize(
    "text",
    [
        "2023-05-08", "2023/05/08", "2023.5.8", "8 May, 2023", "8 may 2023", "May 8, 2023",
        "May 8th 2023", "8th of May 2023", "8-May-2023", "May-08-2023", "8. Mai 2023",
        "8 de mayo de 2023", "8 mai 2023", "8 de maio de 2023", "8 maggio 2023", "8 mei 2023",
        "8 mag 2023", "2023年5月8日", "2023년 5월 8일", "May 8 13:56:01 UTC 2023",
    ],
)  # fmt: skip
def test_a_day_with_its_year(text):
    found, end = written_day(text)
    assert (found.ordinal, end) == (MAY.toordinal(), len(text))


@pytest.mark.parametrize("text", ["8 May", "May 8", "8. Mai", "5月8日", "29 February"])
def test_a_day_without_its_year(text):
    found, _ = written_day(text)
    assert found.year == found.ordinal == 0
    assert found.day


@pytest.mark.parametrize(
    "text",
    [
        "2.10.12.1", "10.12.20.24", "2023-13-01", "2023-02-30", "30 February", "31/13/2023", "may",
        "May 2023", "sat", "$12.50", "3 out", "1 set", "v2.1", "1200", "", "May 8:30", "20230508",
    ],
)  # fmt: skip
def test_what_is_no_day(text):
    assert written_day(text) is None


def test_numbers_that_may_be_exchanged_keep_their_sign():
    found, _ = written_day("12/31/23")
    assert (found.sign, found.short_year, found.ordinal) == ("/", True, 0)
    assert ordinal(found.year, found.day, found.month) == date(2023, 12, 31).toordinal()


def test_it_is_read_at_its_place_alone():
    assert written_day("on 8 May 2023") is None
    assert written_day("on 8 May 2023", 3)[1] == 13

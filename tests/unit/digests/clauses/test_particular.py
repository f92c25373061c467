"""Summary lines that say something of their range."""

from __future__ import annotations

import pytest

from memtree.digests.clauses.particular import particular


@pytest.mark.parametrize(
    "line",
    [
        "Mara: I guess",
        "Mara: Who knows",
        "Its weird",
        "Mara: lol idk tbh",
        "Mara: I'll let you know (Mara)"[:26],
        "each image",
        "the latter will not be called",
        "mean its not that big of a deal",
        "output lines 18-53",
        "Mara: Dont think so; Jon: Yeah me neither",
        "Jan: naja, weiß ich auch nicht",
        "嗯，我也不知道",
        "...",
        "",
    ],
)
def test_what_could_stand_anywhere_is_not_particular(line):
    assert not particular(line)


@pytest.mark.parametrize(
    "line",
    [
        "Mara: My rabbit bit the vet",
        "Mara: I have to be there at 4",
        "Jon: I love LA",
        "rename parse_row",
        "KeyError: 'x'",
        "output lines 18-53: tokenizer",
        "Jan: Der Mietvertrag läuft aus",
        "我们搬到杭州去了",
        "Its the gym (Ida)",
    ],
)
def test_a_name_number_identifier_or_content_word_is(line):
    assert particular(line)


def test_a_word_that_many_siblings_hold_tells_nothing():
    siblings = ["run the tests", "tests again", "fix the tests (conftest.py)", "more tests"]
    assert not particular("the tests", ("tests",), siblings)
    assert particular("the tests of the parser", ("tests",), siblings)


def test_a_name_in_every_line_is_no_mark_of_one():
    siblings = [f"Jon: I walked the dog {day} (Mara)" for day in range(4)]
    assert not particular("Jon: I think so too (Mara)", ("Mara",), siblings)

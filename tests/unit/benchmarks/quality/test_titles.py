"""Check what can be said of a title by rule."""

from __future__ import annotations

import pytest

from benchmarks.quality.titles import content_words, is_list_of_paths, rows


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Move the ferry timetable to June", 4),
        ("src/app.py, src/tide.py", 0),
        ("it is what it is", 0),
        ("订单系统的备份", 2),
    ],
)
def test_words_that_mean_something(title, words):
    assert content_words(title) == words


def test_a_list_of_paths_is_no_title():
    assert is_list_of_paths("src/app.py, tide.py; moon.py")
    assert not is_list_of_paths("Rewrite src/app.py and tide.py for the new harbour")


def test_shares_of_titles():
    titles = ["Ferry timetable", "ferry timetable", "Paint the blue boat", "x" * 70]
    figures = {row.name: row.figure for row in rows(titles)}
    assert figures["titles that are distinct"] == 50
    assert figures["of at most 60 characters"] == 75
    assert figures["with two content words"] == 75

"""Numbers and names of a summary that its text has not, and the same ones in other forms."""

from __future__ import annotations

import pytest

from memtree.summaries.numbers import invented_anchors, invented_numbers, plain


@pytest.mark.parametrize(
    ("draft", "text"),
    [
        ("1000 rows", "1,000 rows"),
        ("1.000 Zeilen", "1000 Zeilen"),
        ("12,500 jobs", "12.5k jobs"),
        ("12.4k jobs", "12,400 jobs"),
        ("2M users", "2000000 users"),
        ("3 workers", "three workers"),
        ("three workers", "3 workers"),
        ("3 Wochen", "drei Wochen"),
        ("8 岁", "八岁"),
        ("8 May 2023", "2023-05-08"),
        ("on 2023-05-08", "on 8 May 2023"),
        ("14 March", "3/14"),
        ("at 17:00 and 5", "at 17:00, 5 of them"),
        ("version 3.5", "version 3.5.1"),
        ("2.50 euros", "2.5 euros"),
        ("05 items", "5 items"),
        ("４ workers", "4 workers"),
        ("٣ workers", "3 workers"),
    ],
)
def test_the_same_number_in_another_form(draft, text):
    assert list(invented_numbers(draft, text)) == []


@pytest.mark.parametrize(
    ("draft", "text", "what"),
    [
        ("13 rows", "12 rows", "new: 13"),
        ("13k rows", "12k rows", "new: 13"),
        ("3.6", "3.5.1", "new: 3.6"),
        ("10:30 K", "nothing", "new: 10:30"),
        ("2024-05-09", "8 May 2024", "new: 2024-05-09"),
        ("4 files in 7 folders", "7 files in 4 folders", "another thing: 4 file"),
        ("9" * 500 + "k", "1k", "new: 9"),
    ],
)
def test_a_number_that_is_new(draft, text, what):
    assert what in next(invented_numbers(draft, text))


@pytest.mark.parametrize(
    "draft",
    [
        "load.py fixed",
        "src/load.py",
        "SRC/Load.py",
        "KeyError",
        "the Swedish office",
        "Anna's plan",
    ],
)
def test_what_the_text_has(draft):
    text = "In src/load.py anna saw a KeyError; the office in Sweden waits."
    assert list(invented_anchors(draft, text)) == []


@pytest.mark.parametrize(
    "draft",
    ["It is in src/save.py.", "A ValueError came.", "They asked Bertram.", "parse_rows fails",
     "write to a@corp.example", "run it with --force-all"],
)  # fmt: skip
def test_what_it_has_not(draft):
    text = "In src/load.py anna saw a KeyError; the office in Sweden waits."
    assert list(invented_anchors(draft, text))


def test_wide_forms_are_the_usual_ones():
    assert plain("ＡＢ １２ ٣") == "AB 12 3"

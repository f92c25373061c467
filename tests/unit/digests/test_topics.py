"""Topics and the line for a whole conversation: short, whole words, no text of their own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.digests.summarize import Extract
from memtree.digests.topics import ROOT, TOPIC, root_summary, topic
from memtree.language.borders import units
from memtree.text import tokens


def summary(headline, *anchors):
    return Extract(headline, headline, anchors)


@pytest.mark.parametrize(
    ("headline", "anchors", "short"),
    [
        (
            "make the importer skip rows without a price -> 1 failed, 13 passed",
            ("importer",),
            "make the importer skip rows without a price",
        ),
        ("(empty)", ("src/app.py", "KeyError"), "src/app.py, KeyError"),
        ("what about it", (), ""),
        ("Мы решили перенести запуск на 12 июня", ("12 июня",), "перенести запуск на 12 июня"),
    ],
)
def test_a_topic_is_what_tells_a_summary_from_others(headline, anchors, short):
    if headline == "(empty)":
        headline = ""
    assert topic(summary(headline, *anchors)) == short


LINES = st.text(st.characters(categories=("L", "N", "P", "Zs")), max_size=80)


@pytest.mark.slow
@given(LINES, st.lists(st.text(max_size=20), max_size=3))
def test_a_topic_is_short_and_made_of_whole_words(headline, anchors):
    found = topic(summary(headline, *anchors))
    assert tokens.count(found) <= TOPIC
    # Phrases of scripts without spaces are joined without one, whatever stands between them.
    known = (headline, "".join(units(headline)), *anchors)
    assert all(any(word.strip(",") in text for text in known) for word in units(found))


def test_a_conversation_is_told_by_its_themes_its_parts_and_its_end():
    tops = [
        summary("add retries to the gateway -> tests pass", "gateway", "retries.py"),
        summary("Gateway logs too much", "gateway", "logging"),
        summary("release 2.1 of the gateway -> published", "gateway", "2.1"),
    ]
    line = root_summary(tops)
    assert line.startswith("add retries to the gateway; ")
    assert "retries" in line
    assert "last release 2.1" in line
    assert tokens.count(line) <= ROOT


def test_a_conversation_of_many_parts_stays_one_short_line():
    tops = [
        summary(f"work on part{number} of the engine", "engine", f"part{number}")
        for number in range(60)
    ]
    line = root_summary(tops)
    assert "part0" in line
    assert "part59" in line
    assert tokens.count(line) <= ROOT
    assert root_summary(tops[:1]) == "work on part0 of the engine"
    assert root_summary([]) == ""


def test_a_conversation_with_a_title_begins_with_it():
    tops = [
        summary("add retries to the gateway -> tests pass", "gateway", "retries.py"),
        summary("the release notes are missing", "release"),
    ]
    line = root_summary(tops, "Harden the gateway against timeouts")
    assert line.startswith("Harden the gateway against timeouts; add retries to the gateway")
    assert root_summary(tops[:1], "Add retries to the gateway") == "Add retries to the gateway"
    assert tokens.count(root_summary(tops * 9, "word " * 12)) <= ROOT


def test_a_topic_holds_no_torn_bracket():
    assert "]" not in topic(summary("make: [Makefile:192: build] Error 1 in the release", "build"))


def test_a_topic_cuts_no_work_between_its_words():
    done = Extract("Write NOTES.md then read it; ran head dev/urandom 21 times", "", ("urandom",))
    assert topic(done, 4) != "urandom 21 times"
    assert "21" not in topic(Extract("ran head dev/urandom 21 times", "", ("urandom",)), 7)


def test_a_topic_from_a_quotation_keeps_its_marks():
    said = Extract("Can you sum it up?; “I am allergic to dust on Deck 9”", "", ("Deck",))
    assert topic(said) == "“dust on Deck 9”"

"""The rules by which headlines are judged, on lines that are plainly good or bad."""

from __future__ import annotations

import pytest

from benchmarks import facts, multilingual
from benchmarks.quality.headlines import faults, grown, is_empty, is_torn

TEXT = "We keep **SQLite** for the installers, because they work offline.\nThe lock file is pinned"


@pytest.mark.parametrize(
    "line",
    [
        "We keep SQLite for the installers",
        "they work offline",
        "We keep SQLite for the installers -> The lock file is pinned",
        "SQLite, installers, lock file",
    ],
)
def test_a_line_that_ends_with_its_clause_is_whole(line):
    assert not is_torn(line, TEXT)


@pytest.mark.parametrize("line", ["We keep SQLite for the", "installers; The lock file is"])
def test_a_line_whose_clause_goes_on_is_torn(line):
    assert is_torn(line, TEXT)


def test_a_line_without_telling_words_is_empty():
    assert is_empty("(empty)")
    assert is_empty("/undo")
    assert not is_empty("parser rewritten")
    assert not is_empty("src/app.py")


@pytest.mark.slow
@pytest.mark.long
def test_the_cases_in_other_languages_have_their_facts_and_a_tree():
    for language in multilingual.LANGUAGES:
        own = multilingual.facts(language)
        planted = facts.plant(multilingual.messages(language), own)
        text = "\n".join(message.text for message in planted)
        assert all(facts.kept(fact, fact.sentence) for fact in own), language
        assert all(fact.sentence in text for fact in own), language


def test_each_node_of_a_tree_is_judged():
    tree = grown(multilingual.messages("german"))
    found = list(faults(tree))
    assert len(found) == len(tree.nodes) > 4
    assert all(fault["headlines"] == 1 for fault in found)

"""Check what a memory is about."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.memories.categories import cases
from memtree.memories.fields.categories import category_of


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("Always include code examples in Python", "instruction"),
        ("User wants concise answers, no longer than 3 paragraphs", "instruction"),
        ("User prefers responses in bullet-point format", "preference"),
        ("The project deadline is March 15, 2026", "fact"),
        ("The project deadline has been extended to April 1, 2026", "fact"),
        ("My son Colby lives in Los Angeles.", "fact"),
        ("Anna likes tea.", "fact"),
        ("User wants to quit smoking.", "fact"),
        ("", "fact"),
    ],
)
def test_the_three_categories(text, category):
    assert category_of(text) == category


@pytest.mark.parametrize(("text", "category"), cases("categories.txt"))
def test_sentences_in_seven_languages(text, category):
    assert category_of(text) == category


def test_most_of_the_sentences_that_were_written_later():
    right = Counter(
        category_of(text) == category for text, category in cases("categories_later.txt")
    )
    assert right[True] >= 0.9 * right.total()

"""What a memory is about."""

from __future__ import annotations

import pytest

from memtree.memories.rules.categories import category_of


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("Always include code examples in Python", "instruction"),
        ("User prefers responses in bullet-point format", "preference"),
        ("The project deadline is March 15, 2026", "fact"),
        ("", "fact"),
    ],
)
def test_the_three_categories(text, category):
    assert category_of(text) == category

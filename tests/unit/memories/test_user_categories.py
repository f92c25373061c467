"""Categories of user memories."""

from __future__ import annotations

from datetime import date

import pytest

from memtree.errors import BadRequest, SecretRejected
from memtree.memories.fields.categories import (
    MAX_CATEGORY,
    checked_category,
    user_category,
)
from memtree.memories.memory import USER_CATEGORIES


@pytest.mark.parametrize(
    "given",
    [*USER_CATEGORIES, "Reading list", "a", "7", "work/projects", "C++ tips", "家族", "v1.2", "a_b",
     "x" * MAX_CATEGORY],
)  # fmt: skip
def test_what_can_be_a_category(given: str):
    assert checked_category(given, "category") == given
    assert checked_category(f" {given}\n", "category") == given


@pytest.mark.parametrize(
    "given",
    ["", " ", "x" * (MAX_CATEGORY + 1), "a\nb", "a\x00b", "<b>", "a;b", "-a", "_", "a\u202eb",
     "a\ud800", "😀", " " * 10_000 + "a", "a" + " " * 10_000],
)  # fmt: skip
def test_what_cannot(given: str):
    with pytest.raises(BadRequest) as raised:
        checked_category(given, "filter.category")
    assert raised.value.param == "filter.category"
    assert "64" in raised.value.message


def test_a_secret_is_no_category():
    with pytest.raises(SecretRejected):
        checked_category("ghp_" + 2 * "Zq8vLk2Rm9TxB4wYcN7d", "category")


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("I prefer tea to coffee", "preference"),
        ("Always answer in French.", "preference"),
        ("The staging port is 8090", "fact"),
        ("The project deadline is March 15, 2026", "schedule"),
        ("Meeting with Anna tomorrow at 15:00", "schedule"),
        ("User prefers meetings on Monday", "preference"),
        ("User was born on March 3, 1990", "fact"),
        ("User may travel, line 12 says", "fact"),
        ("x" * 20_000, "fact"),
    ],
)
def test_the_category_of_a_text(text: str, category: str):
    assert user_category(text, date(2026, 3, 2)) == category


def test_without_a_day_what_counts_from_it_is_no_appointment():
    assert user_category("Meeting with Anna tomorrow at 15:00") == "fact"

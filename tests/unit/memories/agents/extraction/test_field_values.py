from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from memtree.memories.agents.extraction.fillable_fields import FieldType, SchemaField
from memtree.memories.agents.extraction.value_grounding import (
    choice,
    fitted,
    is_past,
    one_day,
    quantities,
)


def field(type_: FieldType, name: str = "it", choices: tuple[str, ...] = ()) -> SchemaField:
    return SchemaField((name,), type_, choices)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("72 kg", {(72.0, "kg")}),
        ("1,500.5 euros", {(1500.5, "eur")}),
        ("$85k", {(85_000.0, "usd")}),
        ("$2m", {(2_000_000.0, "usd")}),
        ("2 m", {(2.0, "m")}),
        ("2 million", {(2_000_000.0, "")}),
        ("three", {(3.0, "")}),
        ("two kilos, 30 years and 1,500.5 euros", {(2.0, "kg"), (30.0, ""), (1500.5, "eur")}),
        ("3.5.1", set()),
        ("192.168.0.1", set()),
        ("none", set()),
    ],
)
def test_all_numbers_of_a_sentence(text: str, numbers: set[tuple[float, str]]) -> None:
    assert set(quantities(text)) == numbers


@pytest.mark.parametrize(
    ("one", "text", "value"),
    [
        (field(FieldType.INTEGER), "30", 30),
        (field(FieldType.INTEGER), "30.5", None),
        (field(FieldType.INTEGER), "30 or 31", None),
        (field(FieldType.NUMBER, "weightKg"), "72.5 kg", 72.5),
        (field(FieldType.NUMBER, "weightKg"), "160 lbs", None),
        (field(FieldType.NUMBER, "m"), "5 in", 5),
        (field(FieldType.STRING), '"a terrier"', "a terrier"),
        (field(FieldType.STRING), "  ", None),
        (field(FieldType.STRING, choices=("dark", "light")), "the dark one", "dark"),
        (field(FieldType.STRING, choices=("dark", "light")), "dark or light", None),
        (field(FieldType.BOOLEAN), "true", True),
        (field(FieldType.DATE), "March 5, 2026", "2026-03-05"),
        (field(FieldType.DATE), "next year", None),
        (field(FieldType.DATE, "birthday"), "May 5", None),
        (field(FieldType.MOMENT), "2026-03-05 14:00Z", "2026-03-05T14:00Z"),
        (field(FieldType.MOMENT), "March 5, 2026 at 2pm", None),
        (field(FieldType.STRINGS), "Paris, France", ["Paris, France"]),
        (field(FieldType.STRINGS, choices=("dark", "light")), "gray", None),
        (field(FieldType.BOOLEAN), "maybe", None),
    ],
)
def test_a_value_for_a_field(one: SchemaField, text: str, value: Any) -> None:
    assert fitted(one, text, date(2026, 3, 2)) == value


def test_a_longer_choice_counts_where_it_holds_another() -> None:
    assert choice(("time", "full time"), "full time") == "full time"
    assert choice(("in_progress", "done"), "it is in progress") == "in_progress"


BLOOD = ("O+", "O-", "A+", "A-", "AB+", "AB-")
CODED = ("C", "C++", "C#")


@pytest.mark.parametrize(
    ("choices", "text", "value"),
    [
        (BLOOD, "o-", "O-"),
        (BLOOD, "type ab- blood", "AB-"),
        (BLOOD, "o", None),
        (CODED, "c", "C"),
        (CODED, "mostly c#", "C#"),
        (("C", "Java"), "c++", None),
        (("in_progress", "In-Progress"), "it is in progress", None),
        (("in_progress", "In-Progress"), "in-progress", "In-Progress"),
        (("-1", "1"), "1", "1"),
        (("dark", "light"), "dark-ish", "dark"),
        (("dark", "light"), "nothing that doesn't look dark", None),
    ],
)
def test_choices_of_the_same_words(choices: tuple[str, ...], text: str, value: Any) -> None:
    assert choice(choices, text) == value


def test_the_one_day() -> None:
    monday = date(2026, 3, 2)
    named = one_day("tomorrow at 3pm", monday)
    assert named
    assert named.day == date(2026, 3, 3)
    for text in ("on Friday or on Sunday", "soon", "May 1990"):
        assert one_day(text, monday) is None
    assert one_day("May 5", monday, certain=True) is None
    assert is_past(field(FieldType.DATE, "dateOfBirth"))
    assert not is_past(field(FieldType.DATE, "dueDate"))

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from memtree.memories.agents.slot_filling.schema_fields import FieldType, SchemaField
from memtree.memories.agents.slot_filling.values import (
    choice,
    coming_day,
    fitted,
    is_sound,
    number_in,
    numbers_in,
    value_end,
)


def field(type_: FieldType, name: str = "it", **more: Any) -> SchemaField:
    return SchemaField((name,), type_, (name,), **more)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("72 kg", (72.0, "kg")),
        ("1,500.5 euros", (1500.5, "eur")),
        ("$85k", (85_000.0, "usd")),
        ("2 million", (2_000_000.0, "")),
        ("three", (3.0, "")),
        ("12 or 13", None),
        ("3.5.1", None),
        ("192.168.0.1", None),
        ("none", None),
    ],
)
def test_the_one_number(text: str, number: tuple[float, str] | None) -> None:
    assert number_in(text) == number


@pytest.mark.parametrize(
    ("one", "text", "value"),
    [
        (field(FieldType.INTEGER), "30", 30),
        (field(FieldType.INTEGER), "30.5", None),
        (field(FieldType.INTEGER, lowest=0, highest=10), "30", None),
        (field(FieldType.NUMBER, "weightKg"), "72.5 kg", 72.5),
        (field(FieldType.NUMBER, "weightKg"), "160 lbs", None),
        (field(FieldType.NUMBER), "5 times bigger", None),
        (field(FieldType.STRING), "a terrier", "terrier"),
        (field(FieldType.STRING), "broken", None),
        (field(FieldType.STRING, format="email"), "me@example.org", "me@example.org"),
        (field(FieldType.STRING, format="email"), "not working", None),
        (field(FieldType.STRING, choices=("dark", "light")), "the dark one", "dark"),
        (field(FieldType.STRING, choices=("dark", "light")), "dark or light", None),
        (field(FieldType.BOOLEAN), "on", True),
        (field(FieldType.DATE), "March 5, 2026", "2026-03-05"),
        (field(FieldType.DATE), "next year", None),
        (field(FieldType.DATE, "birthday"), "May 5", None),
        (field(FieldType.MOMENT), "2026-03-05 14:00Z", "2026-03-05T14:00Z"),
        (field(FieldType.MOMENT), "March 5, 2026 at 2pm", None),
        (field(FieldType.STRINGS), "tea, coffee and cake", ["tea", "coffee", "cake"]),
        (field(FieldType.STRINGS), "tea or coffee", None),
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


def test_where_a_value_ends() -> None:
    assert value_end("blue because it calms me", 0) == 4
    assert value_end("blue now, by the way!", 0) == 4
    assert value_end("blue, nowadays, okay", 0) == 4
    assert value_end("blue now here, okay?", 0) == 13
    assert value_end("nowhere to be", 0) == 13


def test_doubts_are_no_values() -> None:
    assert not is_sound("probably blue")
    assert not is_sound("it")
    assert not is_sound("someone who doesn't smoke")
    assert is_sound("pad thai")


def test_days_that_lie_ahead() -> None:
    monday = date(2026, 3, 2)
    assert coming_day("on Friday at 3pm", monday) == date(2026, 3, 6)
    assert coming_day("by March 1", monday) == date(2027, 3, 1)
    assert coming_day("tomorrow", monday) == date(2026, 3, 3)
    for text in ("next Friday", "on Monday", "on Friday or on Sunday", "soon"):
        assert coming_day(text, monday) is None
    assert coming_day("on Friday", None) is None


def test_all_numbers_of_a_sentence() -> None:
    assert numbers_in("two cats, 30 years and 1,500.5 euros") == {2.0, 30.0, 1500.5}

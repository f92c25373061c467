"""Check what rules find in a message for schemas. More cases:
`benchmarks/cases/structured*.txt`."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from memtree.memories.agents.schemas.memory_schema import MemorySchema
from memtree.memories.agents.slot_filling.merging import gathered
from memtree.memories.agents.slot_filling.rule_reader import kind_fields, read

SAID = date(2026, 3, 2)
TEXT = {"type": "string"}
PROFILE = {
    "name": TEXT,
    "age": {"type": "integer"},
    "city": TEXT,
    "favoriteColor": TEXT,
    "theme": {"enum": ["dark", "light"]},
    "birthday": {"type": "string", "format": "date"},
    "likes": {"type": "array", "items": TEXT},
    "isSmoker": {"type": ["boolean", "null"]},
    "weightKg": {"anyOf": [{"type": "number"}, {"type": "null"}]},
    "address": {"type": "object", "properties": {"zipCode": TEXT}},
}


def schema(kind: str, fields: dict[str, Any], *required: str) -> MemorySchema:
    return MemorySchema(kind, json.dumps({"properties": fields, "required": list(required)}))


def found(text: str, *schemas: MemorySchema, fiction: bool = False) -> list[dict[str, Any]]:
    kinds = [kind_fields(one) for one in schemas or (schema("UserProfile", PROFILE),)]
    reading = read(text, kinds, SAID, fiction=fiction)
    return [dict(one.data) for one in gathered((0, each) for each in reading.findings)]


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("My favourite colour is blue now, by the way.", {"favoriteColor": "blue"}),
        ("Blue is my favorite color", {"favoriteColor": "Blue"}),
        ("I'm Bo, 30, and I live in Graz.", {"name": "Bo", "age": 30, "city": "Graz"}),
        ("Please use dark mode", {"theme": "dark"}),
        ("I was born on May 5, 1990", {"birthday": "1990-05-05"}),
        ("I like tea, coffee and cake", {"likes": ["tea", "coffee", "cake"]}),
        ("I like nuts, soy, and a few figs", {"likes": ["nuts", "soy", "few figs"]}),
        ("I like tea and soy and my age is 30", {"likes": ["tea", "soy"], "age": 30}),
        ("I moved to Graz last year", {"city": "Graz"}),
        ("I don't smoke", {"isSmoker": False}),
        ("I weigh 72.5 kg", {"weightKg": 72.5}),
        ("My zip code is 8010", {"address": {"zipCode": "8010"}}),
        ("Ich heiße Jonas und wohne in Köln", {"name": "Jonas", "city": "Köln"}),
        ("My favorite color is red. My favorite color is green.", {"favoriteColor": "green"}),
    ],
)
def test_what_the_user_says_of_themselves(text: str, data: dict[str, Any]) -> None:
    assert found(text) == [data]


@pytest.mark.parametrize(
    "text",
    [
        "Is my favorite color blue?",
        "If my favorite color is blue, what suits me?",
        "My sister's favorite color is blue",
        "My favorite color is probably blue",
        "My favorite color was blue",
        "My favorite color is not blue",
        "My favorite color is blue or green?",
        "He said my name is Bo",
        "> My name is Bo",
        "```\nmy name is Bo\n```",
        "Translate: my name is Bo and I live in Graz",
        "Let's role-play: my name is Bo",
        "I'm German",
        "I'm 30 minutes late",
        "I weigh 160 pounds",
        "My name is too long for the form",
        "I was born on May 5",
        "I like this",
        "my name is Bo, right?",
        "I'm 30, just kidding",
        'In the test my name is "Foo" and my age is 99.',
        "I live in fear of regressions",
        "I work as hard as I can",
    ],
)
def test_what_is_none(text: str) -> None:
    assert found(text) == []


def test_signs_tell_choices_apart() -> None:
    person = schema("UserProfile", {"language": {"enum": ["C", "C++", "C#"]}})
    assert found("I prefer the C++ language.", person) == [{"language": "C++"}]
    assert found("My language is C#.", person) == [{"language": "C#"}]


def test_nothing_is_read_of_fiction() -> None:
    assert found("My name is Bo", fiction=True) == []


def test_why_a_sentence_was_left_out() -> None:
    kinds = [kind_fields(schema("UserProfile", PROFILE))]
    text = "I play chess. Is it late? My key is sk-proj-abcdefghijklmnopqrstuvwx0123456789ABCD"
    reasons = [one.reason for one in read(text, kinds).skipped]
    assert reasons == ["no_schema", "question", "secret"]


def test_places_are_those_of_the_value() -> None:
    text = "Hi! I'm Bo and live in Graz."
    finding = read(text, [kind_fields(schema("UserProfile", PROFILE))]).findings[-1]
    assert text[finding.start : finding.end] == "Graz"
    assert finding.confidence == 0.85  # the subject stands before


def test_a_field_of_another_thing_is_not_the_users() -> None:
    car = schema("Car", {"name": TEXT, "color": TEXT})
    assert found("My name is Bo", car) == []
    assert found("My car's color is red", car) == [{"color": "red"}]


def test_tasks_and_appointments_are_memories_of_their_own() -> None:
    day = {"type": "string", "format": "date"}
    task = schema("Task", {"title": TEXT, "dueDate": day}, "title")
    event = schema("Appointment", {"title": TEXT, "date": day}, "title", "date")
    text = "Remind me to call Ann tomorrow. Add a task: buy milk. My exam is on March 15, 2026."
    assert found(text, task, event) == [
        {"title": "call Ann", "dueDate": "2026-03-03"},
        {"title": "buy milk"},
        {"title": "exam", "date": "2026-03-15"},
    ]


def test_animals_and_people() -> None:
    pet = schema("Pet", {"name": TEXT, "species": TEXT}, "name")
    contact = schema("Contact", {"name": TEXT, "relationship": TEXT}, "name")
    assert found("My dog is called Rex. My wife's name is Ann.", pet, contact) == [
        {"name": "Rex", "species": "dog"},
        {"name": "Ann", "relationship": "wife"},
    ]


def test_a_kind_that_takes_a_sentence() -> None:
    note = schema("Note", {"text": TEXT}, "text")
    assert found("I'm allergic to nuts. What can I bake?", note) == [
        {"text": "User is allergic to nuts"}
    ]
    assert found("Fix the test", note) == []

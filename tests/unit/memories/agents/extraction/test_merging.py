from __future__ import annotations

import json
from typing import Any

from memtree.memories.agents.extraction.merging import (
    Finding,
    gathered,
    lacking,
    merged,
    same_data,
)
from memtree.memories.agents.schemas.memory_schema import MemorySchema

DOCUMENT = json.dumps({"properties": {"name": {"type": "string"}}})


def finding(kind: str, **values: Any) -> Finding:
    return Finding(kind, tuple(((name,), value) for name, value in values.items()), 0, 1, 0.9)


def kept(*findings: Finding, **unique_on: str) -> list[tuple[str, Any, int]]:
    """Each in a message of its own."""
    kinds = {each.kind for each in findings}
    schemas = [
        MemorySchema(kind, DOCUMENT, tuple(unique_on.get(kind, "").split())) for kind in kinds
    ]
    rows = gathered(list(enumerate(findings)), schemas)
    return [(row.kind, dict(row.data), row.message) for row in rows]


def test_what_is_said_of_a_profile_is_one_memory() -> None:
    assert kept(
        finding("UserProfile", name="Bo", likes=["tea"]),
        finding("Task", title="call"),
        finding("UserProfile", city="Graz", likes=["cake"]),
        finding("Task", due="2026-03-05"),
    ) == [
        ("UserProfile", {"name": "Bo", "likes": ["tea", "cake"], "city": "Graz"}, 2),
        ("Task", {"title": "call"}, 1),
        ("Task", {"due": "2026-03-05"}, 3),
    ]


def test_what_a_scope_has_one_of_is_one_memory_and_a_later_mention_wins() -> None:
    said = (finding("Settings", theme="dark"), finding("Settings", theme="light", size=2))
    assert kept(*said, Settings="kind") == [("Settings", {"theme": "light", "size": 2}, 1)]


def test_who_has_another_name_is_somebody_else() -> None:
    said = (
        finding("UserProfile", name="Bo", color="blue"),
        finding("UserProfile", color="green"),
        finding("UserProfile", name="Ann"),
    )
    assert kept(*said, UserProfile="name") == [
        ("UserProfile", {"name": "Bo", "color": "green"}, 1),
        ("UserProfile", {"name": "Ann"}, 2),
    ]


def test_without_unique_fields_nothing_is_lost_to_a_contradiction() -> None:
    said = (
        finding("UserPreference", topic="tea", value={"how": "hot"}),
        finding("UserPreference", value={"when": "noon"}),
        finding("UserPreference", value={"how": "cold"}),
    )
    assert kept(*said) == [
        ("UserPreference", {"topic": "tea", "value": {"how": "hot", "when": "noon"}}, 1),
        ("UserPreference", {"value": {"how": "cold"}}, 2),
    ]


def test_a_field_of_an_object_is_put_into_it() -> None:
    made = Finding("A", ((("address", "city"), "Graz"), (("address", "zip"), "1")), 0, 1, 0.9)
    assert kept(made) == [("A", {"address": {"city": "Graz", "zip": "1"}}, 0)]


def test_lists_grow_and_objects_join() -> None:
    old = {"likes": ["Tea"], "address": {"city": "Graz"}, "age": 1}
    new = {"likes": ["tea", "cake"], "address": {"zip": "1"}, "age": 2}
    assert merged(old, new) == {
        "likes": ["Tea", "cake"],
        "address": {"city": "Graz", "zip": "1"},
        "age": 2,
    }
    assert old["likes"] == ["Tea"]


def test_order_of_fields_means_nothing() -> None:
    assert same_data({"a": 1, "b": [1]}, {"b": [1], "a": 1})
    assert not same_data({"a": 1}, {"a": True})
    assert lacking({"a": 1}, ["b", "a"]) == ["b"]

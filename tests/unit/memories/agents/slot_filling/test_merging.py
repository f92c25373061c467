from __future__ import annotations

from memtree.memories.agents.slot_filling.merging import (
    gathered,
    lacking,
    merged,
    same_data,
)
from memtree.memories.agents.slot_filling.rule_reader import Finding


def finding(kind: str, *values: tuple[tuple[str, ...], object], alone: bool = False) -> Finding:
    return Finding(kind, values, 0, 1, 0.9, alone)


def test_what_is_said_of_a_kind_is_one_memory() -> None:
    rows = gathered(
        [
            (0, finding("P", (("name",), "Bo"))),
            (1, finding("T", (("title",), "call"), alone=True)),
            (2, finding("P", (("address", "city"), "Graz"))),
            (3, finding("T", (("title",), "buy"), alone=True)),
            (4, finding("P", (("name",), "Jo"))),
        ]
    )
    assert [(row.kind, row.data, row.message) for row in rows] == [
        ("P", {"name": "Jo", "address": {"city": "Graz"}}, 4),
        ("T", {"title": "call"}, 1),
        ("T", {"title": "buy"}, 3),
    ]


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

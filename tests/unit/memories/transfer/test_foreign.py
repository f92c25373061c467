from __future__ import annotations

from typing import Any

import pytest

from memtree.memories.transfer.foreign_formats import (
    MOST_DATA_CHARS,
    found_tags,
    kept_data,
    moment,
)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2026-03-07T10:30:00Z", 1772879400.0),
        ("2026-03-07T02:30:00.5-08:00", 1772879400.5),
        ("2026-03-07", 1772841600.0),
        (1772879400, 1772879400.0),
        (1772879400.25, 1772879400.25),
        (1772879400000, 1772879400.0),
        ("yesterday", None),
        ("", None),
        (None, None),
        (True, None),
        (-5, None),
        (float("nan"), None),
        (float("inf"), None),
        (["2026-03-07"], None),
    ],
)
def test_times_are_taken_as_programs_write_them(value: object, seconds: float | None):
    assert moment(value) == seconds


@pytest.mark.parametrize(
    ("values", "tags"),
    [
        (["Food", "food", 5, None, "x" * 40, " ", "Family Trip"], ("food", "family-trip")),
        ([str(n) for n in range(50)], tuple(str(n) for n in range(32))),
        ("food", ()),
        (None, ()),
        ({"a": 1}, ()),
    ],
)
def test_those_that_can_be_tags_are_kept(values: object, tags: tuple[str, ...]):
    assert found_tags(values) == tags


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize("value", [{"a": 1}, {"a": [1, {"b": None}]}, deep(6)])
def test_a_plain_object_is_kept(value: dict[str, Any]):
    assert kept_data(value) == value


@pytest.mark.parametrize(
    "value",
    [{}, None, [1], "a", {"a": "x" * MOST_DATA_CHARS}, deep(9), deep(5_000), {"a": float("nan")}],
)
def test_what_is_too_large_or_too_deep_is_not(value: object):
    assert kept_data(value) is None

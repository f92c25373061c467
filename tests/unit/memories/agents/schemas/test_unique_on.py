from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.memories.agents.schemas.memory_schema import (
    KEY_BYTES,
    MemorySchema,
    canonical,
    unique_key,
)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


def key(data: dict[str, Any], *names: str, kind: str = "Person") -> bytes:
    return unique_key(MemorySchema(kind, "{}", names), data)


def test_the_values_make_the_key():
    ada = key({"name": "Ada", "age": 36}, "name")
    assert len(ada) == KEY_BYTES
    assert ada == key({"age": 37, "name": "Ada"}, "name")
    assert ada != key({"name": "Bob"}, "name")
    assert ada != key({"name": "Ada"}, "name", kind="Pet")
    assert ada != key({"name": "ada"}, "name")


def test_nothing_is_unique_without_names():
    assert key({"name": "Ada"}) == b""


@pytest.mark.parametrize("data", [{}, {"name": "Ada"}, {"name": "Ada", "city": None}])
def test_a_field_that_is_missing_or_null_is_not_unique(data):
    assert key(data, "name", "city") == b""


def test_the_name_kind_means_one_of_its_kind():
    assert key({"a": 1}, "kind") == key({"kind": "x"}, "kind") != b""
    assert key({"a": 1}, "kind", "a") == key({"a": 1}, "a") != key({"a": 2}, "kind", "a")


def test_the_order_of_names_means_nothing():
    data = {"a": "x", "b": "y"}
    assert key(data, "a", "b") == key(data, "b", "a") != key({"a": "y", "b": "x"}, "a", "b")


def test_names_and_values_do_not_run_together():
    assert key({"a": "x", "b": "y"}, "a", "b") != key({"a": 'x","b","y'}, "a")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (0, -0.0),
        (100, 1e2),
        (2**63, float(2**63)),
        ("\xe9", "e\u0301"),
        ({"\xe9": 1}, {"e\u0301": 1}),
        ({"a": 1, "b": [1, {"c": 2, "d": 3}]}, {"b": [1.0, {"d": 3, "c": 2}], "a": 1}),
        ([], ()),
    ],
)
def test_equal_values(one, other):
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, "1"),
        (1, True),
        (0, False),
        (None, "null"),
        ([1, 2], [2, 1]),
        ([], {}),
        (2**53, 2**53 + 1),
        (0.1, 0.10000000000000002),
        ("a", "A"),
        ("\ufb01", "fi"),
    ],
)
def test_different_values(one, other):
    assert canonical(one) != canonical(other)


@given(JSON)
def test_a_value_that_was_sent_is_the_same_value(value):
    assert canonical(json.loads(json.dumps(value))) == canonical(value)


@given(JSON, JSON)
def test_texts_that_are_equal_mean_equal_values(one, other):
    if canonical(one) == canonical(other):
        assert json.loads(canonical(one)) == json.loads(canonical(other))

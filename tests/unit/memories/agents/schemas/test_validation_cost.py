"""The work of holding data against a schema, counted beforehand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.memories.agents.schemas.limits import checked_schema
from memtree.memories.agents.schemas.validation import compiled, load, violation_of
from memtree.memories.agents.schemas.validation_cost import MAX_UNITS, applied, ceiling, units

LETTER = 7  # units of a letter against any pattern, here


def counted(rules: dict[str, Any], data: Any, most: int = 10**12) -> int:
    """Count the units of data in a field with these rules."""
    return of({"properties": {"a": rules}}, {"a": data}, most)


def of(document: dict[str, Any], data: dict[str, Any], most: int = 10**12) -> int:
    checked = checked_schema(json.dumps({"type": "object", **document}))
    schemas = applied(checked.sub_schemas, lambda _: LETTER)
    found = units(schemas, data, most)
    size = len(json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode())
    assert ceiling(schemas, checked.order).units(size) >= min(found, most)
    return found


def test_each_sub_schema_counts_for_each_value():
    one = counted({"items": {"type": "integer"}}, [1] * 100)
    assert counted({"items": {"type": "integer"}}, [1] * 200) - one == 100 * 2 + 100
    many = counted({"items": {"allOf": [{"type": "integer"}] * 50}}, [1] * 100)
    assert many - one == 100 * (50 * 2)


def test_references_count_as_often_as_they_are_used():
    rule = {"$defs": {"a": {"type": "integer", "minimum": 1}}}
    once = of({**rule, "additionalProperties": {"$ref": "#/$defs/a"}}, {"x": 1, "y": 2})
    twice = of(
        {**rule, "additionalProperties": {"allOf": [{"$ref": "#/$defs/a"}] * 2}}, {"x": 1, "y": 2}
    )
    assert twice - once > 2


@pytest.mark.parametrize("keyword", ["unevaluatedProperties", "unevaluatedItems"])
def test_beside_unevaluated_all_counts_twice(keyword):
    beside = {"allOf": [{"items": {"type": "integer"}}]}
    once = counted(beside, [1] * 100)
    assert counted({**beside, keyword: True}, [1] * 100) > 1.6 * once


@pytest.mark.parametrize(
    "rules",
    [
        {"pattern": "a"},
        {"not": {"pattern": "a"}},
        {"if": {"pattern": "a"}},
        {"anyOf": [{"pattern": "a"}]},
    ],
)
def test_patterns_count_letters(rules):
    assert counted(rules, "x" * 1_000) - counted(rules, "x" * 100) >= 900 * LETTER


def test_patterns_of_names_count_their_letters():
    for rules in ({"patternProperties": {"a": True}}, {"propertyNames": {"pattern": "a"}}):
        assert counted(rules, {"x" * 1_000: 1}) >= 1_000 * LETTER


@pytest.mark.parametrize("keyword", ["minimum", "maximum", "exclusiveMinimum", "multipleOf"])
def test_numbers_with_a_fraction_are_dear(keyword):
    plain = counted({keyword: 2}, 7)
    assert counted({keyword: 0.5}, 7) > plain + 90
    assert counted({keyword: 2}, 7.5) > plain + 90
    assert counted({keyword: 0.5}, 1e-300) > plain + 2_000
    assert counted({keyword: 0.5}, 1e300) > plain + 2_000
    assert counted({keyword: 1e-300}, 7) > plain + 2_000
    assert counted({keyword: 3.4e38}, 7) < plain + 200
    assert counted({keyword: 2}, True) == counted({keyword: 2}, None) < plain


def test_options_count():
    few, many = [0.5], [at + 0.5 for at in range(300)]
    assert counted({"enum": many}, 7) > 290 * counted({"enum": few}, 7) / 2
    words = [f"word {at}" for at in range(500)]
    assert counted({"enum": words}, "word 7") < 100
    assert counted({"enum": [[1, {"a": 2}]] * 100}, []) > 100 * 15
    assert counted({"const": {"a": [1] * 100}}, {}) > 100 * 15


@pytest.mark.parametrize(
    "rules",
    [
        {"required": [f"f{at}" for at in range(200)]},
        {"dependentRequired": {f"f{at}": ["x"] for at in range(200)}},
        {"dependentRequired": {"x": [f"f{at}" for at in range(200)]}},
        {"dependencies": {f"f{at}": ["x"] for at in range(200)}},
        {"properties": {f"f{at}": True for at in range(190)}},
    ],
)
def test_names_that_are_looked_for_count_for_each_object(rules):
    assert counted({"items": rules}, [{}] * 100) > 9_000


def test_unique_items_count_what_is_in_them():
    assert counted({"uniqueItems": True}, [[1] * 50] * 20) > counted({}, [[1] * 50] * 20) + 20_000


def test_counting_ends_at_the_limit():
    rules = {"items": {"allOf": [{"type": "integer"}] * 190}}
    assert MAX_UNITS < counted(rules, [1] * 7_000, MAX_UNITS) < MAX_UNITS + 10_000


def test_every_place_of_a_sub_schema_counts():
    inner = {"items": {"allOf": [{"type": "integer"}] * 9}}
    data = {"a": [1] * 100, "b": [1] * 100}
    for document in (
        {"additionalProperties": inner}, {"unevaluatedProperties": inner},
        {"properties": {"a": inner}}, {"patternProperties": {"a": inner}},
        {"dependentSchemas": {"a": {"properties": {"a": inner}}}},
        {"dependencies": {"a": {"properties": {"a": inner}}}},
        {"then": {"properties": {"a": inner}}}, {"else": {"properties": {"a": inner}}},
        {"oneOf": [{"properties": {"a": inner}}]},
        {"properties": {"a": {"contains": inner["items"]}}},
        {"properties": {"a": {"unevaluatedItems": inner["items"]}}},
    ):  # fmt: skip
        assert of(document, data) > 900, document
    assert of({"properties": {"a": {"prefixItems": [inner, inner]}}}, {"a": [[1] * 50] * 2}) > 900
    assert of({"$defs": {"a": inner}, "properties": {"a": {"contentSchema": inner}}}, data) < 300


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(0, 1e300)
    | st.text("ab", max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=12,
)
RULES = st.recursive(
    st.sampled_from(
        [True, {"type": "string"}, {"minimum": 0.5}, {"pattern": "a"}, {"enum": [1.5, [2.5], "a"]},
         {"uniqueItems": True}, {"$ref": "#/$defs/a"}]
    ),
    lambda inner: st.fixed_dictionaries({"items": inner})
    | st.fixed_dictionaries({"additionalProperties": inner, "propertyNames": inner})
    | st.fixed_dictionaries({"allOf": st.lists(inner, max_size=3), "unevaluatedItems": inner})
    | st.fixed_dictionaries({"properties": st.dictionaries(st.sampled_from("abc"), inner)})
    | st.fixed_dictionaries({"patternProperties": st.dictionaries(st.sampled_from("ab"), inner)}),
    max_leaves=6,
)  # fmt: skip


@pytest.mark.slow
@given(RULES, st.dictionaries(st.sampled_from("abc"), VALUES))
def test_no_data_takes_more_than_the_ceiling(rules, data):
    """`of` compares them."""
    assert of({"$defs": {"a": {"items": {"type": "null"}}}, "additionalProperties": rules}, data)


# -- what is refused -----------------------------------------------------------------------------


def rule(document: dict[str, Any], data: dict[str, Any]) -> str | None:
    schema = compiled(checked_schema(json.dumps({"type": "object", **document})))
    assert load(schema, data) > 0
    found = violation_of(schema, data)
    return None if found is None else found.rule


NUMBERS = {"a": [at / 7 for at in range(700)]}
BOMBS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (  # 6 s
        {
            "$defs": {"e": {"enum": [[at] for at in range(1_200)]}},
            "properties": {"a": {"items": {"allOf": [{"$ref": "#/$defs/e"}] * 150}}},
        },
        {"a": [[1_199]] * 100},
    ),
    ({"properties": {"a": {"items": {"enum": [at + 0.5 for at in range(1_900)]}}}}, NUMBERS),  # 9 s
    ({"properties": {"a": {"items": {"minimum": 1e-300}}}}, {"a": [2e-300] * 1_000}),
    ({"properties": {"a": {"items": {"allOf": [{"type": "integer"}] * 190}}}}, {"a": [1] * 7_000}),
    ({"properties": {"a": {"pattern": "([ab]{0,150}a){2}c"}}}, {"a": "ab" * 7_000}),
]


@pytest.mark.parametrize(("document", "data"), BOMBS)
def test_what_would_hold_up_everything_else_is_refused(document, data):
    told = rule(document, data)
    assert told is not None
    assert "too much" in told


@pytest.mark.parametrize(
    ("document", "data"),
    [
        ({"properties": {"a": {"items": {"type": "integer", "minimum": 0}}}}, {"a": [1] * 7_900}),
        ({"properties": {"a": {"type": "string", "pattern": r"^\S"}}}, {"a": "x" * 15_900}),
        ({"properties": {"a": {"items": {"enum": ["b", "c", "x"]}}}}, {"a": ["x"] * 3_900}),
        ({"properties": {"a": {"items": {"minimum": 0.0}}}}, {"a": [0.25] * 3_000}),
        (
            {"properties": {f"f{at}": {"type": "string", "maxLength": 99} for at in range(150)}},
            {f"f{at}": "x" * 90 for at in range(150)},
        ),
        (
            {"properties": {"a": {"items": {"properties": {"b": {"pattern": "^[a-z]+$"}}}}}},
            {"a": [{"b": "abcdefgh"}] * 900},
        ),
    ],
)
def test_large_data_of_a_plain_schema_is_held_against_it(document, data):
    assert rule(document, data) is None

"""Schemas that want to read or cost too much."""

from __future__ import annotations

import dataclasses
import json
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from memtree.agents.schema_limits import checked_schema
from memtree.agents.schema_validation import CompiledSchema, compiled, load, violation_of
from memtree.agents.validation_cost import MAX_UNITS, applied, ceiling, units
from memtree.errors import SchemaInvalid
from tests.hostile_texts import hostile

# ------------------------------------------------------------------------------------------------
# Schemas that want to read what is not theirs, and schemas of any shape: each is refused by name,
# or means what the draft says.


OBJECT = {"type": "object"}


# -- nothing is fetched


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Nobody may call."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        server.setblocking(False)
        yield server


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A schema that no object without a canary keeps to."""
    path = tmp_path / "canary.json"
    path.write_text('{"type": "object", "required": ["canary"]}')
    return path


def placed(keyword: str, target: str) -> list[dict[str, Any]]:
    """Where a schema may name another one."""
    names: dict[str, Any] = {keyword: target}
    return [
        {**OBJECT, **names},
        {**OBJECT, "properties": {"a": names}},
        {**OBJECT, "$defs": {"a": names}},
        {**OBJECT, "definitions": {"a": names}, "allOf": [{"$ref": "#/definitions/a"}]},
        {**OBJECT, "items": {"contentMediaType": "application/json", "contentSchema": names}},
        {**OBJECT, "$id": target, "properties": {"a": {"$ref": "other.json"}}},
        {**OBJECT, "if": names, "patternProperties": {"a": {"not": names}}},
        {**OBJECT, "x-unknown": names, "default": names, "enum": [names, {}], "const": {}},
    ]


@pytest.mark.parametrize(
    "keyword",
    ["$ref", "$dynamicRef", "$recursiveRef", "$id", "$schema", "$anchor", "$vocabulary", "id"],
)
def test_no_file_and_no_address_is_read(keyword, canary, listener):
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/canary.json"
    for target in (canary.as_uri(), str(canary), address, address.removeprefix("http:")):
        for document in placed(keyword, target):
            try:
                schema = compiled(checked_schema(json.dumps(document)))
            except SchemaInvalid:
                continue
            assert violation_of(schema, {}) is None
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_the_library_would_not_read_them_either(canary, listener):
    """Were a reference to slip through."""
    checked = checked_schema(json.dumps(OBJECT))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/canary.json"
    for target in (canary.as_uri(), address):
        slipped = dataclasses.replace(checked, document={"$ref": target})
        with pytest.raises(SchemaInvalid):
            compiled(slipped)
    with pytest.raises(BlockingIOError):
        listener.accept()


# -- any schema, any data

ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2**63, 2**64 - 1, -(2**63), 0.5, 1e-300, 1e300, 5e-324, -0.0, "",
    "a", "object", "string", "#", "#/$defs/a", "^a", "(?=a)", "\\d+", "(", "\x00", "\u202e", "😀",
    [], {}, ["a"], ["a", "a"], [1], [True], {"a": True}, {"a": {"type": "string"}}, [{}], [[]],
]  # fmt: skip
KEYWORDS = (
    "type", "enum", "const", "multipleOf", "maximum", "minimum", "exclusiveMaximum", "maxLength",
    "minLength", "pattern", "items", "prefixItems", "maxItems", "minItems", "uniqueItems",
    "contains", "maxContains", "minContains", "maxProperties", "minProperties", "required",
    "properties", "patternProperties", "additionalProperties", "dependentRequired",
    "dependentSchemas", "dependencies", "propertyNames", "unevaluatedItems",
    "unevaluatedProperties", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref",
    "$defs", "definitions", "$comment", "format", "contentEncoding", "contentMediaType",
    "contentSchema", "title", "default", "examples", "readOnly", "x-own", "$id", "$anchor",
)  # fmt: skip
SCHEMAS = st.recursive(
    st.sampled_from(
        [
            True, False, {}, {"type": "string"}, {"type": ["integer", "null"]}, {"minimum": 0},
            {"pattern": "^a"}, {"enum": ["a", 1]}, {"const": 0.5}, {"$ref": "#/$defs/a"},
            {"multipleOf": 0.1}, {"minLength": 1}, {"required": ["a"]}, {"uniqueItems": True},
        ]
    ),
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from(KEYWORDS), st.sampled_from(ODD), max_size=2),
        st.fixed_dictionaries({"properties": st.dictionaries(st.sampled_from("abc"), inner)}),
        st.fixed_dictionaries(
            {"patternProperties": st.dictionaries(st.sampled_from(["a", "\\w"]), inner)}
        ),
        st.dictionaries(st.sampled_from(["allOf", "anyOf", "oneOf", "prefixItems"]),
                        st.lists(inner, min_size=1, max_size=3), min_size=1, max_size=2),
        st.dictionaries(
            st.sampled_from(["not", "if", "then", "else", "items", "contains", "propertyNames",
                             "additionalProperties", "unevaluatedProperties", "unevaluatedItems"]),
            inner, min_size=1, max_size=3),
    ),
    max_leaves=8,
)  # fmt: skip
DATA = st.dictionaries(
    st.sampled_from(["a", "b", "c", "9", ""]),
    st.recursive(
        st.sampled_from([None, True, 0, 7, -1, 0.5, 0.3, 1e300, "", "a", "ab", "9"]),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
        ),
        max_leaves=6,
    ),
    max_size=4,
)


def expected(document: dict[str, Any], data: dict[str, Any]) -> bool:
    """Return what the library says of the document as it was written, its own address aside."""
    document = {name: value for name, value in document.items() if name != "$id"}
    options = jsonschema_rs.RegexOptions()
    return jsonschema_rs.Draft202012Validator(
        document, offline=True, pattern_options=options, validate_formats=False
    ).is_valid(data)


def accepted(document: dict[str, Any] | str) -> CompiledSchema | str:
    """Or what it is refused with."""
    text = document if isinstance(document, str) else json.dumps(document)
    message = "the schema"
    try:
        return compiled(checked_schema(text))
    except SchemaInvalid as error:
        message = error.message
    assert "schema" in message
    assert len(message) < 1_000
    return message


@pytest.mark.slow
@given(SCHEMAS, SCHEMAS, DATA)
def test_a_schema_means_what_it_says_or_is_refused(rules, definition, data):
    document = {
        "$defs": {"a": definition},
        "type": "object",
        **(rules if isinstance(rules, dict) else {"allOf": [rules]}),
    }
    schema = accepted(document)
    if isinstance(schema, str):
        event(schema.partition(": ")[2][:40] or schema[:40])
        return
    found = violation_of(schema, data)
    event("valid" if found is None else found.rule.split(" (")[0][:30])
    assert (found is None) == expected(document, data)
    if found is not None:
        assert len(found.message("data")) < 1_000


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(KEYWORDS), st.sampled_from(ODD)), DATA)
def test_odd_values_of_keywords(rules, data):
    for document in ({**OBJECT, **rules}, {**OBJECT, "properties": {"a": rules, "b": rules}}):
        schema = accepted(document)
        if not isinstance(schema, str):
            assert (violation_of(schema, data) is None) == expected(document, data)


@pytest.mark.parametrize("text", [*hostile.JSON, *hostile.OUTPUT, *hostile.MARKUP])
def test_hostile_texts_are_no_schemas(text):
    for repeated in (text, text * 500):
        for document in (repeated, '{"type":"object","title":' + json.dumps(repeated) + "}"):
            assert accepted(document)


# ------------------------------------------------------------------------------------------------
# The work of holding data against a schema, counted beforehand.


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

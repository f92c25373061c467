"""Compiled schemas, and what is told of data that breaks them."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from memtree.agents.schema_limits import checked_schema
from memtree.agents.schema_validation import (
    MAX_DATA_BYTES,
    MOST_SHOWN,
    CompiledSchema,
    Violation,
    compiled,
    violation,
    violation_of,
)
from memtree.errors import SchemaInvalid

# ------------------------------------------------------------------------------------------------
# Schemas as they are compiled, and what is told of data that breaks them.


PROFILE = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "pattern": "^[A-Z]"},
        "age": {"type": ["integer", "null"], "minimum": 0, "multipleOf": 2},
        "mood": {"enum": ["good", "bad"]},
        "version": {"const": 2},
        "nick": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "contact": {"oneOf": [{"required": ["mail"]}, {"required": ["phone"]}]},
        "address": {
            "type": "object",
            "properties": {"zip": {"type": "string"}, "lines": {"items": {"type": "string"}}},
            "required": ["zip"],
        },
        "gone": False,
        "more": {"additionalProperties": {"type": "integer"}},
    },
    "required": ["name"],
    "additionalProperties": False,
}


def schema(document: dict[str, Any]) -> CompiledSchema:
    return compiled(checked_schema(json.dumps(document)))


def told(document: dict[str, Any], data: Any) -> str | None:
    found = violation_of(schema(document), data)
    return None if found is None else found.message("data")


def refused(document: dict[str, Any]) -> str:
    with pytest.raises(SchemaInvalid) as caught:
        schema(document)
    return caught.value.message


def test_data_that_keeps_to_it():
    data = {"name": "Ada", "age": 36, "mood": "good", "nick": None, "contact": {"mail": "x"}}
    assert told(PROFILE, data) is None
    assert told(PROFILE, {"name": "Ada", "age": 36.0}) is None


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({}, "data: lacks the required field name"),
        ({"name": 7}, "data.name: must be string"),
        ({"name": "Ada", "age": "x"}, "data.age: must be integer or null"),
        ({"name": "A"}, "data.name: breaks minLength (2)"),
        ({"name": "ada"}, "data.name: breaks pattern (^[A-Z])"),
        ({"name": "Ada", "age": -2}, "data.age: breaks minimum (0)"),
        ({"name": "Ada", "age": 3}, "data.age: breaks multipleOf (2)"),
        ({"name": "Ada", "mood": "so"}, 'data.mood: must be one of ["good","bad"]'),
        ({"name": "Ada", "version": 3}, "data.version: must be 2"),
        ({"name": "Ada", "nick": 7}, "data.nick: must be string or null"),
        ({"name": "Ada", "address": {}}, "data.address: lacks the required field zip"),
        (
            {"name": "Ada", "address": {"zip": "1", "lines": ["a", 7]}},
            "data.address.lines[1]: must be string",
        ),
        ({"name": "Ada", "gone": 1}, "data.gone: is not allowed"),
        (
            {"name": "Ada", "contact": {}},
            "data.contact: fits none of the alternatives of oneOf, or too many of them",
        ),
        (
            {"name": "Ada", "contact": {"mail": 1, "phone": 2}},
            "data.contact: fits none of the alternatives of oneOf, or too many of them",
        ),
        (
            {"name": "Ada", "moood": "good"},
            "data: has a field that the schema does not know (near: mood)",
        ),
        ({"name": "Ada", "zzzzz": "good"}, "data: has a field that the schema does not know"),
        ({"name": "Ada", "more": {"hunter2": "x"}}, "data.more.*: must be integer"),
    ],
)
def test_the_place_and_the_rule(data, says):
    assert told(PROFILE, data) == says


SECRET = "hunter2-in-the-data"
BREAKING: list[Any] = [SECRET, 77.125, [SECRET], {SECRET: SECRET}, [[[SECRET]]], None, True]
RULES: list[dict[str, Any]] = [
    {"type": "string", "maxLength": 3},
    {"type": "number", "maximum": 3, "multipleOf": 7},
    {"enum": [1]},
    {"const": {"a": 1}},
    {"not": True},
    {"anyOf": [{"type": "string", "maxLength": 1}, {"const": 4}]},
    {"oneOf": [True, True]},
    {"maxItems": 0, "maxProperties": 0, "minimum": 90, "minLength": 99, "type": "boolean"},
    {"propertyNames": {"maxLength": 2}, "type": "object"},
    {"contains": {"const": 7}, "uniqueItems": True, "type": "array"},
    {"items": {"items": {"items": {"const": 1}}}, "type": "array"},
    {"patternProperties": {"hunter": {"type": "integer"}}, "type": "object"},
    {"unevaluatedProperties": False, "unevaluatedItems": False, "type": ["object", "array"]},
    {"dependentRequired": {SECRET: ["b"]}, "type": "object"},
    {"if": True, "then": {"type": "object", "required": ["q"]}},
]


@pytest.mark.parametrize("rule", RULES, ids=json.dumps)
def test_no_value_of_the_data_is_told(rule):
    broken = 0
    for value in BREAKING:
        says = told({"type": "object", "properties": {"field": rule}}, {"field": value})
        broken += says is not None
        assert says is None or (
            SECRET not in says.replace(json.dumps(rule), "") or "dependent" in json.dumps(rule)
        )
        assert "77" not in (says or "")
        assert says is None or says.startswith("data.field")
    assert broken


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({"type": "object", "properties": {"a": {"type": "strin"}}}, "#/properties/a/type"),
        ({"type": "object", "properties": {"a": {"minimum": "x"}}}, "#/properties/a/minimum"),
        ({"type": "object", "maxProperties": -1}, "#/maxProperties"),
        ({"type": "object", "properties": {"a": {"multipleOf": 0}}}, "#/properties/a/multipleOf"),
        ({"type": "object", "required": "a"}, "#/required"),
        ({"type": "object", "properties": {"a": 7}}, "#/properties/a"),
        ({"type": "object", "items": [{"type": "string"}]}, "#/items"),
        ({"type": "object", "enum": []}, None),
    ],
)
def test_what_is_no_schema(document, place):
    if place is None:
        assert schema(document)
    else:
        assert f"at {place}:" in refused(document)


@pytest.mark.parametrize(
    "pattern",
    [
        "(?=a)b",
        "(?!a)b",
        "(?<=a)b",
        "(?<!a)b",
        r"(a)\1",
        r"(?<n>a)\k<n>",
        "(a{1000}){1000}",
        "(",
        "[z-a]",
        "a{9999999}",
    ],
)
def test_patterns_that_are_not_matched_in_linear_time(pattern):
    for rule, place in (
        ({"pattern": pattern}, "#/properties/a/pattern"),
        ({"patternProperties": {pattern: True}}, "#/properties/a/patternProperties"),
    ):
        message = refused({"type": "object", "properties": {"a": rule}})
        assert f"at {place}" in message
        assert "the pattern cannot be used" in message


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)+$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(.*a){20}"]
)
def test_catastrophic_patterns_are_matched_in_linear_time(pattern):
    """Under backtracking each of these takes longer than the universe has."""
    document = {"type": "object", "properties": {"a": {"pattern": pattern}}}
    assert told(document, {"a": "b" * 8 + "a" * 3_500 + "!"}) in (
        None,
        f"data.a: breaks pattern ({pattern})",
    )


def test_format_is_a_note():
    document = {
        "type": "object",
        "properties": {"a": {"format": "email"}, "b": {"format": "regex"}},
    }
    assert told(document, {"a": "no mail", "b": "("}) is None


def test_data_that_is_no_json():
    document = {"type": "object", "properties": {"a": {"pattern": "x", "required": ["x"]}}}
    for value in ("\ud800", {1: 2}, object()):
        assert told(document, {"a": value}) == "data: cannot be read as JSON"


def test_data_of_any_size_is_not_held_against_it():
    assert told({"type": "object"}, {"a": "x" * MAX_DATA_BYTES}) == (
        "data: is too much to be held against its schema: send less data, or make the schema "
        "simpler"
    )


def test_alternatives_of_large_data_are_not_told_one_by_one():
    """Each would be told with a copy of the data: 900 of them took half a second and 230 MB."""
    options = [{"required": [f"z{at}"]} for at in range(180)]
    document = {"type": "object", "anyOf": options}
    assert told(document, {"a": ["x"] * 3_000}) == "data: does not keep to its schema"
    assert "alternatives of anyOf" in (told(document, {"a": "x"}) or "")


def test_all_patterns_of_a_schema_have_a_limit_together():
    def fields(count: int) -> dict[str, Any]:
        rules = {f"f{at}": {"pattern": "^[a-z]{1,500}$"} for at in range(count)}
        return {"type": "object", "properties": rules}

    assert schema(fields(32))
    assert "patterns of the schema take more than 2048 KiB" in refused(fields(33))


# What zod 4 makes of a schema of a program.
ZOD: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "mail": {
            "type": "string",
            "format": "email",
            "pattern": (
                r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]"
                r"@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$"
            ),
        },
        "day": {
            "type": "string",
            "format": "date",
            "pattern": (
                r"^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)"
                r"-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-"
                r"(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))$"
            ),
        },
        "age": {"type": "integer", "minimum": -9007199254740991, "maximum": 9007199254740991},
        "share": {
            "type": "number",
            "minimum": -3.4028234663852886e38,
            "maximum": 3.4028234663852886e38,
        },
        "nick": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "scores": {
            "type": "object",
            "propertyNames": {"type": "string"},
            "additionalProperties": {"type": "number"},
        },
        "pair": {
            "type": "array",
            "prefixItems": [{"type": "string"}, {"type": "number"}],
            "items": False,
            "minItems": 2,
        },
        "mood": {"default": "good", "type": "string", "enum": ["good", "bad"]},
        "both": {"type": "string", "allOf": [{"pattern": "^a"}, {"pattern": "b$"}]},
        "size": {"$ref": "#/$defs/__schema0"},
    },
    "required": ["mail"],
    "additionalProperties": False,
    "$defs": {"__schema0": {"type": "string", "const": "x"}},
}


def test_what_zod_writes():
    data = {
        "mail": "ada@mail.example", "day": "2024-02-29", "age": 36, "share": 0.5, "nick": None,
        "scores": {"a": 1}, "pair": ["a", 1], "mood": "bad", "both": "a b", "size": "x",
    }  # fmt: skip
    assert told(ZOD, data) is None
    wrong = {
        "mail": "ada..b@mail.example", "day": "2023-02-29", "age": 2**60, "share": 1e39, "nick": 7,
        "scores": {"a": "b"}, "pair": ["a", 1, 2], "mood": "so", "both": "b", "size": "y",
    }  # fmt: skip
    for name, value in wrong.items():
        assert (told(ZOD, {**data, name: value}) or "").startswith(f"data.{name}"), name


# ------------------------------------------------------------------------------------------------
# Violation.


def of(name: str, **known: object) -> SimpleNamespace:
    return SimpleNamespace(name=name, as_dict=lambda: known, context=None)


def test_names_that_the_schema_does_not_have_are_part_of_the_data():
    found = violation(
        of("type", types=["string"]), ["people", "Ada Lovelace", 3, "age"], {"people", "age"}
    )
    assert found.message("memories[0].data") == "memories[0].data.people.*[3].age: must be string"
    assert found.place("data") == "data.people.*[3].age"


def test_long_rules_are_cut():
    told = violation(of("enum", options=["x" * 30] * 30), [], ()).rule
    assert len(told) < MOST_SHOWN + 20
    assert told.endswith("…")


def test_a_rule_that_is_not_known_here_is_named():
    assert violation(of("newKeyword"), [], ()) == Violation((), "breaks newKeyword")


def test_only_the_first_unknown_fields_are_compared():
    fields = [f"moo{at}" for at in range(10_000)]
    told = violation(of("additionalProperties", unexpected=fields), [], {"mood", "age"}).rule
    assert told == "has a field that the schema does not know (near: mood)"

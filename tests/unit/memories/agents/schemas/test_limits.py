"""Schemas that are refused before anything compiles them, and which limit each is over."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.errors import SchemaInvalid
from memtree.memories.agents.schemas.limits import MAX_EXPANDED, MAX_UNIQUE, checked_schema
from memtree.memories.agents.schemas.sub_schemas import MAX_DEPTH, MAX_WRITTEN

PROFILE = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "address": {"type": "object", "properties": {"zip": {"type": "string"}}},
    },
    "required": ["name", "email"],
}


def refused(document: Any, *unique_on: str) -> str:
    with pytest.raises(SchemaInvalid) as caught:
        checked_schema(document if isinstance(document, str) else json.dumps(document), unique_on)
    return caught.value.message


def doubling(times: int) -> dict[str, Any]:
    """Each definition uses the one before it twice."""
    definitions: dict[str, Any] = {"n0": {"type": "object"}}
    for at in range(1, times + 1):
        definitions[f"n{at}"] = {"allOf": [{"$ref": f"#/$defs/n{at - 1}"}] * 2}
    return {"$defs": definitions, "$ref": f"#/$defs/n{times}"}


def nested(levels: int) -> dict[str, Any]:
    document: dict[str, Any] = {"type": "object"}
    for _ in range(levels - 1):
        document = {"type": "object", "properties": {"a": document}}
    return document


def test_a_schema_tells_its_fields():
    found = checked_schema(json.dumps(PROFILE), ["name", "kind"])
    assert found.properties == {"name", "address"}
    assert found.names == {"name", "address", "zip", "email"}
    assert found.expanded == 4


def test_doubling_references_are_counted_as_often_as_they_are_used():
    assert checked_schema(json.dumps(doubling(6))).expanded <= MAX_EXPANDED
    for times in (9, 25):
        assert f"more than {MAX_EXPANDED:,} sub-schemas" in refused(doubling(times))


def test_unevaluated_fields_count_what_is_beside_them_twice():
    document: dict[str, Any] = {"type": "object"}
    for _ in range(12):
        document = {"type": "object", "allOf": [document], "unevaluatedProperties": False}
    assert f"more than {MAX_EXPANDED:,} sub-schemas" in refused(document)


def test_depth():
    checked_schema(json.dumps(nested(MAX_DEPTH)))
    assert f"deeper than {MAX_DEPTH} levels" in refused(nested(MAX_DEPTH + 1))


def test_the_number_of_sub_schemas():
    def with_fields(count: int) -> dict[str, Any]:
        return {"type": "object", "properties": {f"f{at}": True for at in range(count)}}

    checked_schema(json.dumps(with_fields(MAX_WRITTEN - 1)))
    assert f"more than {MAX_WRITTEN} sub-schemas" in refused(with_fields(MAX_WRITTEN))


@pytest.mark.parametrize(
    "target",
    [
        "file:///etc/passwd",
        "http://127.0.0.1:1/schema.json",
        "//host/share",
        "other.json#/$defs/a",
        "urn:uuid:9f8b",
        "#name",
        "#/nowhere",
        "#/required/0",
        "#/properties",
        "#/$defs/a~",
        "",
        7,
        None,
        ["#"],
    ],
)
def test_references_stay_inside(target):
    document = {"type": "object", "properties": {"a": {"$ref": target}}, "required": ["a"]}
    assert "#/properties/a: $ref" in refused(document)


@pytest.mark.parametrize("name", ["a", "a b", "a/b", "a~b", "a%25", "ä", "", '"', "$ref", "a#b"])
def test_references_find_any_name(name):
    pointer = name.replace("~", "~0").replace("/", "~1").replace("%", "%25")
    for keyword in ("$defs", "definitions"):
        document = {
            "type": "object",
            keyword: {name: {"type": "object", "properties": {"x": True}}},
            "allOf": [{"$ref": f"#/{keyword}/{pointer}"}],
        }
        assert checked_schema(json.dumps(document)).properties == {"x"}


@pytest.mark.parametrize(
    "document",
    [
        {"type": "object", "$ref": "#"},
        {"type": "object", "properties": {"a": {"items": {"$ref": "#"}}}},
        {
            "type": "object",
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}},
        },
        {"type": "object", "$defs": {"a": {"$ref": "#/$defs/a"}}},
    ],
)
def test_a_schema_may_not_hold_itself(document):
    assert "may not hold itself" in refused(document)


@pytest.mark.parametrize(
    "keyword", ["$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$vocabulary"]
)
def test_keywords_that_change_what_references_mean(keyword):
    assert keyword in refused({"type": "object", "items": {keyword: "#a"}})


def test_an_address_of_its_own_means_nothing_at_the_top_and_is_refused_below():
    document = {
        "$id": "https://example.com/a.json",
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": "#/$defs/a",
        "$defs": {"a": {"type": "object"}},
    }
    assert set(checked_schema(json.dumps(document)).document) == {"$ref", "$defs"}
    assert "$id must be string" in refused({**document, "$id": None})
    assert "$id may stand at the top alone" in refused(
        {"type": "object", "properties": {"a": {"$id": "b"}}}
    )


@pytest.mark.parametrize(
    "draft", ["http://json-schema.org/draft-07/schema#", "https://example.com/own", "", 7, {}]
)
def test_other_drafts(draft):
    assert "$schema must be" in refused({"$schema": draft, "type": "object"})


@pytest.mark.parametrize(
    "document",
    [
        {"type": "string"},
        {"type": ["object", "null"]},
        {"type": "array", "properties": {"a": True}},
        {},
        {"anyOf": [{"type": "object"}, {"type": "string"}]},
        {"anyOf": []},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}},
    ],
)
def test_the_top_describes_an_object(document):
    assert "must describe an object" in refused(document)


@pytest.mark.parametrize(
    "document",
    [
        {"type": "object"},
        {"type": ["object"]},
        {"properties": {"a": True}},
        {"oneOf": [{"type": "object"}, {"properties": {}}]},
        {"allOf": [{"minProperties": 1}, {"type": "object"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}},
    ],
)
def test_ways_to_describe_an_object(document):
    assert checked_schema(json.dumps(document))


@pytest.mark.parametrize("text", ["true", "[]", "null", '"{}"', "7"])
def test_no_object_at_all(text):
    assert refused(text) == "the schema must be a JSON object"


def test_unique_names_are_fields_at_the_top():
    assert "uniqueOn[1]" in refused(PROFILE, "name", "zip")
    assert f"more than {MAX_UNIQUE} names" in refused(PROFILE, *["name"] * (MAX_UNIQUE + 1))
    options = {"oneOf": [{"properties": {"a": True}}, {"properties": {"b": True}}]}
    assert checked_schema(json.dumps(options), ["a", "b"]).properties == {"a", "b"}


def test_values_are_no_schemas():
    """A value that looks like a reference is left as it is."""
    values = {"$ref": "file:///etc/passwd", "$id": "http://example.com/"}
    document = {
        "type": "object",
        "enum": [values],
        "default": values,
        "examples": [values],
        "x-own": values,
        "properties": {"a": {"const": values}, "$ref": {"type": "string"}},
    }
    assert checked_schema(json.dumps(document)).document == document

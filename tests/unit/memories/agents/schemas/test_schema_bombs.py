"""Schemas that want to read what is not theirs, and schemas of any shape: each is refused by name,
or means what the draft says."""

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

from memtree.errors import SchemaInvalid
from memtree.memories.agents.schemas.limits import checked_schema
from memtree.memories.agents.schemas.validation import CompiledSchema, compiled, violation_of
from tests.hostile_texts import hostile

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

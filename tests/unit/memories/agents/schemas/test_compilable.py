from __future__ import annotations

import json
from typing import Any

from memtree.memories.agents.schemas.limits import CompilableDocument
from memtree.memories.agents.schemas.sub_schemas import sub_schemas


def of(document: Any) -> CompilableDocument:
    return CompilableDocument(sub_schemas(json.loads(json.dumps(document))))


def test_what_need_not_change_stays():
    document = {"type": "object", "properties": {"a": {"enum": [{"$ref": "#/x"}], "title": "t"}}}
    assert of(document).document == document


def test_references_are_spelled_one_way():
    document = {"$defs": {"a b": True, "c/d": {"$ref": "#/$defs/a b"}}, "$ref": "#/%24defs/c~1d"}
    assert of(document).document == {
        "$defs": {"a b": True, "c/d": {"$ref": "#/%24defs/a%20b"}},
        "$ref": "#/%24defs/c~1d",
    }


def test_a_base_address_means_nothing():
    document = {"$id": "https://example.com/", "$schema": "x", "properties": {"$id": True}}
    del document["$schema"]
    assert of(document).document == {"properties": {"$id": True}}


def test_patterns_are_spelled_for_the_engine():
    found = of({"pattern": r"\d", "properties": {"pattern": {"pattern": "a"}}})
    assert found.document == {"pattern": r"[\d]", "properties": {"pattern": {"pattern": "a"}}}
    assert found.patterns == {r"[\d]": r"\d", "a": "a"}


def test_two_spellings_of_one_pattern_both_stay():
    found = of({"patternProperties": {r"\d": {"minimum": 1}, r"[\d]": {"maximum": 2}}})
    assert list(found.document["patternProperties"].values()) == [{"minimum": 1}, {"maximum": 2}]


def test_what_is_posted_is_not_changed():
    document = {"pattern": r"\d", "$id": "a"}
    of(document)
    assert document == {"pattern": r"\d", "$id": "a"}

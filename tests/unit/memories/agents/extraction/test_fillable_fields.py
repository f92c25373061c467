from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.memories.agents.extraction.fillable_fields import FieldType, kind_fields
from memtree.memories.agents.schemas.memory_schema import MemorySchema


def types(properties: dict[str, Any], **more: Any) -> dict[str, FieldType]:
    document = {"type": "object", "properties": properties, **more}
    kind = kind_fields(MemorySchema("UserProfile", json.dumps(document)))
    return {".".join(one.path): one.type for one in kind.fields}


def test_types_of_fields() -> None:
    assert types(
        {
            "a": {"type": "string"},
            "b": {"type": "string", "format": "date"},
            "c": {"type": "array", "items": {"type": "string"}},
            "d": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "e": {"$ref": "#/$defs/flag"},
            "f": {"type": "object", "properties": {"g": {"type": "number"}}},
        },
        **{"$defs": {"flag": {"type": "boolean"}}},
    ) == {
        "a": FieldType.STRING,
        "b": FieldType.DATE,
        "c": FieldType.STRINGS,
        "d": FieldType.INTEGER,
        "e": FieldType.BOOLEAN,
        "f.g": FieldType.NUMBER,
    }


def test_what_is_not_read() -> None:
    assert (
        types(
            {
                "a": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                "b": {"const": 1},
                "c": {"type": "array", "items": {"type": "integer"}},
                "d": {"$ref": "#/$defs/d"},
                "e": True,
                "f": {"enum": [1, 2]},
                "g": {"type": "string", "format": "uuid"},
            },
            **{"$defs": {"d": {"$ref": "#/$defs/d"}}},
        )
        == {}
    )


def test_a_document_that_is_none_has_no_fields() -> None:
    for document in ("", "[]", "{", '{"properties": 1, "required": 2}', "[" * 100_000):
        assert kind_fields(MemorySchema("UserProfile", document)).fields == ()


@pytest.mark.parametrize(
    ("kind", "description", "about_user", "of_user"),
    [
        ("UserProfile", "", True, True),
        ("AboutMe", "", True, True),
        ("Diet", "", False, True),
        ("Diet", "What the user eats", True, True),
        ("Diet", "The user's diet", False, True),
        ("Customers", "", False, True),
        ("PetProfile", "", False, False),
        ("ContactInfo", "", False, False),
        ("Car", "", False, False),
    ],
)
def test_whose_fields_they_are(
    kind: str, description: str, about_user: bool, of_user: bool
) -> None:
    made = kind_fields(MemorySchema(kind, "{}", (), description))
    assert (made.about_user, made.of_user) == (about_user, of_user)

"""Shapes of schemas: what is posted and what is answered."""

from __future__ import annotations

from memtree.memories.agents.schemas.document.limits import MAX_EXPANDED, MAX_UNIQUE
from memtree.memories.agents.schemas.document.schema_text import MAX_BYTES
from memtree.memories.agents.schemas.document.sub_schemas import MAX_DEPTH, MAX_WRITTEN
from memtree.memories.agents.schemas.memory_schema import MAX_SCHEMAS
from memtree.memories.agents.schemas.schema_fields import MAX_DESCRIPTION_CHARS
from memtree_proxy.wire import parameter
from memtree_proxy.wire.json_schema import (
    NULL,
    STRING,
    Json,
    array,
    described,
    either,
    object_of,
    posted,
    schema,
)
from memtree_proxy.wire.types import KIND, NO_NUL

_TRUE: Json = {"const": True}
_MILLISECONDS = described({"type": "integer"}, "Milliseconds since 1970.")
_OBJECT: Json = {"type": "object"}
_NAMES = array(STRING)
_RULES = (
    "JSON Schema, draft 2020-12, of an object. At most "
    f"{MAX_BYTES:,} bytes, sub-schemas {MAX_DEPTH} deep, {MAX_WRITTEN} of them, and "
    f"{MAX_EXPANDED:,} where each is counted as often as `$ref` uses it. `$ref` stays inside the "
    "document and does not come back to itself; patterns do not look around or back; `format` is "
    "a note."
)
_UNIQUE = (
    "Names of fields at the top: a new memory takes the place of one of the same agent, subject "
    "and kind that has the same values there. `kind` itself: there is one memory of the kind."
)
_ROW = {
    "name": described(STRING, "The same as `kind`."),
    "kind": KIND,
    "description": STRING,
    "uniqueOn": _NAMES,
    "schema": described(STRING, "JSON, as it was posted."),
    "json_schema": described(_OBJECT, "The same, not inside a string."),
    "createdAt": _MILLISECONDS,
    "updatedAt": _MILLISECONDS,
}
SCHEMAS: dict[str, Json] = {
    "MemorySchema": object_of(_ROW, description="What memories of a kind must look like."),
    "MemorySchemas": object_of(
        {
            "success": _TRUE,
            "schemas": array(schema("MemorySchema"), maxItems=MAX_SCHEMAS),
        }
    ),
    "KeptSchema": object_of({"success": _TRUE, "schema": schema("MemorySchema")}),
    "ChangedSchema": object_of(
        {"success": _TRUE, "updated": _TRUE, "schema": schema("MemorySchema")}
    ),
    "Success": object_of({"success": _TRUE}),
}


def parameters() -> dict[str, Json]:
    """Return `components.parameters` of schemas, by name."""
    return {"kind": parameter.path("kind", "The kind of memories that the schema is of.", KIND)}


def bodies() -> dict[str, Json]:
    """Schemas of what is posted."""
    document = described(either(_OBJECT, {**STRING, "maxLength": MAX_BYTES}), _RULES)
    nothing = {"json_schema": NULL, "schema": NULL}
    forms = [{**nothing, "schema": document}, {**nothing, "json_schema": document}]
    unique = {**_NAMES, "maxItems": MAX_UNIQUE}
    either_name = [
        {"uniqueOn": described(either(unique, NULL), _UNIQUE), "unique_on": NULL},
        {"uniqueOn": NULL, "unique_on": described(either(unique, NULL), "The same.")},
    ]
    text: Json = {**NO_NUL, "type": "string", "maxLength": MAX_DESCRIPTION_CHARS}
    more = {"description": described(either(text, NULL), "What it is for.")}

    def both(named: Json, required: tuple[str, ...] = ()) -> Json:
        """In either form, and under either name of the other field."""
        options = [
            object_of({**named, **form, **names, **more}, (*required, field))
            for form, field in zip(forms, ("schema", "json_schema"), strict=True)
            for names in either_name
        ]
        return {"anyOf": options}

    kept = [object_of({**form, **names, **more}, ()) for form in forms for names in either_name]
    says = [
        {"required": [name], "properties": {name: {"not": NULL}}}
        for name in ("schema", "json_schema", "uniqueOn", "unique_on", "description")
    ]
    return {
        "NewSchema": both({}),
        "NamedSchema": both({"name": KIND}, ("name",)),
        "SchemaChange": {"allOf": [{"anyOf": kept}, {"anyOf": says}]},
    }


_PROFILE: Json = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "favoriteColor": {"type": "string"}},
    "required": ["name"],
}
_TEXT = '{"type":"object","properties":{"task":{"type":"string"}},"required":["task"]}'
_EXAMPLES: dict[str, dict[str, Json]] = {
    "NewSchema": {"profile": {"json_schema": _PROFILE, "uniqueOn": ["name"]}},
    "NamedSchema": {
        "reminder": {"name": "Reminder", "description": "What is to be done.", "schema": _TEXT}
    },
    "SchemaChange": {"unique": {"uniqueOn": ["kind"]}},
}


def request_bodies() -> dict[str, Json]:
    """`components.requestBodies`."""
    return {name: posted([name], examples) for name, examples in _EXAMPLES.items()}

"""Build JSON Schema with short functions, used by all parts of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Json = dict[str, Any]

STRING: Json = {"type": "string"}
BOOLEAN: Json = {"type": "boolean"}
COUNT: Json = {"type": "integer", "minimum": 0}
NULL: Json = {"type": "null"}


def ref(kind: str, name: str) -> Json:
    return {"$ref": f"#/components/{kind}/{name}"}


def schema(name: str) -> Json:
    return ref("schemas", name)


def described(shape: Json, description: str, **more: Any) -> Json:
    """Return the schema with a description."""
    return {**shape, "description": description, **more}


def either(*shapes: Json) -> Json:
    return {"anyOf": list(shapes)}


def array(items: Json, **more: Any) -> Json:
    return {"type": "array", "items": items, **more}


def object_of(
    properties: Mapping[str, Json], required: Iterable[str] | None = None, **more: Any
) -> Json:
    """Return the schema of an object. `required`: defaults to all properties. Further fields are
    allowed."""
    names = list(properties) if required is None else list(required)
    listed: Json = {"required": names} if names else {}
    return {"type": "object", "properties": dict(properties), **listed, **more}


def when_given(name: str, other: Json = NULL) -> Json:
    """Return keywords that match an object in which the field is neither null nor `other`."""
    return {"required": [name], "properties": {name: {"not": other}}}


def content(shape: Json, media: str = "application/json", **more: Any) -> Json:
    return {media: {"schema": shape, **more}}


def posted(shapes: Sequence[str], examples: Mapping[str, Json]) -> Json:
    """Return a request body of one of these shapes. `examples`: by name."""
    shape = schema(shapes[0]) if len(shapes) == 1 else either(*map(schema, shapes))
    shown = {
        name: {"summary": name.capitalize(), "value": value} for name, value in examples.items()
    }
    return {"required": True, "content": content(shape, examples=shown)}

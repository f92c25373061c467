"""JSON Schemas of the tools, from the Structs of their arguments and answers."""

from __future__ import annotations

from typing import Any

import msgspec

Json = dict[str, Any]
_NULL = {"type": "null"}
_LEFT_OUT = ("title", "pattern")  # not every provider knows every pattern


def arguments_schema(kind: type[msgspec.Struct]) -> Json:
    """Return the schema of arguments, without null, which means absent."""
    made: Json = _without_null(schema_of(kind))
    return {**made, "required": made.get("required", [])}


def schema_of(kind: type[msgspec.Struct]) -> Json:
    """Return the schema of a Struct in one piece: without references, which some clients do not
    follow."""
    _, parts = msgspec.json.schema_components([kind])
    made: Json = _inlined(parts[kind.__name__], parts)
    return made


def _inlined(value: Any, parts: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_inlined(one, parts) for one in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        inner = parts[value["$ref"].rpartition("/")[2]]
        return _inlined({**inner, **{k: v for k, v in value.items() if k != "$ref"}}, parts)
    return {
        name: _inlined(one, parts)
        for name, one in value.items()
        if not (name in _LEFT_OUT and isinstance(one, str)) and (name, one) != ("default", None)
    }


def _without_null(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_null(one) for one in value]
    if not isinstance(value, dict):
        return value
    made = {name: _without_null(one) for name, one in value.items()}
    if "enum" in made:
        made["enum"] = [one for one in made["enum"] if one is not None]
    choices = [one for one in made.get("anyOf", ()) if one != _NULL]
    if len(choices) == 1:
        return {**choices[0], **{name: one for name, one in made.items() if name != "anyOf"}}
    return made | {"anyOf": choices} if choices else made

"""JSON Schemas of the tools, from the Structs of their arguments and answers."""

from __future__ import annotations

from typing import Any

import msgspec

Json = dict[str, Any]
_NULL = {"type": "null"}


def schema_of(kind: type[msgspec.Struct]) -> Json:
    """Return the schema of a Struct in one piece: without references, which some clients do not
    follow, and without null, which means absent."""
    _, parts = msgspec.json.schema_components([kind])
    made: Json = _inlined(parts[kind.__name__], parts)
    return {**made, "required": made.get("required", [])}


def _inlined(value: Any, parts: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_inlined(one, parts) for one in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        inner = parts[value["$ref"].rpartition("/")[2]]
        return _inlined({**inner, **{k: v for k, v in value.items() if k != "$ref"}}, parts)
    made = {
        name: _inlined(one, parts)
        for name, one in value.items()
        if not (name == "title" and isinstance(one, str))
        and not (name == "default" and one is None)
    }
    choices = [one for one in made.get("anyOf", ()) if one != _NULL]
    if len(choices) == 1:
        return {**choices[0], **{name: one for name, one in made.items() if name != "anyOf"}}
    return made | {"anyOf": choices} if choices else made

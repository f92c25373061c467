"""Define requests, in either of two forms, and answers for schemas.

`PUT /schemas/{kind}` takes `json_schema`, `POST /schemas` takes `name` and `schema`; each also
accepts the other's fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import msgspec

from memtree.errors import BadRequest
from memtree.memories.agents.lifetime import milliseconds
from memtree.memories.agents.schemas.document.limits import MAX_EXPANDED, MAX_UNIQUE
from memtree.memories.agents.schemas.document.schema_text import MAX_BYTES
from memtree.memories.agents.schemas.document.sub_schemas import MAX_DEPTH, MAX_WRITTEN
from memtree.memories.agents.schemas.memory_schema import MAX_SCHEMAS, MemorySchema
from memtree.memories.agents.schemas.schema_book import Document, SchemaChange
from memtree.memories.agents.schemas.schema_fields import MAX_DESCRIPTION_CHARS
from memtree.wire.json_body import Body
from memtree_proxy.request import fields
from memtree_proxy.wire.answer import SUCCESS, Answer, Shown, shown, shown_each
from memtree_proxy.wire.json_schema import (
    STRING,
    array,
    either,
    schema,
)
from memtree_proxy.wire.shape import NOT_NULL, PostedFields, Shape, Type, read
from memtree_proxy.wire.types import A_KIND, KIND, MILLISECONDS, NO_NUL, TRUE

MAX_NAMES = 100
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
_SAME = (("json_schema", "schema"), ("uniqueOn", "unique_on"))  # pairs of names for one field

# -- posted ----------------------------------------------------------------------------------


def _document(raw: bytes, name: str) -> str:
    """Return the posted JSON text of a schema, given as an object or inside a string."""
    if raw[:1] == b"{":
        return raw.decode()
    if raw[:1] != b'"':
        raise BadRequest(f"{name} must be an object, or its JSON as a string", param=name)
    try:
        return msgspec.json.decode(raw, type=str)
    except msgspec.DecodeError as error:
        raise BadRequest(f"{name} is not valid JSON: {error}", param=name) from error


def _field_names(value: object, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(field_name, str) for field_name in value):
        raise BadRequest(f"{name} must be an array of strings", param=name)
    if len(value) > MAX_NAMES:
        raise BadRequest(f"{name} must be at most {MAX_NAMES}", param=name)
    return tuple(value)


_DOCUMENT = Type(
    either({"type": "object"}, {**STRING, "maxLength": MAX_BYTES}), _document, raw=True
)
_NAMES = Type(array(STRING, maxItems=MAX_UNIQUE), _field_names)
_TEXT = Type({**NO_NUL, "type": "string", "maxLength": MAX_DESCRIPTION_CHARS}, fields.text)


class PostedSchema(Shape, frozen=True, kw_only=True):
    json_schema: Annotated[str | None, _DOCUMENT, _RULES, NOT_NULL] = msgspec.field(
        default=None, name="json_schema"
    )
    schema: Annotated[str | None, _DOCUMENT, _RULES, NOT_NULL] = None
    unique_on: Annotated[tuple[str, ...] | None, _NAMES, _UNIQUE] = None
    unique_on_too: Annotated[tuple[str, ...] | None, _NAMES, "The same."] = msgspec.field(
        default=None, name="unique_on"
    )
    description: Annotated[str | None, _TEXT, "What it is for."] = None

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        assert isinstance(given, PostedFields)
        for first, second in _SAME:
            if given.is_given(first) and given.is_given(second):
                raise BadRequest(f"{first} and {second} are one field: send one", param=second)

    def change(self) -> SchemaChange:
        return SchemaChange(
            self.schema if self.json_schema is None else self.json_schema,
            self.unique_on_too if self.unique_on is None else self.unique_on,
            self.description,
        )


class SchemaName(Shape, frozen=True):
    name: Annotated[str, A_KIND]


class NewSchema(NamedTuple):
    document: Document
    unique_on: Sequence[str]
    description: str


def new_schema(body: Body, required: str = "json_schema") -> NewSchema:
    """Read a schema in either form. `required`: the field that an error names if it is missing."""
    change = read(PostedSchema, body).change()
    if change.document is None:
        raise BadRequest(f"{required} is required", param=required)
    return NewSchema(change.document, change.unique_on or (), change.description or "")


def named_schema(body: Body) -> tuple[str, NewSchema]:
    """Read a kind and its schema."""
    return read(SchemaName, body).name, new_schema(body, "schema")


def schema_change(body: Body) -> SchemaChange:
    """Read a change of a schema. Raises `BadRequest` if it has no field."""
    change = read(PostedSchema, body).change()
    if change == SchemaChange():
        raise BadRequest("one of description, schema and uniqueOn is required", param="schema")
    return change


# -- answered --------------------------------------------------------------------------------

SCHEMA: Answer[MemorySchema] = {
    "name": Shown(STRING, "kind", "The same as `kind`."),
    "kind": Shown(KIND),
    "description": Shown(STRING),
    "uniqueOn": Shown(array(STRING), "unique_on"),
    "schema": Shown(STRING, "document", "JSON, as it was posted."),
    "json_schema": Shown(
        {"type": "object"},
        lambda schema: msgspec.Raw(schema.document.encode()),
        "The same, not inside a string.",
    ),
    "createdAt": Shown(MILLISECONDS, lambda schema: milliseconds(schema.created)),
    "updatedAt": Shown(MILLISECONDS, lambda schema: milliseconds(schema.updated)),
}
_NAMED = schema("MemorySchema")
ALL: Answer[list[MemorySchema]] = {
    **SUCCESS,
    "schemas": Shown(
        array(_NAMED, maxItems=MAX_SCHEMAS), lambda schemas: shown_each(SCHEMA, schemas)
    ),
}
_KEPT: Answer[MemorySchema] = {"schema": Shown(_NAMED, lambda schema: shown(SCHEMA, schema))}
KEPT: Answer[MemorySchema] = {**SUCCESS, **_KEPT}
CHANGED: Answer[MemorySchema] = {
    **SUCCESS, "updated": Shown(TRUE, lambda schema: True), **_KEPT
}  # fmt: skip

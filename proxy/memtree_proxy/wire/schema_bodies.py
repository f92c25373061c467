"""Requests, in either of two forms, and answers of schemas.

`PUT /schemas/{kind}` takes `json_schema`, `POST /schemas` takes `name` and `schema`; each also
accepts the other's fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from memtree.agents.memory_schema import MemorySchema
from memtree.agents.schema_book import Document, SchemaChange
from memtree.errors import BadRequest
from memtree.memories.checked_fields import milliseconds
from memtree_proxy.http.decoding import FieldError, Posted
from memtree_proxy.wire.values import Answer, Kind, Success

MAX_NAMES = 100
_ABSENT = msgspec.Raw(b"null")
_Names = Annotated[list[str], Meta(max_length=MAX_NAMES)]

# -- posted ----------------------------------------------------------------------------------


class SchemaFields(Posted, frozen=True, kw_only=True):
    """Fields of a schema, of which two have two names each. Documents stay as they are written."""

    json_schema: msgspec.Raw = msgspec.field(default_factory=lambda: _ABSENT)
    schema: msgspec.Raw = msgspec.field(default_factory=lambda: _ABSENT)
    unique_on: _Names | None = msgspec.field(default=None, name="uniqueOn")
    unique_on_too: _Names | None = msgspec.field(default=None, name="unique_on")
    description: str | None = None

    def check(self) -> None:
        given = _document(self.json_schema, "json_schema"), _document(self.schema, "schema")
        if None not in given:
            raise FieldError("schema", "and json_schema are one field: send one")
        if self.unique_on is not None and self.unique_on_too is not None:
            raise FieldError("unique_on", "and uniqueOn are one field: send one")

    def change(self) -> SchemaChange:
        document = _document(self.json_schema, "json_schema")
        if document is None:
            document = _document(self.schema, "schema")
        unique = self.unique_on_too if self.unique_on is None else self.unique_on
        return SchemaChange(document, None if unique is None else tuple(unique), self.description)


class NewSchema(SchemaFields, frozen=True, kw_only=True):
    def parts(self, required: str = "json_schema") -> tuple[Document, Sequence[str], str]:
        """Return document, unique fields and description. `required`: the field that an error names
        if there is no document."""
        change = self.change()
        if change.document is None:
            raise BadRequest(f"{required} is required", param=required)
        return change.document, change.unique_on or (), change.description or ""


class NamedSchema(NewSchema, frozen=True, kw_only=True):
    name: Kind


class SchemaEdit(SchemaFields, frozen=True, kw_only=True):
    def check(self) -> None:
        super().check()
        if self.change() == SchemaChange():
            raise FieldError("schema", "description or uniqueOn is required")


def _document(raw: msgspec.Raw, name: str) -> str | None:
    """Return the JSON text of a schema, given as an object or inside a string. Raises
    `FieldError`."""
    text = bytes(raw)
    if text == b"null":
        return None
    if text[:1] == b"{":
        return text.decode()
    if text[:1] != b'"':
        raise FieldError(name, "must be an object, or its JSON as a string")
    return msgspec.json.decode(text, type=str)


# -- answered --------------------------------------------------------------------------------


class ShownSchema(Answer, frozen=True, kw_only=True):
    """Schema of the memories of a kind."""

    name: str
    kind: str
    description: str
    unique_on: Sequence[str] = msgspec.field(name="uniqueOn")
    schema: str
    json_schema: msgspec.Raw
    created_at: int = msgspec.field(name="createdAt")
    updated_at: int = msgspec.field(name="updatedAt")

    @classmethod
    def of(cls, schema: MemorySchema) -> ShownSchema:
        return cls(
            name=schema.kind,
            kind=schema.kind,
            description=schema.description,
            unique_on=schema.unique_on,
            schema=schema.document,
            json_schema=msgspec.Raw(schema.document.encode()),
            created_at=milliseconds(schema.created),
            updated_at=milliseconds(schema.updated),
        )


class MemorySchemas(Success, frozen=True, kw_only=True):
    schemas: Sequence[ShownSchema]


class KeptSchema(Success, frozen=True, kw_only=True):
    schema: ShownSchema


class ChangedSchema(Success, frozen=True, kw_only=True):
    updated: Literal[True] = True
    schema: ShownSchema

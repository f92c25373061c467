"""The fields of requests about schemas, in both forms: `PUT /schemas/{kind}` with `json_schema`,
and `POST /schemas` with `name` and `schema`. A wrong type is a 400 that names the field, null
means absent."""

from __future__ import annotations

from typing import NamedTuple

from memtree.errors import BadRequest
from memtree.memories.agents.schemas.memory_schema import checked_kind
from memtree.memories.agents.schemas.schema_book import SchemaChange
from memtree.wire.json_body import Body
from memtree_proxy.request import fields

NAME, DESCRIPTION = "name", "description"
DOCUMENTS = ("json_schema", "schema")  # names of one field
UNIQUE_ON = ("uniqueOn", "unique_on")
MAX_NAMES = 100

_NULL = b"null"


class PostedSchema(NamedTuple):
    document: str
    unique_on: tuple[str, ...]
    description: str


class NamedSchema(NamedTuple):
    name: str
    schema: PostedSchema


def schema(body: Body) -> PostedSchema:
    document = _document(body)
    if document is None:
        raise BadRequest(f"{DOCUMENTS[0]} is required", param=DOCUMENTS[0])
    return PostedSchema(document, _unique_on(body) or (), _description(body) or "")


def named_schema(body: Body) -> NamedSchema:
    name = body.value(NAME)
    if name is None:
        raise BadRequest(f"{NAME} is required", param=NAME)
    checked_kind(name, NAME)
    if _document(body) is None:
        raise BadRequest("schema is required", param="schema")
    return NamedSchema(name, schema(body))


def change(body: Body) -> SchemaChange:
    """At least one field."""
    schema_change = SchemaChange(_document(body), _unique_on(body), _description(body))
    if schema_change == SchemaChange():
        raise BadRequest("one of description, schema and uniqueOn is required", param="schema")
    return schema_change


def _document(body: Body) -> str | None:
    """Its JSON text as it was posted, inside a string or as an object."""
    name = _given(body, DOCUMENTS)
    raw = None if name is None else body.fragment(name)
    if name is None or raw is None:
        return None
    if raw[:1] == b"{":
        return raw.decode()
    if raw[:1] != b'"':
        raise BadRequest(f"{name} must be an object, or its JSON as a string", param=name)
    text = body.value(name)
    assert isinstance(text, str)
    return text


def _unique_on(body: Body) -> tuple[str, ...] | None:
    name = _given(body, UNIQUE_ON)
    if name is None:
        return None
    value = body.value(name)
    if not isinstance(value, list) or not all(isinstance(field_name, str) for field_name in value):
        raise BadRequest(f"{name} must be an array of strings", param=name)
    if len(value) > MAX_NAMES:
        raise BadRequest(f"{name} must be at most {MAX_NAMES}", param=name)
    return tuple(value)


def _description(body: Body) -> str | None:
    return fields.text(body.value(DESCRIPTION), DESCRIPTION)


def _given(body: Body, names: tuple[str, str]) -> str | None:
    given = [name for name in names if body.fragment(name) not in (None, _NULL)]
    if len(given) > 1:
        raise BadRequest(f"{given[0]} and {given[1]} are one field: send one", param=given[1])
    return given[0] if given else None

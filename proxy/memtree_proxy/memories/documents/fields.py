"""The fields of requests about documents, read strictly: a wrong type is a 400 that names the
field, a number out of range is clamped, null means absent."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from memtree.errors import BadRequest, MemTreeError, RequestTooLarge
from memtree.memories.documents.document import NewDocument, checked
from memtree.wire.json_body import Body
from memtree_proxy.memories.fields import MAX_HITS, MAX_ROWS, limit, searched
from memtree_proxy.request import fields

MAX_DOCUMENTS = 100  # of one request
MAX_CHARACTERS = 16 << 20  # of all their texts
HITS, ROWS = 5, 100  # by default
DOCUMENTS = "documents"

_FIELDS = ("id", "text", "type", "metadata")


class PostedDocuments(NamedTuple):
    documents: list[NewDocument]
    single: bool


class PageQuery(NamedTuple):
    type: str | None
    limit: int
    cursor: str | None


class PassageQuery(NamedTuple):
    query: str
    type: str | None
    limit: int
    least: float


def posted(body: Body) -> PostedDocuments:
    """Read the posted documents: the list `documents`, or the fields of a single one. All are
    checked before any is stored."""
    if not _given(body, DOCUMENTS):
        return PostedDocuments([document(body.value)], single=True)
    return PostedDocuments(_documents(body), single=False)


def _documents(body: Body) -> list[NewDocument]:
    if any(_given(body, name) for name in _FIELDS):
        raise BadRequest(
            f"{DOCUMENTS} excludes the other fields: each document has an id and a text of its own",
            param=DOCUMENTS,
        )
    rows = body.value(DOCUMENTS)
    if not isinstance(rows, list) or not rows:
        raise BadRequest(f"{DOCUMENTS} must be a non-empty array", param=DOCUMENTS)
    if len(rows) > MAX_DOCUMENTS:
        raise BadRequest(f"{DOCUMENTS} must be at most {MAX_DOCUMENTS}", param=DOCUMENTS)
    texts = [row.get("text") for row in rows if isinstance(row, dict)]
    if sum(len(text) for text in texts if isinstance(text, str)) > MAX_CHARACTERS:
        raise RequestTooLarge(
            f"{DOCUMENTS} have more than {MAX_CHARACTERS} characters together", param=DOCUMENTS
        )
    documents = [_listed(row, f"{DOCUMENTS}[{at}]") for at, row in enumerate(rows)]
    ids = [new_document.id for new_document in documents]
    twice = next((at for at, id_ in enumerate(ids) if id_ in ids[:at]), None)
    if twice is not None:
        place = f"{DOCUMENTS}[{twice}].id"
        raise BadRequest(f"{place} is also the id of another document", param=place)
    return documents


def document(value: Callable[[str], Any]) -> NewDocument:
    """`value`: of a field by its name. Raises `BadRequest`, `RequestTooLarge` and `SecretRejected`
    naming the field. Without an id it gets one."""
    text = fields.text(value("text"), "text")
    if text is None:
        raise BadRequest("text is required", param="text")
    metadata = value("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise BadRequest("metadata must be an object", param="metadata")
    id_ = fields.text(value("id"), "id")
    return checked(
        new_document_id() if id_ is None else id_,
        text,
        fields.text(value("type"), "type"),
        metadata,
    )


def _given(body: Body, name: str) -> bool:
    return body.fragment(name) not in (None, b"null")


def _listed(posted: Any, place: str) -> NewDocument:
    if not isinstance(posted, dict):
        raise BadRequest(f"{place} must be an object", param=place)
    try:
        return document(posted.get)
    except MemTreeError as error:
        raise type(error)(f"{place}.{error.message}", param=f"{place}.{error.param}") from None


def page(query: Mapping[str, str]) -> PageQuery:
    return PageQuery(_type(query), limit(query, MAX_ROWS, ROWS), query.get("cursor"))


def search(query: Mapping[str, str]) -> PassageQuery:
    least = fields.number(query.get("threshold"), "threshold", 0.0, 1.0)
    return PassageQuery(searched(query), _type(query), limit(query, MAX_HITS, HITS), least or 0.0)


def new_document_id() -> str:
    return f"doc_{secrets.token_hex(12)}"


def _type(query: Mapping[str, str]) -> str | None:
    return query.get("type") or None

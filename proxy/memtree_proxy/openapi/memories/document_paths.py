"""Operations of documents: put into namespaces, searched, and shown to models by `use_rag`."""

from __future__ import annotations

from memtree.config import Settings
from memtree_proxy.http import content_encoding
from memtree_proxy.memories.documents import fields
from memtree_proxy.memories.fields import MAX_HITS, MAX_ROWS
from memtree_proxy.openapi import failures
from memtree_proxy.openapi.memories import parts
from memtree_proxy.openapi.memories.parts import (
    answer,
    asked,
    delete_operation,
    limit,
    memory_operation,
    named,
)
from memtree_proxy.wire.json_schema import STRING, Json, content, either, schema
from memtree_proxy.wire.operation import KNOWN, READING
from memtree_proxy.wire.types import CHAT_ID

TAG = "Documents"
_ROOT = "/rag/{namespace}"
_TYPE = "type"
_THRESHOLD: Json = {"type": "number", "default": 0.0}  # clamped, so without bounds


def parameters() -> dict[str, Json]:
    """`components.parameters`, by name."""
    given = [
        parts.path("namespace", "The namespace, by a name that its owner chose.", CHAT_ID),
        parts.path("documentId", "The document.", CHAT_ID),
        parts.query(_TYPE, "Documents of this type alone.", STRING),
    ]
    return {one["name"]: one for one in given}


def paths(settings: Settings) -> dict[str, Json]:
    return {
        "/rag": {"get": _namespaces(settings)},
        _ROOT: {"get": _state(settings), "delete": _clear(settings, "clearNamespace")},
        f"{_ROOT}/documents": {
            "get": _page(settings),
            "post": _put(settings),
            "delete": _clear(settings, "deleteDocuments"),
        },
        f"{_ROOT}/documents/{{documentId}}": {
            "get": _show(settings),
            "delete": _delete(settings),
        },
        f"{_ROOT}/search": {"get": _search(settings)},
    }


def _namespaces(settings: Settings) -> Json:
    return memory_operation(
        TAG,
        "listNamespaces",
        "List namespaces",
        "Namespaces belong to the tenant, whichever of its users asks.",
        {
            "200": answer("Those that hold something, by name.", "Namespaces"),
            **failures.of(settings, *KNOWN),
        },
        [],
    )


def _state(settings: Settings) -> Json:
    return memory_operation(
        TAG,
        "showNamespace",
        "Show a namespace",
        "How much it holds, and whether all of it can be found by meaning.",
        {
            "200": answer("The namespace; one that holds nothing, too.", "Namespace"),
            **failures.of(settings, 400, *KNOWN),
        },
        named("namespace"),
    )


def _clear(settings: Settings, id_: str) -> Json:
    return delete_operation(
        TAG,
        id_,
        "Delete all documents",
        "All of a namespace.",
        {"200": answer("How much went.", "DeletedPassages"), **failures.of(settings, 400, *KNOWN)},
        [*named("namespace")],
    )


def _page(settings: Settings) -> Json:
    return memory_operation(
        TAG,
        "listDocuments",
        "List documents",
        "Without their texts.",
        {"200": answer("A page of them.", "DocumentPage"), **failures.of(settings, 400, *KNOWN)},
        [*named("namespace", _TYPE), limit(MAX_ROWS, fields.ROWS), *named("cursor")],
    )


def _put(settings: Settings) -> Json:
    stored = answer("All said the same already.", "StoredDocument")
    stored["content"] = content(either(schema("StoredDocument"), schema("StoredDocuments")))
    return memory_operation(
        TAG,
        "putDocuments",
        "Put documents",
        "Each is cut into passages, which words find at once and meaning as soon as they are "
        "embedded. A document with an id that is there already takes its place in one step.",
        {
            "201": {**stored, "description": "They are stored."},
            "200": stored,
            **failures.of(settings, 409, 422, *READING),
        },
        named("namespace", content_encoding.HEADER),
        "Documents",
    )


def _show(settings: Settings) -> Json:
    return memory_operation(
        TAG,
        "readDocument",
        "Show a document",
        "With its text, put together from its passages.",
        {
            "200": answer("The document.", "DocumentText"),
            **failures.of(settings, 400, 404, *KNOWN),
        },
        named("namespace", "documentId"),
    )


def _delete(settings: Settings) -> Json:
    return delete_operation(
        TAG,
        "deleteDocument",
        "Delete a document",
        "It is in no answer, no search and no prompt from now on.",
        {
            "200": answer("How much went.", "DeletedPassages"),
            **failures.of(settings, 400, 404, *KNOWN),
        },
        [*named("namespace", "documentId")],
    )


def _search(settings: Settings) -> Json:
    return memory_operation(
        TAG,
        "searchDocuments",
        "Search passages",
        "By meaning and by words, as a chat with `use_rag` does.",
        {"200": answer("The best of them.", "PassageHits"), **failures.of(settings, 400, *KNOWN)},
        [
            *named("namespace", _TYPE),
            asked(),
            limit(MAX_HITS, fields.HITS),
            parts.query("threshold", "Relevance that a passage needs.", _THRESHOLD),
        ],
    )

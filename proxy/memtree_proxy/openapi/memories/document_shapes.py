"""Shapes of documents: what is posted and what is answered."""

from __future__ import annotations

from memtree.memories.documents.document import MAX_BYTES, MAX_DEPTH, MAX_METADATA_BYTES
from memtree.memories.draft import MAX_NAME_CHARS
from memtree_proxy.memories.documents.fields import MAX_DOCUMENTS
from memtree_proxy.wire import parameter
from memtree_proxy.wire.json_schema import (
    BOOLEAN,
    COUNT,
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
from memtree_proxy.wire.types import CHAT_ID, NO_NUL, RELEVANCE, SAYS_SOMETHING, TIME

_NAME: Json = {**NO_NUL, "type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARS}
_OBJECT: Json = {"type": "object"}
_METADATA = described(
    _OBJECT, f"At most {MAX_METADATA_BYTES:,} bytes of JSON, {MAX_DEPTH} levels deep."
)
_PASSAGES = described({"type": "integer", "minimum": 1}, "How many passages it was cut into.")
_PENDING = described(
    BOOLEAN, "Passages of this namespace wait for their vectors: words alone rank those."
)
_ROW = {
    "id": CHAT_ID,
    "type": either(STRING, NULL),
    "metadata": _OBJECT,
    "passages": _PASSAGES,
    "characters": described({"type": "integer", "minimum": 1}, "Code points of its text."),
    "masked_secrets": described(COUNT, "Secrets that stand as `[secret]` in text and metadata."),
    "created_at": TIME,
}
_PUT = {
    **_ROW,
    "status": {
        "type": "string",
        "enum": ["created", "replaced", "unchanged"],
        "description": "`unchanged`: it said the same already, so nothing was written.",
    },
}
_HIT = {
    "id": described(CHAT_ID, "The document."),
    "type": either(STRING, NULL),
    "text": described(STRING, "The passage, as it stands in the document."),
    "relevance": RELEVANCE,
    "passage": described({"type": "integer", "minimum": 1}, "Its place, from 1."),
    "passages": _PASSAGES,
    "start": described(COUNT, "Where it begins in the document's text, in code points."),
    "end": {"type": "integer", "minimum": 1},
    "metadata": _OBJECT,
}
_NAMESPACE = {"namespace": CHAT_ID, "passages": COUNT}
SCHEMAS: dict[str, Json] = {
    "Document": object_of(_ROW, description="A document without its text."),
    "DocumentText": object_of(
        {**_ROW, "text": described(STRING, "As it is kept: without secrets.")}
    ),
    "StoredDocument": object_of({**_PUT, "pending": _PENDING}),
    "StoredDocuments": object_of({"documents": array(object_of(_PUT)), "pending": _PENDING}),
    "DocumentPage": object_of(
        {
            "documents": array(schema("Document"), description="The latest first."),
            "next_cursor": described(
                either(STRING, NULL), "For the page after this one; null on the last."
            ),
        }
    ),
    "PassageHits": object_of(
        {
            "passages": array(object_of(_HIT), description="The best first."),
            "degraded": described(
                array(STRING), "`embedder`: words alone ranked, or some passages lack a vector."
            ),
        }
    ),
    "Namespace": object_of({**_NAMESPACE, "pending": _PENDING}),
    "Namespaces": object_of(
        {"namespaces": array(object_of(_NAMESPACE), description="Those that hold something.")}
    ),
    "DeletedPassages": object_of({"deleted_passages": COUNT}),
}


def parameters() -> dict[str, Json]:
    """Return `components.parameters` of documents, by name."""
    owner = "The namespace, by a name that its owner chose."
    return {
        "namespace": parameter.path("namespace", owner, CHAT_ID),
        "documentId": parameter.path("documentId", "The document.", CHAT_ID),
        "type": parameter.query("type", "Documents of this type alone.", STRING),
    }


def bodies() -> dict[str, Json]:
    """Schemas of what is posted."""
    text = {**NO_NUL, "type": "string", "pattern": SAYS_SOMETHING, "maxLength": MAX_BYTES}
    fields = {
        "id": described(
            either(CHAT_ID, NULL),
            "One that is there already is replaced. Without it, one is made.",
        ),
        "text": described(text, f"At most {MAX_BYTES:,} bytes of UTF-8. Secrets are masked."),
        "type": described(either(_NAME, NULL), "What searches filter by; else `metadata.type` is."),
        "metadata": described(either(_METADATA, NULL), "Told with its passages."),
    }
    document = object_of(fields, ("text",), description="A document.")
    listed = array(document, minItems=1, maxItems=MAX_DOCUMENTS)
    single = object_of({**fields, "documents": NULL}, ("text",), description="A document.")
    several = object_of(
        {**dict.fromkeys(fields, NULL), "documents": listed},
        ("documents",),
        description="Several: all are judged before any is kept.",
    )
    return {"NewDocuments": {"anyOf": [single, several]}}


EXAMPLES: dict[str, Json] = {
    "one": {
        "id": "handbook.md",
        "text": "# Ports\n\nStaging listens on 8090, production on 443.\n",
        "type": "manual",
        "metadata": {"author": "Ada", "year": 2024},
    },
    "several": {
        "documents": [
            {"id": "a.md", "text": "The office opens at nine."},
            {"id": "b.md", "text": "The office closes at six."},
        ]
    },
}


def request_bodies() -> dict[str, Json]:
    """`components.requestBodies`."""
    return {"Documents": posted(["NewDocuments"], EXAMPLES)}

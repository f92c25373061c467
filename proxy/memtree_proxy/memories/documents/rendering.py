"""Documents and their passages as JSON."""

from __future__ import annotations

from typing import Any

from memtree.memories.documents.document import Document
from memtree.memories.documents.document_book import PassageHit, PutDocument
from memtree.memories.rules.expiry import shown

Json = dict[str, Any]


def document_json(document: Document) -> Json:
    return {
        "id": document.id,
        "type": document.type,
        "metadata": document.metadata,
        "passages": document.passages,
        "characters": document.characters,
        "masked_secrets": document.masked,
        "created_at": shown(document.created),
    }


def put_json(put: PutDocument) -> Json:
    """`status` says what became of it."""
    status = "replaced" if put.replaced else "created" if put.changed else "unchanged"
    return {**document_json(put.document), "status": status}


def hit_json(hit: PassageHit) -> Json:
    data = hit.passage.data or {}
    return {
        "id": hit.document.id,
        "type": hit.document.type,
        "text": hit.passage.text,
        "relevance": round(hit.relevance, 2),
        "passage": data.get("place", 0) + 1,
        "passages": hit.document.passages,
        "start": data.get("start", 0),
        "end": data.get("end", len(hit.passage.text)),
        "metadata": hit.document.metadata,
    }

"""A document as memories and back: one memory a passage, in the order of the text.

thread_id   the document's id           category   its type
text        the passage, uncut: all of a document's, joined, are its text
data        place (from 0), of, start, end, head (the first passage's id), shown (its metadata
            as one short line); the first one's also metadata, characters, digest, masked
tags        `document` on the first, so that a list of documents is a list of those
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from memtree.memories.documents.document import Document, NewDocument
from memtree.memories.injection.passages import metadata_line
from memtree.memories.memory import Memory, NewMemory
from memtree.memories.search.text_terms import packed_terms
from memtree.text.normal_form import text_hash

PASSAGE = "passage"  # the kind of these memories
SOURCE = "document"  # their source type
FIRST = "document"  # the tag of each document's first one

Cut = Callable[[str], Sequence[tuple[int, int]]]  # a text to (start, end) of its passages


def memories_of(
    document: NewDocument, cut: Cut, new_id: Callable[[], str], now: float
) -> list[NewMemory]:
    spans = cut(document.text)
    ids = [new_id() for _ in spans]
    shared: dict[str, Any] = {"of": len(spans), "head": ids[0]}
    if shown := metadata_line(document.metadata):
        shared["shown"] = shown
    first = {
        "metadata": dict(document.metadata),
        "characters": len(document.text),
        "digest": document.digest,
        "masked": document.masked,
    }
    return [
        NewMemory(
            id=id_,
            text=document.text[start:end],
            text_hash=text_hash(document.text[start:end]),
            terms=packed_terms(document.text[start:end]),
            created=now,
            kind=PASSAGE,
            data={"place": place, "start": start, "end": end, **shared, **({} if place else first)},
            category=document.type,
            tags=() if place else (FIRST,),
            source_type=SOURCE,
            thread_id=document.id,
        )
        for place, (id_, (start, end)) in enumerate(zip(ids, spans, strict=True))
    ]


def new_document(document: NewDocument, passages: int, now: float) -> Document:
    """The document as it is stored in so many passages."""
    return Document(
        document.id,
        document.type,
        document.metadata,
        passages,
        len(document.text),
        now,
        document.masked,
        document.digest,
    )


def document_of(first: Memory) -> Document:
    """The document whose first passage this is."""
    data = first.data or {}
    return Document(
        id=first.thread_id or "",
        type=first.category,
        metadata=data.get("metadata") or {},
        passages=data.get("of", 1),
        characters=data.get("characters", len(first.text)),
        created=first.created,
        masked=data.get("masked", 0),
        digest=data.get("digest", ""),
    )


def head_of(passage: Memory) -> str:
    """The id of the first passage of its document."""
    return str((passage.data or {}).get("head", ""))


def text_of(passages: Iterable[Memory]) -> str | None:
    """The text of a document; None where these are not all of its passages."""
    rows = sorted(passages, key=lambda row: (row.data or {}).get("place", 0))
    of = (rows[0].data or {}).get("of", 1) if rows else -1
    if len(rows) != of or len({head_of(row) for row in rows}) != 1:
        return None
    return "".join(row.text for row in rows)

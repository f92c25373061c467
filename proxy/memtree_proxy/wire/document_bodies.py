"""Requests and answers of documents."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta

from memtree.errors import BadRequest, MemTreeError, RequestTooLarge
from memtree.history.json_body import Body
from memtree.memories.checked_fields import shown
from memtree.memories.document_book import (
    DocumentPage,
    DocumentSearch,
    Namespace,
    PassageHit,
    PutDocument,
)
from memtree.memories.document_passages import Document, NewDocument, checked
from memtree_proxy.http.decoding import OrNull, Posted, fields_of
from memtree_proxy.wire.values import (
    HITS,
    Answer,
    Count,
    Hits,
    Id,
    Name,
    Place,
    Rows,
    Searched,
    Share,
    Shown,
    copied,
)

MAX_DOCUMENTS = 100  # in one request
MAX_CHARACTERS = 16 << 20  # in all texts of a request
DOCUMENTS = "documents"
ROWS = 100  # in a list, by default

# -- posted ----------------------------------------------------------------------------------


class PostedDocument(Posted, frozen=True, kw_only=True):
    id: Id | None = None
    text: str
    type: Name | None = None
    metadata: dict[str, Any] | None = None

    def checked(self, place: str = "") -> NewDocument:
        """Return the document checked, with a new id if it has none. Raises `BadRequest`,
        `RequestTooLarge` and `SecretRejected`, each naming the field."""
        with _placed(place):
            id_ = f"doc_{secrets.token_hex(12)}" if self.id is None else self.id
            return checked(id_, self.text, self.type, self.metadata)


class PostedDocuments(Posted, frozen=True):
    documents: Annotated[list[PostedDocument], Meta(min_length=1, max_length=MAX_DOCUMENTS)]

    def checked(self) -> list[NewDocument]:
        if sum(len(document.text) for document in self.documents) > MAX_CHARACTERS:
            raise RequestTooLarge(
                f"{DOCUMENTS} have more than {MAX_CHARACTERS} characters together", param=DOCUMENTS
            )
        made, ids = [], set()
        for at, document in enumerate(self.documents):
            made.append(document.checked(f"{DOCUMENTS}[{at}]."))
            if made[-1].id in ids:
                place = f"{DOCUMENTS}[{at}].id"
                raise BadRequest(f"{place} is the id of another one of them", param=place)
            ids.add(made[-1].id)
        return made


@contextmanager
def _placed(place: str) -> Iterator[None]:
    """Prefix the field that an error names with a place, such as `documents[0].`."""
    try:
        yield
    except MemTreeError as error:
        raise type(error)(f"{place}{error.message}", param=f"{place}{error.param}") from None


class NewDocuments(NamedTuple):
    documents: list[NewDocument]
    single: bool


def new_documents(body: Body) -> NewDocuments:
    """Read the list `documents`, or the fields of a single document. Checks all before any is
    stored."""
    given = [name for name in body.spans if body.fragment(name) != b"null"]
    if DOCUMENTS in given:
        return NewDocuments(fields_of(PostedDocuments, body, given).checked(), single=False)
    return NewDocuments([fields_of(PostedDocument, body, given).checked()], single=True)


class DocumentListing(Posted, frozen=True):
    type: str | None = None
    limit: OrNull[Rows] = ROWS
    cursor: str | None = None


class PassageSearch(Posted, frozen=True, kw_only=True):
    query: Searched
    type: str | None = None
    limit: OrNull[Hits] = HITS
    threshold: OrNull[Share] = 0.0


# -- answered --------------------------------------------------------------------------------


class ShownDocument(Answer, frozen=True, kw_only=True):
    """A document without its text."""

    id: str
    type: str | None
    metadata: Mapping[str, Any]
    passages: Place
    characters: Place
    masked_secrets: Count
    created_at: str


class DocumentText(ShownDocument, frozen=True, kw_only=True):
    text: str


class PutOutcome(ShownDocument, frozen=True, kw_only=True):
    status: Literal["created", "replaced", "unchanged"]


class StoredDocument(PutOutcome, frozen=True, kw_only=True):
    pending: bool


class StoredDocuments(Answer, frozen=True, kw_only=True):
    documents: Sequence[PutOutcome]
    pending: bool


class ShownPage(Answer, frozen=True, kw_only=True):
    documents: Sequence[ShownDocument]
    next_cursor: str | None


class FoundPassage(Answer, frozen=True, kw_only=True):
    id: str
    type: str | None
    text: str
    relevance: Share
    passage: Place
    passages: Place
    start: Count
    end: Place
    metadata: Mapping[str, Any]


class PassageHits(Answer, frozen=True, kw_only=True):
    passages: Sequence[FoundPassage]
    degraded: Sequence[str]


class NamespaceSize(Answer, frozen=True, kw_only=True):
    namespace: str
    passages: Count


class ShownNamespace(NamespaceSize, frozen=True, kw_only=True):
    pending: bool


class Namespaces(Answer, frozen=True, kw_only=True):
    namespaces: Sequence[NamespaceSize]


class DeletedPassages(Answer, frozen=True, kw_only=True):
    deleted_passages: Count


def document_text(document: Document, text: str) -> DocumentText:
    return _shown(DocumentText, document, text=text)


def put_outcomes(done: Sequence[PutDocument]) -> list[PutOutcome]:
    return [_put(PutOutcome, each) for each in done]


def stored_document(put: PutDocument, *, pending: bool) -> StoredDocument:
    return _put(StoredDocument, put, pending=pending)


def document_page(page: DocumentPage) -> ShownPage:
    documents = [_shown(ShownDocument, document) for document in page.documents]
    return ShownPage(documents=documents, next_cursor=page.next_cursor)


def passage_hits(search: DocumentSearch) -> PassageHits:
    return PassageHits(passages=[_passage(hit) for hit in search.hits], degraded=search.degraded)


def namespaces(all_: Sequence[Namespace]) -> Namespaces:
    return Namespaces(
        namespaces=[NamespaceSize(namespace=one.name, passages=one.passages) for one in all_]
    )


def _shown(kind: type[Shown], document: Document, **made: Any) -> Shown:
    created_at = shown(document.created)
    return copied(kind, document, masked_secrets=document.masked, created_at=created_at, **made)


def _put(kind: type[Shown], put: PutDocument, **made: Any) -> Shown:
    status = "replaced" if put.replaced else "created" if put.changed else "unchanged"
    return _shown(kind, put.document, status=status, **made)


def _passage(hit: PassageHit) -> FoundPassage:
    cut = hit.passage.data or {}  # its position in the document
    return FoundPassage(
        id=hit.document.id,
        type=hit.document.type,
        text=hit.passage.text,
        relevance=round(hit.relevance, 2),
        passage=cut.get("place", 0) + 1,
        passages=hit.document.passages,
        start=cut.get("start", 0),
        end=cut.get("end", len(hit.passage.text)),
        metadata=hit.document.metadata,
    )

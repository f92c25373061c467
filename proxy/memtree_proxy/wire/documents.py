"""Define requests and answers for documents."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, NamedTuple

from memtree.errors import BadRequest, RequestTooLarge
from memtree.memories.documents.document import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_METADATA_BYTES,
    Document,
    NewDocument,
    checked,
)
from memtree.memories.documents.document_book import (
    DocumentPage,
    DocumentSearch,
    Namespace,
    PassageHit,
    PutDocument,
)
from memtree.memories.draft import MAX_NAME_CHARS
from memtree.memories.fields.times import shown as shown_time
from memtree.wire.json_body import Body
from memtree_proxy.request import fields
from memtree_proxy.wire.answer import Answer, Shown, schema_of_answer, shown_each
from memtree_proxy.wire.json_schema import (
    COUNT,
    NULL,
    STRING,
    Json,
    array,
    described,
    either,
    schema,
)
from memtree_proxy.wire.shape import (
    Many,
    PostedFields,
    Shape,
    Type,
    names,
    object_at,
    placed,
    read,
)
from memtree_proxy.wire.types import CHAT_ID, NO_NUL, RELEVANCE, SAYS_SOMETHING, TIME

MAX_DOCUMENTS = 100  # in one request
MAX_CHARACTERS = 16 << 20  # in all texts of a request
DOCUMENTS = "documents"

_OBJECT: Json = {"type": "object"}
_METADATA = described(
    _OBJECT, f"At most {MAX_METADATA_BYTES:,} bytes of JSON, {MAX_DEPTH} levels deep."
)


# -- posted ----------------------------------------------------------------------------------


class PostedDocument(Shape, frozen=True, kw_only=True):
    id: Annotated[
        str | None,
        Type(CHAT_ID, fields.text),
        "One that is there already is replaced. Without it, one is made.",
    ] = None
    text: Annotated[
        str,
        Type({**NO_NUL, "type": "string", "pattern": SAYS_SOMETHING, "maxLength": MAX_BYTES},
             fields.text),
        f"At most {MAX_BYTES:,} bytes of UTF-8. Secrets are masked.",
    ]  # fmt: skip
    type: Annotated[
        str | None,
        Type({**NO_NUL, "type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARS},
             fields.text),
        "What searches filter by; else `metadata.type` is.",
    ] = None  # fmt: skip
    metadata: Annotated[
        dict[str, Any] | None, Type(_METADATA, object_at), "Told with its passages."
    ] = None

    MORE: ClassVar[Json] = {"description": "A document."}

    def checked(self, place: str = "") -> NewDocument:
        """Return the document checked, with a new id if it has none. Raises `BadRequest`,
        `RequestTooLarge` and `SecretRejected`, each naming the field."""
        with placed(place):
            id_ = f"doc_{secrets.token_hex(12)}" if self.id is None else self.id
            return checked(id_, self.text, self.type, self.metadata)


class PostedDocuments(Shape, frozen=True):
    documents: Annotated[list[PostedDocument], Many(MAX_DOCUMENTS)]

    MORE: ClassVar[Json] = {"description": "Several: all are judged before any is kept."}

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        assert isinstance(given, PostedFields)
        if any(given.is_given(name) for name in names(PostedDocument)):
            raise BadRequest(
                f"{DOCUMENTS} must stand alone: each of them has an id and a text of its own",
                param=DOCUMENTS,
            )

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


class NewDocuments(NamedTuple):
    documents: list[NewDocument]
    single: bool


def new_documents(body: Body) -> NewDocuments:
    """Read the list `documents`, or the fields of a single document. Checks all before any is
    stored."""
    if PostedFields(body).is_given(DOCUMENTS):
        return NewDocuments(read(PostedDocuments, body).checked(), single=False)
    return NewDocuments([read(PostedDocument, body).checked()], single=True)


# -- answered --------------------------------------------------------------------------------

_PLACE: Json = {"type": "integer", "minimum": 1}
_PASSAGES = described(_PLACE, "How many passages it was cut into.")
DOCUMENT: Answer[Document] = {
    "id": Shown(CHAT_ID),
    "type": Shown(either(STRING, NULL)),
    "metadata": Shown(_OBJECT),
    "passages": Shown(_PASSAGES),
    "characters": Shown(_PLACE, says="Code points of its text."),
    "masked_secrets": Shown(
        COUNT, "masked", "Secrets that stand as `[secret]` in text and metadata."
    ),
    "created_at": Shown(TIME, lambda document: shown_time(document.created)),
}
STATUS: Answer[PutDocument] = {
    "status": Shown(
        {"type": "string", "enum": ["created", "replaced", "unchanged"]},
        lambda put: "replaced" if put.replaced else "created" if put.changed else "unchanged",
        "`unchanged`: it said the same already, so nothing was written.",
    )
}
PAGE: Answer[DocumentPage] = {
    "documents": Shown(
        array(schema("Document")),
        lambda page: shown_each(DOCUMENT, page.documents),
        "The latest first.",
    ),
    "next_cursor": Shown(
        either(STRING, NULL), says="For the page after this one; null on the last."
    ),
}
HIT: Answer[PassageHit] = {
    "id": Shown(CHAT_ID, "document.id", "The document."),
    "type": Shown(either(STRING, NULL), "document.type"),
    "text": Shown(STRING, "passage.text", "The passage, as it stands in the document."),
    "relevance": Shown(RELEVANCE, lambda hit: round(hit.relevance, 2)),
    "passage": Shown(_PLACE, lambda hit: _cut(hit).get("place", 0) + 1, "Its place, from 1."),
    "passages": Shown(_PASSAGES, "document.passages"),
    "start": Shown(
        COUNT,
        lambda hit: _cut(hit).get("start", 0),
        "Where it begins in the document's text, in code points.",
    ),
    "end": Shown(_PLACE, lambda hit: _cut(hit).get("end", len(hit.passage.text))),
    "metadata": Shown(_OBJECT, "document.metadata"),
}
SEARCH: Answer[DocumentSearch] = {
    "passages": Shown(
        array(schema_of_answer(HIT)), lambda search: shown_each(HIT, search.hits), "The best first."
    ),
    "degraded": Shown(
        array(STRING), says="`embedder`: words alone ranked, or some passages lack a vector."
    ),
}
NAMESPACE: Answer[Namespace] = {
    "namespace": Shown(CHAT_ID, "name"),
    "passages": Shown(COUNT),
}


def _cut(hit: PassageHit) -> Mapping[str, Any]:
    """Return the passage's position in its document."""
    return hit.passage.data or {}

"""The routes of documents: `/rag` and `/rag/{namespace}...`. A namespace is the tenant's, whichever
of its users asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from memtree.errors import BadRequest, NotFound
from memtree.memories.documents.document import Document
from memtree.memories.documents.document_book import DocumentBook, PassageHit, PutDocument
from memtree.memories.fields.times import shown
from memtree.memories.scope import Scope, checked_id
from memtree_proxy.http import content_encoding
from memtree_proxy.memories.answers import answer, counted
from memtree_proxy.memories.documents import fields
from memtree_proxy.memories.fields import MAX_HITS, MAX_ROWS
from memtree_proxy.memories.requests import MemoryRequests
from memtree_proxy.request.delete_options import DRY_RUN, PURGE, DeleteOptions
from memtree_proxy.wire.operation import KNOWN, READING, operation
from memtree_proxy.wire.parameter import limit, query, search_text

Json = dict[str, Any]

TAG = "Documents"
_CLEARING: Json = {
    "tag": TAG,
    "summary": "Delete all documents",
    "says": "All of a namespace.",
    "answers": {200: ("How much went.", "DeletedPassages")},
    "errors": (400, *KNOWN),
    "parameters": ("namespace",),
    "deletes": (DRY_RUN, PURGE),
}


class DocumentRoutes:
    def __init__(self, book: DocumentBook, requests: MemoryRequests) -> None:
        self._book = book
        self._requests = requests

    @operation(
        "GET /rag",
        "listNamespaces",
        TAG,
        "List namespaces",
        "Namespaces belong to the tenant, whichever of its users asks.",
        answers={200: ("Those that hold something, by name.", "Namespaces")},
        errors=KNOWN,
    )
    async def namespaces(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        namespaces = await self._book.namespaces(tenant.id)
        rows = [
            {"namespace": namespace.name, "passages": namespace.passages}
            for namespace in namespaces
        ]
        return answer({"namespaces": rows})

    @operation(
        "GET /rag/{namespace}",
        "showNamespace",
        TAG,
        "Show a namespace",
        "How much it holds, and whether all of it can be found by meaning.",
        answers={200: ("The namespace; one that holds nothing, too.", "Namespace")},
        errors=(400, *KNOWN),
        parameters=("namespace",),
    )
    async def state(self, request: Request) -> Response:
        scope = await self._scope(request)
        state = await self._book.state(scope)
        counts = {"passages": state.passages, "pending": state.pending}
        return answer({"namespace": scope.owner, **counts})

    @operation("DELETE /rag/{namespace}", "clearNamespace", **_CLEARING)
    async def clear(self, request: Request) -> Response:
        scope = await self._scope(request)
        how = await self._requests.delete_options(request)
        return _gone(await self._book.clear(scope, **how._asdict()), how)

    @operation(
        "GET /rag/{namespace}/documents",
        "listDocuments",
        TAG,
        "List documents",
        "Without their texts.",
        answers={200: ("A page of them.", "DocumentPage")},
        errors=(400, *KNOWN),
        parameters=("namespace", "type", limit(MAX_ROWS, fields.ROWS), "cursor"),
    )
    async def page(self, request: Request) -> Response:
        scope = await self._scope(request)
        view = fields.page(request.query_params)
        page = await self._book.page(scope, type_=view.type, cursor=view.cursor, limit=view.limit)
        rows = [document_json(document) for document in page.documents]
        return answer({"documents": rows, "next_cursor": page.next_cursor})

    @operation(
        "POST /rag/{namespace}/documents",
        "putDocuments",
        TAG,
        "Put documents",
        "Each is cut into passages, which words find at once and meaning as soon as they are "
        "embedded. A document with an id that is there already takes its place in one step.",
        answers={
            201: ("They are stored.", "StoredDocument", "StoredDocuments"),
            200: ("All said the same already.", "StoredDocument", "StoredDocuments"),
        },
        errors=(409, 422, *READING),
        parameters=("namespace", content_encoding.HEADER),
        body="Documents",
    )
    async def put(self, request: Request) -> Response:
        """Store documents. Answers 201, or 200 where all were stored already.

        A document that is refused is found before any is stored. Where the store fails, the
        documents before that one stay, and repeating the request does not change them."""
        scope = await self._scope(request)
        with self._requests.costly(scope.tenant):
            posted = await self._requests.read(request, fields.posted)
            done = [await self._book.put(scope, document) for document in posted.documents]
        pending = await self._book.pending(scope)
        status = 201 if any(document.changed for document in done) else 200
        rows = [put_json(document) for document in done]
        if posted.single:
            return answer({**rows[0], "pending": pending}, status)
        return answer({"documents": rows, "pending": pending}, status)

    @operation("DELETE /rag/{namespace}/documents", "deleteDocuments", **_CLEARING)
    async def clear_documents(self, request: Request) -> Response:
        return await self.clear(request)

    @operation(
        "GET /rag/{namespace}/documents/{documentId}",
        "readDocument",
        TAG,
        "Show a document",
        "With its text, put together from its passages.",
        answers={200: ("The document.", "DocumentText")},
        errors=(400, 404, *KNOWN),
        parameters=("namespace", "documentId"),
    )
    async def show(self, request: Request) -> Response:
        scope, id_ = await self._scope(request), _document_id(request)
        with _naming():
            document, text = await self._book.text(scope, id_)
        return answer({**document_json(document), "text": text})

    @operation(
        "DELETE /rag/{namespace}/documents/{documentId}",
        "deleteDocument",
        TAG,
        "Delete a document",
        "It is in no answer, no search and no prompt from now on.",
        answers={200: ("How much went.", "DeletedPassages")},
        errors=(400, 404, *KNOWN),
        parameters=("namespace", "documentId"),
        deletes=(DRY_RUN, PURGE),
    )
    async def delete(self, request: Request) -> Response:
        scope, id_ = await self._scope(request), _document_id(request)
        how = await self._requests.delete_options(request)
        with _naming():
            return _gone(await self._book.delete(scope, id_, **how._asdict()), how)

    @operation(
        "GET /rag/{namespace}/search",
        "searchDocuments",
        TAG,
        "Search passages",
        "By meaning and by words, as a chat with `use_rag` does.",
        answers={200: ("The best of them.", "PassageHits")},
        errors=(400, *KNOWN),
        parameters=(
            "namespace",
            "type",
            search_text(),
            limit(MAX_HITS, fields.HITS),
            # Clamped, so without bounds.
            query(
                "threshold", "Relevance that a passage needs.", {"type": "number", "default": 0.0}
            ),
        ),
    )
    async def search(self, request: Request) -> Response:
        scope = await self._scope(request)
        ask = fields.search(request.query_params)
        result = await self._book.search(
            scope, ask.query, type_=ask.type, limit=ask.limit, least=ask.least
        )
        hits = [hit_json(hit) for hit in result.hits]
        return answer({"passages": hits, "degraded": result.degraded})

    async def _scope(self, request: Request) -> Scope:
        tenant = await self._requests.tenant(request)
        namespace = checked_id(request.path_params["namespace"], "namespace")
        return Scope.of_namespace(tenant.id, namespace)


def _gone(passages: int, how: DeleteOptions) -> Response:
    return counted(passages) if how.dry_run else answer({"deleted_passages": passages})


def _document_id(request: Request) -> str:
    """Return the id of a document; an impossible id is no document's."""
    with _naming():
        return checked_id(request.path_params["documentId"], "documentId")


@contextmanager
def _naming() -> Iterator[None]:
    """A document that is not there is named as the path names it."""
    try:
        yield
    except (BadRequest, NotFound):
        message = "This namespace has no document with this documentId."
        raise NotFound(message, param="documentId") from None


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
    """Render a stored document. `status` says whether it was created, replaced or unchanged."""
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

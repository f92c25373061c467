"""Serve documents: `/rag` and `/rag/{namespace}...`. Namespaces belong to the tenant and are shared
by its users."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.requests import Request
from starlette.responses import Response

from memtree.errors import BadRequest, NotFound
from memtree.memories.document_book import DocumentBook
from memtree.memories.scope import Scope, checked_id
from memtree_proxy.api.memory_requests import MemoryRequests
from memtree_proxy.http.decoding import queried
from memtree_proxy.wire.document_bodies import (
    DeletedPassages,
    DocumentListing,
    PassageSearch,
    ShownNamespace,
    StoredDocuments,
    document_page,
    document_text,
    namespaces,
    new_documents,
    passage_hits,
    put_outcomes,
    stored_document,
)
from memtree_proxy.wire.request_options import DeleteOptions
from memtree_proxy.wire.routes import answer, counted, route
from memtree_proxy.wire.values import Deleting


class DocumentRoutes:
    def __init__(self, book: DocumentBook, requests: MemoryRequests) -> None:
        self._book = book
        self._requests = requests

    @route("GET /rag")
    async def namespaces(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        return answer(namespaces(await self._book.namespaces(tenant.id)))

    @route("GET /rag/{namespace}")
    async def state(self, request: Request) -> Response:
        scope = await self._scope(request)
        state = await self._book.state(scope)
        return answer(ShownNamespace(namespace=scope.owner, **state._asdict()))

    @route("GET /rag/{namespace}/documents", DocumentListing)
    async def page(self, request: Request) -> Response:
        scope = await self._scope(request)
        query = queried(DocumentListing, request.query_params)
        page = await self._book.page(
            scope, type_=query.type or None, cursor=query.cursor, limit=query.limit
        )
        return answer(document_page(page))

    @route("POST /rag/{namespace}/documents")
    async def put(self, request: Request) -> Response:
        """Store documents. Answers 201, or 200 if none changed.

        Invalid documents are refused before any is stored. If the store fails, earlier documents
        stay stored, and repeating the request does not change them."""
        scope = await self._scope(request)
        with self._requests.costly(scope.tenant):
            posted = await self._requests.read(request, new_documents)
            done = [await self._book.put(scope, document) for document in posted.documents]
        pending = await self._book.pending(scope)
        status = 201 if any(document.changed for document in done) else 200
        if posted.single:
            return answer(stored_document(done[0], pending=pending), status)
        return answer(StoredDocuments(documents=put_outcomes(done), pending=pending), status)

    @route("DELETE /rag/{namespace}", Deleting)
    @route("DELETE /rag/{namespace}/documents", Deleting)
    async def clear(self, request: Request) -> Response:
        scope = await self._scope(request)
        how = await self._requests.delete_options(request)
        return _gone(await self._book.clear(scope, **how._asdict()), how)

    @route("GET /rag/{namespace}/documents/{documentId}")
    async def show(self, request: Request) -> Response:
        scope, id_ = await self._scope(request), _document_id(request)
        with _naming():
            document, text = await self._book.text(scope, id_)
        return answer(document_text(document, text))

    @route("DELETE /rag/{namespace}/documents/{documentId}", Deleting)
    async def delete(self, request: Request) -> Response:
        scope, id_ = await self._scope(request), _document_id(request)
        how = await self._requests.delete_options(request)
        with _naming():
            return _gone(await self._book.delete(scope, id_, **how._asdict()), how)

    @route("GET /rag/{namespace}/search", PassageSearch)
    async def search(self, request: Request) -> Response:
        scope = await self._scope(request)
        query = queried(PassageSearch, request.query_params)
        result = await self._book.search(
            scope, query.query, type_=query.type or None, limit=query.limit, least=query.threshold
        )
        return answer(passage_hits(result))

    async def _scope(self, request: Request) -> Scope:
        tenant = await self._requests.tenant(request)
        namespace = checked_id(request.path_params["namespace"], "namespace")
        return Scope.of_namespace(tenant.id, namespace)


def _gone(passages: int, how: DeleteOptions) -> Response:
    return counted(passages) if how.dry_run else answer(DeletedPassages(deleted_passages=passages))


def _document_id(request: Request) -> str:
    """Return the document id in the path. Raises `NotFound` for strings that cannot be ids."""
    with _naming():
        return checked_id(request.path_params["documentId"], "documentId")


@contextmanager
def _naming() -> Iterator[None]:
    """Raise `NotFound` for a missing document, named by its path parameter."""
    try:
        yield
    except (BadRequest, NotFound):
        message = "This namespace has no document with this documentId."
        raise NotFound(message, param="documentId") from None

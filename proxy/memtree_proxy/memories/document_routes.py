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
from memtree_proxy.memories.answers import answer, counted
from memtree_proxy.memories.requests import (
    HITS,
    MAX_HITS,
    MAX_ROWS,
    MemoryRequests,
    limit,
    searched,
)
from memtree_proxy.request.delete_options import DRY_RUN, PURGE, DeleteOptions
from memtree_proxy.request.fields import number
from memtree_proxy.wire import parameter
from memtree_proxy.wire.answer import shown, shown_each
from memtree_proxy.wire.documents import DOCUMENT, NAMESPACE, PAGE, SEARCH, STATUS, new_documents
from memtree_proxy.wire.json_schema import Json
from memtree_proxy.wire.operation import memory_operation

TAG = "Documents"
route = memory_operation(TAG)
ROWS = 100  # in a list, by default
_CLEARING: Json = {
    "summary": "Delete all documents",
    "says": "All of a namespace.",
    "answers": {200: ("How much went.", "DeletedPassages")},
    "deletes": (DRY_RUN, PURGE),
}


class DocumentRoutes:
    def __init__(self, book: DocumentBook, requests: MemoryRequests) -> None:
        self._book = book
        self._requests = requests

    @route(
        "GET /rag",
        "listNamespaces",
        "List namespaces",
        "Namespaces belong to the tenant, whichever of its users asks.",
        answers={200: ("Those that hold something, by name.", "Namespaces")},
    )
    async def namespaces(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        namespaces = await self._book.namespaces(tenant.id)
        return answer({"namespaces": shown_each(NAMESPACE, namespaces)})

    @route(
        "GET /rag/{namespace}",
        "showNamespace",
        "Show a namespace",
        "How much it holds, and whether all of it can be found by meaning.",
        answers={200: ("The namespace; one that holds nothing, too.", "Namespace")},
    )
    async def state(self, request: Request) -> Response:
        scope = await self._scope(request)
        state = await self._book.state(scope)
        return answer({"namespace": scope.owner, **state._asdict()})

    @route("DELETE /rag/{namespace}", "clearNamespace", **_CLEARING)
    async def clear(self, request: Request) -> Response:
        scope = await self._scope(request)
        how = await self._requests.delete_options(request)
        return _gone(await self._book.clear(scope, **how._asdict()), how)

    @route(
        "GET /rag/{namespace}/documents",
        "listDocuments",
        "List documents",
        "Without their texts.",
        answers={200: ("A page of them.", "DocumentPage")},
        parameters=("type", parameter.limit(MAX_ROWS, ROWS), "cursor"),
    )
    async def page(self, request: Request) -> Response:
        scope, query = await self._scope(request), request.query_params
        page = await self._book.page(
            scope,
            type_=query.get("type") or None,
            cursor=query.get("cursor"),
            limit=limit(query, MAX_ROWS, ROWS),
        )
        return answer(shown(PAGE, page))

    @route(
        "POST /rag/{namespace}/documents",
        "putDocuments",
        "Put documents",
        "Each is cut into passages, which words find at once and meaning as soon as they are "
        "embedded. A document with an id that is there already takes its place in one step.",
        answers={
            201: ("They are stored.", "StoredDocument", "StoredDocuments"),
            200: ("All said the same already.", "StoredDocument", "StoredDocuments"),
        },
        errors=(409, 422),
        body="Documents",
    )
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
        rows = [{**shown(DOCUMENT, put.document), **shown(STATUS, put)} for put in done]
        if posted.single:
            return answer({**rows[0], "pending": pending}, status)
        return answer({"documents": rows, "pending": pending}, status)

    @route("DELETE /rag/{namespace}/documents", "deleteDocuments", **_CLEARING)
    async def clear_documents(self, request: Request) -> Response:
        return await self.clear(request)

    @route(
        "GET /rag/{namespace}/documents/{documentId}",
        "readDocument",
        "Show a document",
        "With its text, put together from its passages.",
        answers={200: ("The document.", "DocumentText")},
        errors=(404,),
    )
    async def show(self, request: Request) -> Response:
        scope, id_ = await self._scope(request), _document_id(request)
        with _naming():
            document, text = await self._book.text(scope, id_)
        return answer({**shown(DOCUMENT, document), "text": text})

    @route(
        "DELETE /rag/{namespace}/documents/{documentId}",
        "deleteDocument",
        "Delete a document",
        "It is in no answer, no search and no prompt from now on.",
        answers={200: ("How much went.", "DeletedPassages")},
        errors=(404,),
        deletes=(DRY_RUN, PURGE),
    )
    async def delete(self, request: Request) -> Response:
        scope, id_ = await self._scope(request), _document_id(request)
        how = await self._requests.delete_options(request)
        with _naming():
            return _gone(await self._book.delete(scope, id_, **how._asdict()), how)

    @route(
        "GET /rag/{namespace}/search",
        "searchDocuments",
        "Search passages",
        "By meaning and by words, as a chat with `use_rag` does.",
        answers={200: ("The best of them.", "PassageHits")},
        parameters=(
            "type",
            parameter.search_text(),
            parameter.limit(MAX_HITS, HITS),
            # Values are clamped, so the schema has no bounds.
            parameter.query(
                "threshold", "Relevance that a passage needs.", {"type": "number", "default": 0.0}
            ),
        ),
    )
    async def search(self, request: Request) -> Response:
        scope, query = await self._scope(request), request.query_params
        result = await self._book.search(
            scope,
            searched(query),
            type_=query.get("type") or None,
            limit=limit(query, MAX_HITS, HITS),
            least=number(query.get("threshold"), "threshold", 0.0, 1.0) or 0.0,
        )
        return answer(shown(SEARCH, result))

    async def _scope(self, request: Request) -> Scope:
        tenant = await self._requests.tenant(request)
        namespace = checked_id(request.path_params["namespace"], "namespace")
        return Scope.of_namespace(tenant.id, namespace)


def _gone(passages: int, how: DeleteOptions) -> Response:
    return counted(passages) if how.dry_run else answer({"deleted_passages": passages})


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

"""Serve schemas: `/schemas` and `/schemas/{kind}`. Schemas belong to the tenant and are shared by
its agents and users."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree.errors import NotFound
from memtree.memories.agents.schemas.memory_schema import checked_kind
from memtree.memories.agents.schemas.schema_book import PutSchema, SchemaBook
from memtree_proxy.memories.answers import answer, counted
from memtree_proxy.memories.requests import MemoryRequests
from memtree_proxy.request.delete_options import DRY_RUN
from memtree_proxy.wire.answer import shown
from memtree_proxy.wire.operation import memory_operation
from memtree_proxy.wire.schemas import (
    ALL,
    CHANGED,
    KEPT,
    named_schema,
    new_schema,
    schema_change,
)

TAG = "Schemas"
route = memory_operation(TAG)
_UNKNOWN = "There is no schema of this kind."


class SchemaRoutes:
    def __init__(self, book: SchemaBook, requests: MemoryRequests) -> None:
        self._book = book
        self._requests = requests

    @route(
        "GET /schemas",
        "listSchemas",
        "List schemas",
        "Schemas belong to the tenant, whichever of its agents and users asks.",
        answers={200: ("All of them, by kind.", "MemorySchemas")},
    )
    async def list(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        return answer(shown(ALL, await self._book.list(tenant.id)))

    @route(
        "POST /schemas",
        "createSchema",
        "Create a schema",
        "For a kind that has none: where it has another one, the answer is a 409.",
        answers={
            201: ("It is there.", "KeptSchema"),
            200: ("The same was there already.", "KeptSchema"),
        },
        errors=(409, 422),
        body="NamedSchema",
    )
    async def create(self, request: Request) -> Response:
        """Store a new schema. Answers 201, or 200 if the kind already has this schema."""
        tenant = await self._requests.tenant(request)
        kind, schema = await self._requests.read(request, named_schema)
        return _put(await self._book.create(tenant.id, kind, *schema))

    @route(
        "GET /schemas/{kind}",
        "readSchema",
        "Show a schema",
        "With its text as it was posted.",
        answers={200: ("The schema.", "KeptSchema")},
        errors=(404,),
    )
    async def show(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        return answer(shown(KEPT, await self._book.get(tenant.id, _kind(request))))

    @route(
        "PUT /schemas/{kind}",
        "putSchema",
        "Put a schema",
        "In the place of the one that the kind has, or as its first. Memories that are there stay; "
        "what they make unique is found anew.",
        answers={
            201: ("It is the first one of the kind.", "KeptSchema"),
            200: ("It took the place of another.", "KeptSchema"),
        },
        errors=(409, 422),
        body="NewSchema",
    )
    async def put(self, request: Request) -> Response:
        """Store a schema. Answers 201, or 200 if it replaced another."""
        tenant = await self._requests.tenant(request)
        kind = _kind(request)
        posted = await self._requests.read(request, new_schema)
        return _put(await self._book.put(tenant.id, kind, *posted))

    @route(
        "PATCH /schemas/{kind}",
        "changeSchema",
        "Change a schema",
        "Fields that are left out stay as they are.",
        answers={200: ("As it is now.", "ChangedSchema")},
        errors=(404, 409, 422),
        body="SchemaChange",
    )
    async def change(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        kind = _kind(request)
        change = await self._requests.read(request, schema_change)
        return answer(shown(CHANGED, await self._book.change(tenant.id, kind, change)))

    @route(
        "DELETE /schemas/{kind}",
        "deleteSchema",
        "Delete a schema",
        "Its memories stay as they are.",
        answers={200: ("It is gone.", "Success")},
        errors=(404,),
        deletes=(DRY_RUN,),
    )
    async def delete(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        if (await self._requests.delete_options(request, DRY_RUN)).dry_run:
            await self._book.get(tenant.id, _kind(request))
            return counted(1)
        if not await self._book.delete(tenant.id, _kind(request)):
            raise NotFound(_UNKNOWN, param="kind")
        return answer({"success": True})


def _put(put: PutSchema) -> Response:
    return answer(shown(KEPT, put.schema), 201 if put.created else 200)


def _kind(request: Request) -> str:
    return checked_kind(request.path_params["kind"], "kind")

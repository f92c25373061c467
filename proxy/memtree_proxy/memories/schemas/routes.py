"""The routes of schemas: `/schemas` and `/schemas/{kind}`. Schemas are the tenant's, whichever of
its agents and users asks."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree.errors import NotFound
from memtree.memories.schemas.memory_schema import checked_kind
from memtree.memories.schemas.schema_book import PutSchema, SchemaBook
from memtree_proxy.memories.answers import answer, counted
from memtree_proxy.memories.requests import MemoryRequests
from memtree_proxy.memories.schemas import fields
from memtree_proxy.memories.schemas.rendering import schema_json
from memtree_proxy.request.delete_options import DRY_RUN

_UNKNOWN = "There is no schema of this kind."


class SchemaRoutes:
    def __init__(self, book: SchemaBook, requests: MemoryRequests) -> None:
        self._book = book
        self._requests = requests

    async def schemas(self, request: Request) -> Response:
        """All of them, by the method."""
        return await (self._create if request.method == "POST" else self._list)(request)

    async def schema(self, request: Request) -> Response:
        """One of them, by the method."""
        by_method = {"PUT": self._put, "PATCH": self._change, "DELETE": self._delete}
        return await by_method.get(request.method, self._show)(request)

    async def _list(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        found = await self._book.list(tenant.id)
        return answer({"success": True, "schemas": [schema_json(one) for one in found]})

    async def _create(self, request: Request) -> Response:
        """201, or 200 where the same is there already."""
        tenant = await self._requests.tenant(request)
        posted = await self._requests.read(request, fields.named_schema)
        document, unique_on, description = posted.schema
        return _put(
            await self._book.create(tenant.id, posted.name, document, unique_on, description)
        )

    async def _show(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        found = await self._book.get(tenant.id, _kind(request))
        return answer({"success": True, "schema": schema_json(found)})

    async def _put(self, request: Request) -> Response:
        """201, or 200 where it took another one's place."""
        tenant = await self._requests.tenant(request)
        kind = _kind(request)
        posted = await self._requests.read(request, fields.schema)
        return _put(await self._book.put(tenant.id, kind, *posted))

    async def _change(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        kind = _kind(request)
        asked = await self._requests.read(request, fields.change)
        changed = await self._book.change(tenant.id, kind, asked)
        return answer({"success": True, "updated": True, "schema": schema_json(changed)})

    async def _delete(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        if (await self._requests.delete_options(request, DRY_RUN)).dry_run:
            await self._book.get(tenant.id, _kind(request))
            return counted(1)
        if not await self._book.delete(tenant.id, _kind(request)):
            raise NotFound(_UNKNOWN, param="kind")
        return answer({"success": True})


def _put(put: PutSchema) -> Response:
    shown = {"success": True, "schema": schema_json(put.schema)}
    return answer(shown, 201 if put.created else 200)


def _kind(request: Request) -> str:
    return checked_kind(request.path_params["kind"], "kind")

"""Serves schemas (`/schemas`), grants (`/grants/...`), and the wallets that sign them (`/wallets`).

Schemas belong to the tenant and are shared by its agents and users.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree.agents.grant_book import GrantBook
from memtree.agents.memory_schema import MemorySchema, checked_kind
from memtree.agents.schema_book import PutSchema, SchemaBook
from memtree.agents.wallets import ADDRESS_HEADER
from memtree.errors import BadRequest, NotFound
from memtree_proxy.api.memory_requests import MemoryRequests
from memtree_proxy.wire.request_options import DRY_RUN
from memtree_proxy.wire.routes import answer, counted, done, route
from memtree_proxy.wire.schema_and_grant_bodies import (
    ChangedSchema,
    KeptSchema,
    MemorySchemas,
    NamedSchema,
    NewSchema,
    PostedGrant,
    RevokedGrant,
    SchemaEdit,
    ShownGrant,
    ShownSchema,
    Wallets,
)
from memtree_proxy.wire.values import DryRun


class SchemaRoutes:
    def __init__(self, book: SchemaBook, requests: MemoryRequests) -> None:
        self._book = book
        self._requests = requests

    @route("GET /schemas")
    async def list(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        return answer(
            MemorySchemas(schemas=[ShownSchema.of(one) for one in await self._book.list(tenant.id)])
        )

    @route("POST /schemas")
    async def create(self, request: Request) -> Response:
        """Store a new schema. Answers 201, or 200 if the kind already has this schema."""
        tenant = await self._requests.tenant(request)
        posted = await self._requests.posted(request, NamedSchema)
        return _put(await self._book.create(tenant.id, posted.name, *posted.parts("schema")))

    @route("GET /schemas/{kind}")
    async def show(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        return answer(_kept(await self._book.get(tenant.id, _kind(request))))

    @route("PUT /schemas/{kind}")
    async def put(self, request: Request) -> Response:
        """Store a schema. Answers 201, or 200 if it replaced another."""
        tenant = await self._requests.tenant(request)
        kind = _kind(request)
        posted = await self._requests.posted(request, NewSchema)
        return _put(await self._book.put(tenant.id, kind, *posted.parts()))

    @route("PATCH /schemas/{kind}")
    async def change(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        kind = _kind(request)
        change = (await self._requests.posted(request, SchemaEdit)).change()
        changed = await self._book.change(tenant.id, kind, change)
        return answer(ChangedSchema(schema=ShownSchema.of(changed)))

    @route("DELETE /schemas/{kind}", DryRun)
    async def delete(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        if (await self._requests.delete_options(request, DRY_RUN)).dry_run:
            await self._book.get(tenant.id, _kind(request))
            return counted(1)
        if not await self._book.delete(tenant.id, _kind(request)):
            raise NotFound("There is no schema of this kind.", param="kind")
        return done()


def _put(put: PutSchema) -> Response:
    return answer(_kept(put.schema), 201 if put.created else 200)


def _kept(schema: MemorySchema) -> KeptSchema:
    return KeptSchema(schema=ShownSchema.of(schema))


def _kind(request: Request) -> str:
    return checked_kind(request.path_params["kind"], "kind")


class GrantRoutes:
    def __init__(self, book: GrantBook, requests: MemoryRequests) -> None:
        self._book, self._requests = book, requests

    @route("POST /grants/inspect")
    async def inspect(self, request: Request) -> Response:
        """Report which scopes a grant would open for the calling tenant, and what is wrong with
        it."""
        tenant = await self._requests.tenant(request)
        grant = (await self._requests.posted(request, PostedGrant)).signed()
        return answer(ShownGrant.of(await self._book.inspected(tenant.id, grant)))

    @route("POST /grants/revoke")
    async def revoke(self, request: Request) -> Response:
        """Revoke a grant. `already` in the answer: it was revoked or expired before."""
        tenant = await self._requests.tenant(request)
        grant = (await self._requests.posted(request, PostedGrant)).signed()
        return answer(RevokedGrant(already=not await self._book.revoke(tenant.id, grant)))


class WalletRoutes:
    def __init__(self, book: GrantBook, requests: MemoryRequests) -> None:
        self._book, self._requests = book, requests

    @route("GET /wallets")
    async def list(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        return answer(Wallets.of(await self._book.wallets(tenant.id)))

    @route("POST /wallets")
    async def bind(self, request: Request) -> Response:
        """Answer the bound wallets. Authentication has already bound the wallet whose proof it
        checked. Raises `BadRequest` if the headers hold no proof."""
        await self._requests.tenant(request)
        if ADDRESS_HEADER not in request.headers:
            raise BadRequest(
                f"{ADDRESS_HEADER} is missing: a wallet is bound by its proof in the headers",
                param=ADDRESS_HEADER,
            )
        return await self.list(request)

    @route("DELETE /wallets/{address}", DryRun)
    async def release(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        dry_run = (await self._requests.delete_options(request, DRY_RUN)).dry_run
        await self._book.release(tenant.id, request.path_params["address"], dry_run=dry_run)
        return counted(1) if dry_run else done()

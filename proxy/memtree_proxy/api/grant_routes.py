"""Serve grants, `/grants/...`, and the wallets that sign them, `/wallets`."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree.agents.grant_book import GrantBook
from memtree.agents.wallets import ADDRESS_HEADER
from memtree.errors import BadRequest
from memtree_proxy.api.memory_requests import MemoryRequests
from memtree_proxy.wire.grant_bodies import PostedGrant, RevokedGrant, ShownGrant, Wallets
from memtree_proxy.wire.request_options import DRY_RUN
from memtree_proxy.wire.routes import answer, counted, done, route
from memtree_proxy.wire.values import DryRun


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

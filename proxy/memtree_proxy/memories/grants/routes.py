"""The routes of grants, `/grants/...`, and of the wallets that sign them, `/wallets`."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree.errors import BadRequest
from memtree.memories.grants.grant_book import GrantBook
from memtree.memories.grants.wallet_proof import ADDRESS_HEADER
from memtree_proxy.memories.answers import answer
from memtree_proxy.memories.grants.fields import posted_grant
from memtree_proxy.memories.grants.rendering import report_json, wallet_json
from memtree_proxy.memories.requests import MemoryRequests


class GrantRoutes:
    def __init__(self, book: GrantBook, requests: MemoryRequests) -> None:
        self._book, self._requests = book, requests

    async def inspect(self, request: Request) -> Response:
        """What it would open for the tenant that asks, and what is wrong with it."""
        tenant = await self._requests.tenant(request)
        grant = await self._requests.read(request, posted_grant)
        return answer(
            {"success": True, **report_json(await self._book.inspected(tenant.id, grant))}
        )

    async def revoke(self, request: Request) -> Response:
        """`already`: it opened nothing before, for it was revoked or has expired."""
        tenant = await self._requests.tenant(request)
        grant = await self._requests.read(request, posted_grant)
        new = await self._book.revoke(tenant.id, grant)
        return answer({"success": True, "already": not new})


class WalletRoutes:
    def __init__(self, book: GrantBook, requests: MemoryRequests) -> None:
        self._book, self._requests = book, requests

    async def wallets(self, request: Request) -> Response:
        """Those of the tenant. A proof that is posted was bound when the tenant was found."""
        tenant = await self._requests.tenant(request)
        if request.method == "POST" and ADDRESS_HEADER not in request.headers:
            raise BadRequest(
                f"{ADDRESS_HEADER} is missing: a wallet is bound by its proof in the headers",
                param=ADDRESS_HEADER,
            )
        rows = await self._book.wallets(tenant.id)
        return answer({"success": True, "wallets": [wallet_json(*row) for row in rows]})

    async def release(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        await self._book.release(tenant.id, request.path_params["address"])
        return answer({"success": True})

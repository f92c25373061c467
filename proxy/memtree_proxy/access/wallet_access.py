"""A wallet's proof in the headers of a request: read it, check it, and bind the wallet to a
tenant."""

from __future__ import annotations

from typing import NamedTuple

from starlette.requests import Request

from memtree.errors import BadRequest
from memtree.memories.grants.grant_book import GrantBook
from memtree.memories.grants.wallet_proof import ProvenWallet, WalletProof
from memtree_proxy.http import request_body
from memtree_proxy.http.headers import WALLET_HEADERS


class WalletHeaders(NamedTuple):
    address: str
    timestamp: str
    signature: str


class WalletAccess:
    """Checks the proof of a wallet in a request. `max_body_bytes`: most bytes of a body, which must
    be read before the proof can be checked, because its hash is signed."""

    def __init__(self, book: GrantBook, max_body_bytes: int) -> None:
        self._book, self._limit = book, max_body_bytes

    async def proven(self, request: Request, sent: WalletHeaders) -> ProvenWallet:
        """Check a proof. Raises as `GrantBook.proven`, and `RequestTooLarge`."""
        body = await request_body.kept(request, self._limit)
        return await self._book.proven(
            WalletProof(*sent, method=request.method, paths=signed_paths(request), body=body)
        )

    async def bind(self, tenant: str, wallet: ProvenWallet) -> None:
        """Bind a wallet to the tenant. Raises as `GrantBook.prove`."""
        await self._book.prove(tenant, wallet)


def sent_headers(request: Request) -> WalletHeaders | None:
    """Return the three headers of a wallet's proof, None if none of them was sent. Raises
    `BadRequest` that names the missing one."""
    values = [request.headers.getlist(name) for name in WALLET_HEADERS]
    if not any(values):
        return None
    for name, given in zip(WALLET_HEADERS, values, strict=True):
        if len(given) != 1:
            problem = "is repeated" if given else "is missing: a wallet's proof has three headers"
            raise BadRequest(f"{name} {problem}", param=name)
    return WalletHeaders(*(given[0].strip() for given in values))


def signed_paths(request: Request) -> tuple[str, ...]:
    """Return the forms of a request's path that a client may have signed: as it was sent, or as its
    SDK knows it, without our prefix; with the query, or without. The SDKs' own form is first."""
    raw: bytes = request.scope.get("raw_path") or request.scope["path"].encode()
    path = raw.partition(b"?")[0].decode("latin-1")
    plain = request_body.without_prefix(path)
    query = request.scope["query_string"].decode("latin-1")
    query_part = f"?{query}" if query else ""
    return tuple(dict.fromkeys((plain + query_part, path + query_part, plain, path)))

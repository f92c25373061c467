"""`/ui/session`: find a key for a page that has none.

GET   {"keyless": true, "empty": true, "others": true}, for a page without a key
GET   ?nonce=...: {"proof": "..."}, by which a program recognises the server of a state file
POST  {"code": "..."} of `memtree ui`: {"key": "..."} of this machine's user; null where access
      keys are configured, since only the user knows which of them the client uses
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType
from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree.errors import BadRequest, NotFound, Unauthorized
from memtree_proxy.http import request_body
from memtree_proxy.http.auth import LONGEST_CODE, Gate, LocalUser
from memtree_proxy.http.decoding import Posted, decode, queried
from memtree_proxy.wire.routes import answer
from memtree_proxy.wire.values import Answer

PATH = "/ui/session"
# JSON may encode a character in twelve bytes, and an object has more than its content.
_LONGEST_BODY = 12 * LONGEST_CODE + 1_000


class PostedCode(Posted, frozen=True):
    code: Annotated[str, Meta(max_length=LONGEST_CODE)]


class SessionQuery(Posted, frozen=True):
    nonce: Annotated[str, Meta(max_length=LONGEST_CODE)] | None = None


class ShownSession(Answer, frozen=True, kw_only=True):
    """The state that a page without a key sees, so that an empty one is not mistaken for lost data.
    `others`: other tenants have memory here."""

    keyless: bool
    empty: bool | UnsetType = UNSET
    others: bool | UnsetType = UNSET


class Proof(Answer, frozen=True, kw_only=True):
    proof: str


class PageKey(Answer, frozen=True, kw_only=True):
    key: str | None


@dataclass(frozen=True, slots=True)
class PageSession:
    """`local`: None if nobody can prove to be this machine's user. `tenants`: returns the names of
    tenants with stored memory. `on_lookup`: called when a program looks for this server."""

    gate: Gate
    settings: Settings
    local: LocalUser | None
    tenants: Callable[[], Awaitable[Collection[str]]] | None
    on_lookup: Callable[[], object] = lambda: None

    async def handle(self, request: Request) -> Response:
        """Answer a page that signs in, or a program that verifies this server. Raises `NotFound` if
        the pages are off, `BadRequest` and `Unauthorized`."""
        if not self.settings.ui:
            raise NotFound(f"There is no {request.method} {PATH} here.")
        if request.method == "POST":
            body = await request_body.read(request, _LONGEST_BODY)
            return answer(await self._exchanged(decode(PostedCode, body).code))
        nonce = queried(SessionQuery, request.query_params).nonce
        return answer(await self._session(request) if nonce is None else self._proof(nonce))

    def _proof(self, nonce: str) -> Proof:
        if self.local is None:
            raise BadRequest("nonce: this server has no secret", param="nonce")
        self.on_lookup()
        return Proof(proof=self.local.proof(nonce))

    async def _exchanged(self, code: str) -> PageKey:
        if self.local is None:
            raise Unauthorized("This server accepts no codes.")
        key = self.local.redeem(code)
        return PageKey(key=key if await self.gate.keyless() else None)

    async def _session(self, request: Request) -> ShownSession:
        if not await self.gate.opens_without_key():
            return ShownSession(keyless=False)
        own = (await self.gate.tenant(request, counted=False)).id
        names = set(await self.tenants()) if self.tenants else set()
        return ShownSession(keyless=True, empty=own not in names, others=bool(names - {own}))

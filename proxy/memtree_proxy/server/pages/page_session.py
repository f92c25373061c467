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

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memtree.config import Settings
from memtree.errors import BadRequest, NotFound, Unauthorized
from memtree.tenant_names import ANONYMOUS
from memtree_proxy.access.auth import Gate
from memtree_proxy.access.local_user import LONGEST_CODE, LocalUser
from memtree_proxy.http import request_body

PATH = "/ui/session"
NO_STORE = {"cache-control": "no-store"}
# JSON may encode a character in twelve bytes, and an object has more than its content.
_LONGEST_BODY = 12 * LONGEST_CODE + 1_000


class _PostedCode(msgspec.Struct, forbid_unknown_fields=True):
    code: Annotated[str, msgspec.Meta(max_length=LONGEST_CODE)]


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
            return JSONResponse(await self._exchanged(body), headers=NO_STORE)
        nonce = request.query_params.get("nonce")
        answer = await self._without_key() if nonce is None else self._proof(nonce)
        return JSONResponse(answer, headers=NO_STORE)

    def _proof(self, nonce: str) -> dict[str, str]:
        if self.local is None or len(nonce) > LONGEST_CODE:
            raise BadRequest("nonce is too long, or this server has no secret", param="nonce")
        self.on_lookup()
        return {"proof": self.local.proof(nonce)}

    async def _exchanged(self, body: bytes) -> dict[str, str | None]:
        try:
            code = msgspec.json.decode(body, type=_PostedCode).code
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadRequest(f"code: {error}", param="code") from error
        if self.local is None:
            raise Unauthorized("This server accepts no codes.")
        key = self.local.redeem(code)
        return {"key": key if await self.gate.keyless() else None}

    async def _without_key(self) -> dict[str, bool]:
        """Return what a page without a key sees, so that an empty one is not mistaken for lost
        data."""
        if not await self.gate.opens_without_key():
            return {"keyless": False}
        names = set(await self.tenants()) if self.tenants else set()
        others = bool(names - {ANONYMOUS})
        return {"keyless": True, "empty": ANONYMOUS not in names, "others": others}

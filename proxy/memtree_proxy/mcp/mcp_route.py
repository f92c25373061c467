"""Serve `/mcp`: the memory tools over streamable HTTP, authenticated like all routes.

The SDK is loaded and its task started at the first call, since most servers never get one.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from memtree.config import Settings
from memtree.memories.book import MemoryBook
from memtree.process import tracing
from memtree_proxy.http import request_body
from memtree_proxy.http.auth import Gate, user_scope
from memtree_proxy.mcp.tool_answers import Conversations
from memtree_proxy.mcp.tools import Caller, MemoryTools

if TYPE_CHECKING:
    from memtree_proxy.mcp.sdk_http import McpOverHttp

MAX_BODY_BYTES = 4 * 1024 * 1024  # in one call; the longest text is far shorter


class McpRoute:
    def __init__(
        self, book: MemoryBook, conversations: Conversations, gate: Gate, settings: Settings
    ) -> None:
        self._gate = gate
        self._tools = MemoryTools(book, settings.max_text_chars, conversations)
        self._max_bytes = min(settings.max_body_bytes, MAX_BODY_BYTES)
        self._opening: asyncio.Task[McpOverHttp] | None = None

    async def handle(self, request: Request) -> Response:
        """Answer a request of an MCP client. Raises the errors of `Gate.tenant`, `BadRequest` for a
        header, and `RequestTooLarge`."""
        tenant = await self._gate.tenant(request)
        caller = Caller(user_scope(request, tenant), tracing.current())
        body = await request_body.content(request, self._max_bytes)
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        # Shielded: others wait for it, too, so a client that hangs up must not cancel it.
        return McpAnswer(await asyncio.shield(self._opening), body, caller)

    async def close(self) -> None:
        """Stop the SDK's task, if it was started."""
        opening, self._opening = self._opening, None
        if opening is not None:
            (server,) = await asyncio.gather(opening, return_exceptions=True)
            if not isinstance(server, BaseException):
                await server.close()

    async def _open(self) -> McpOverHttp:
        sdk_http = await asyncio.to_thread(_load)
        server = sdk_http(self._tools, self._max_bytes)
        await server.start()
        return server


class McpAnswer(Response):
    """Response in which the SDK answers the request."""

    def __init__(self, server: McpOverHttp, body: bytes, caller: Caller) -> None:
        super().__init__()
        self._server, self._posted, self._caller = server, body, caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._server.answer(scope, receive, send, self._posted, self._caller)


def _load() -> type[McpOverHttp]:
    from memtree_proxy.mcp.sdk_http import McpOverHttp  # noqa: PLC0415  half a second

    return McpOverHttp

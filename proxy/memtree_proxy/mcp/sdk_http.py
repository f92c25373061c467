"""Run the SDK's streamable HTTP server in its own task. Importing this module loads the SDK."""

from __future__ import annotations

import asyncio
import contextvars
from typing import cast

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Message, Receive, Scope, Send

from memtree_proxy.mcp import sdk_server
from memtree_proxy.mcp.tools import Caller, MemoryTools

CALLER = "memtree.mcp.caller"  # key in the ASGI scope of a request
JSON = (b"content-type", b"application/json")
ACCEPTED = (b"accept", b"application/json, text/event-stream")


class McpOverHttp:
    """Stateless MCP server: no request depends on an earlier request, in either version of the
    protocol, so any process may answer it. The SDK's tasks run in our own task, which no request
    can cancel."""

    def __init__(self, tools: MemoryTools, max_body_bytes: int) -> None:
        self._manager = StreamableHTTPSessionManager(
            sdk_server.build(tools, lambda request: cast(Caller, request.scope[CALLER])),
            stateless=True,
            json_response=True,
            max_request_body_size=max_body_bytes,
        )
        self._end = asyncio.Event()
        self._begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # Use an empty context, or all requests would log the id of the first.
        self._task = asyncio.create_task(self._run(), context=contextvars.Context())

    async def start(self) -> None:
        await asyncio.shield(self._begun)

    async def close(self) -> None:
        self._end.set()
        await self._task

    async def answer(
        self, scope: Scope, receive: Receive, send: Send, body: bytes, caller: Caller
    ) -> None:
        """Answer a POST whose body has been read."""
        # The headers that the SDK needs, without credentials. Content type and encoding were
        # handled before. The answer is JSON whatever the client accepts, since clients that omit
        # the header can read it, too.
        posted = (pair for pair in scope["headers"] if pair[0].startswith(b"mcp-"))
        inner = {**scope, "headers": [JSON, ACCEPTED, *posted], CALLER: caller}
        await self._manager.handle_request(inner, _Replayed(body, receive), send)

    async def _run(self) -> None:
        try:
            async with self._manager.run():
                self._begun.set_result(None)
                await self._end.wait()
        except BaseException as error:
            if not self._begun.done():
                self._begun.set_exception(error)
                return
            raise


class _Replayed:
    """ASGI `receive` of a request whose body has been read."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

"""Serve `GET /memories/export` and `POST /memories/import`, for a user's memories or, if the query
names an agent, for the agent's."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from memtree.config import Settings
from memtree.errors import MemTreeError
from memtree.transfer.memory_transfer import MemoryTransfer
from memtree_proxy.api.memory_requests import MemoryRequests
from memtree_proxy.api.unpacked_file import unpacked
from memtree_proxy.http import log, request_body
from memtree_proxy.http.decoding import queried
from memtree_proxy.wire.memory_rows import MEDIA_TYPE, ImportQuery, ShownReport
from memtree_proxy.wire.routes import answer, route
from memtree_proxy.wire.values import AgentQuery


class ExportResponse(Response):
    """Response that streams an export. `first`: its beginning; `more`: the rest. If the store fails
    or the credential is revoked meanwhile, the line that marks the end of an export is missing."""

    def __init__(self, first: bytes, more: AsyncGenerator[bytes]) -> None:
        self._first, self._more = first, more
        self.background = None
        self.status_code = 200
        self.raw_headers = [
            (b"content-type", MEDIA_TYPE.encode()),
            (b"content-disposition", b'attachment; filename="memories.jsonl"'),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),
        ]

    async def __call__(self, connection: Scope, receive: Receive, send: Send) -> None:
        head = {"status": self.status_code, "headers": self.raw_headers}
        async with aclosing(self._more):
            await send({"type": "http.response.start", **head})
            if connection["method"] != "HEAD":
                try:
                    await _send(send, self._first)
                    async for piece in self._more:
                        await _send(send, piece)
                except MemTreeError as error:
                    log.event("memories.export_failed", why=error.code)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send(send: Send, piece: bytes) -> None:
    await send({"type": "http.response.body", "body": piece, "more_body": True})


class TransferRoutes:
    def __init__(
        self, transfer: MemoryTransfer, requests: MemoryRequests, settings: Settings
    ) -> None:
        self._transfer, self._requests, self._settings = transfer, requests, settings

    @route("GET /memories/export", AgentQuery)
    async def export(self, request: Request) -> Response:
        scope = await self._requests.any_scope(request)
        lines = self._transfer.export(scope, self._requests.allowed(request, scope))
        return ExportResponse(await anext(lines), lines)  # errors before this get an error status

    @route("POST /memories/import", ImportQuery)
    async def import_file(self, request: Request) -> Response:
        """Import a file. Answers 200 with the report, even if no line could be imported."""
        scope = await self._requests.any_scope(request)
        options = queried(ImportQuery, request.query_params).options()
        limit = self._settings.max_body_bytes
        with self._requests.costly(scope.tenant):
            file = await request_body.unpacked(request, limit, unpacked)
            report = await self._transfer.import_file(scope, file, options)
            return answer(ShownReport.of(report))

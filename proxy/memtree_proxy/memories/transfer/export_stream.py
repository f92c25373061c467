"""An export as a streamed answer, page by page."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from memtree.errors import MemTreeError
from memtree_proxy.observability import log

MEDIA_TYPE = "application/x-ndjson"
FILE_NAME = "memories.jsonl"


class ExportResponse(Response):
    """`first`: what the answer begins with; `more`: the rest. Where the store fails meanwhile, or
    the credential is let in no longer, it ends without the line that an export ends with."""

    def __init__(self, first: bytes, more: AsyncGenerator[bytes]) -> None:
        self._first, self._more = first, more
        self.background = None
        self.status_code = 200
        self.raw_headers = [
            (b"content-type", MEDIA_TYPE.encode()),
            (b"content-disposition", f'attachment; filename="{FILE_NAME}"'.encode()),
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

"""A recording tap between a client and the proxy: what was posted, and what came back.

It gives each request a number in a header of its own, which the proxy relays as it relays all
headers that it does not know: so the body that reached the upstream is paired with the one that
the client posted. Bytes pass as they come, both ways, and a side that hangs up is hung up on.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from dataclasses import dataclass, field
from typing import Any

import httpx

NUMBER = "x-tap-number"
NO_LIMIT = httpx.Timeout(None).as_dict()
CHATS = ("/chat/completions", "/messages", "/responses")  # in whatever dialect
_HOP = (b"host", b"connection", b"transfer-encoding", b"content-length", b"keep-alive")


_BEATS = re.compile(rb'(?:: keep-alive\n\n|event: ping\ndata: \{"type": "ping"\}\n\n)*')


@dataclass(slots=True)
class Exchange:
    """One request and its answer. `status` is 0 until the head is there; `whole`: the answer came
    to its end."""

    number: int
    method: str
    path: str
    headers: list[tuple[str, str]]
    raw: bytes
    status: int = 0
    answer_headers: dict[str, str] = field(default_factory=dict)
    answered: bytes = b""
    whole: bool = False

    @property
    def from_upstream(self) -> bytes:
        """The answer without the heartbeats that the proxy sent while the client waited."""
        return _BEATS.sub(b"", self.answered, count=1)

    @property
    def key(self) -> str:
        headers = dict(self.headers)
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        return headers.get("x-api-key") or bearer

    @property
    def is_chat(self) -> bool:
        return self.method == "POST" and self.path.endswith(CHATS)

    @property
    def body(self) -> dict[str, Any]:
        return dict(json.loads(self.raw))

    @property
    def state(self) -> str:
        return self.answer_headers.get("x-memtree-state", "")

    @property
    def epoch(self) -> str:
        return self.answer_headers.get("x-memtree-epoch", "")


class Tap:
    """The ASGI app in front of the proxy at `url`."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.exchanges: list[Exchange] = []

    def of(self, key: str) -> list[Exchange]:
        """The chat requests under this API key, in order."""
        return [one for one in self.exchanges if one.key == key and one.is_chat]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        raw, more = b"", True
        while more:
            message = await receive()
            raw, more = raw + message.get("body", b""), message.get("more_body", False)
        headers = [(name.decode(), value.decode("latin-1")) for name, value in scope["headers"]]
        path = scope["raw_path"].decode()
        exchange = Exchange(len(self.exchanges), scope["method"], path, headers, raw)
        self.exchanges.append(exchange)
        posted = [pair for pair in scope["headers"] if pair[0].lower() not in _HOP]
        posted.append((NUMBER.encode(), str(exchange.number).encode()))
        relaying = asyncio.ensure_future(self._relay(exchange, posted, scope, send))
        watching = asyncio.ensure_future(_gone(receive))
        await asyncio.wait((relaying, watching), return_when=asyncio.FIRST_COMPLETED)
        for one in (relaying, watching):
            one.cancel()
            # A proxy that broke off: leaving without the end makes uvicorn close the connection.
            with contextlib.suppress(asyncio.CancelledError, httpx.HTTPError):
                await one

    async def _relay(self, exchange: Exchange, posted: Any, scope: Any, send: Any) -> None:
        query = scope["query_string"].decode()
        url = self._url + exchange.path + (f"?{query}" if query else "")
        # A request made apart: the client would add headers of its own.
        request = httpx.Request(exchange.method, url, headers=posted, content=exchange.raw)
        transport = httpx.AsyncHTTPTransport(verify=False)
        async with httpx.AsyncClient(transport=transport, trust_env=False) as client:
            request.extensions = {"timeout": NO_LIMIT}
            answer = await client.send(request, stream=True)
            exchange.status = answer.status_code
            exchange.answer_headers = dict(answer.headers)
            kept = [
                pair
                for pair in answer.headers.raw
                if pair[0].lower() not in (b"transfer-encoding", b"connection")
            ]
            await send(
                {"type": "http.response.start", "status": answer.status_code, "headers": kept}
            )
            async for piece in answer.aiter_raw():
                exchange.answered += piece
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            exchange.whole = True
            await send({"type": "http.response.body", "body": b""})


async def _gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

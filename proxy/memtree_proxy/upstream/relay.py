"""Relay an upstream's answer to the client: the same status, headers and bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from memtree_proxy.http import request_body, request_trace
from memtree_proxy.http.auth import Tenant
from memtree_proxy.http.headers import AUTHORIZATION, Headers, request_headers
from memtree_proxy.upstream.upstream_client import Outgoing, Reply, Upstream

WHOLE = 1024 * 1024
_BODILESS = (204, 304)  # a content-length of theirs does not describe a body here


class RelayedReply(Protocol):
    """Reply to relay: a `Reply`, or one whose beginning was already read."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Headers: ...
    def chunks(self) -> AsyncIterator[bytes]: ...
    def close(self) -> None: ...


class ReplyAround:
    """Base of replies that differ from another one only in their chunks."""

    def __init__(self, reply: RelayedReply) -> None:
        self._reply = reply

    @property
    def status(self) -> int:
        return self._reply.status

    @property
    def headers(self) -> Headers:
        return self._reply.headers

    def close(self) -> None:
        self._reply.close()


class Relay(Response):
    """Streams a reply as it comes. Raises if the upstream breaks off; if the client disconnects,
    the upstream's answer is closed, too."""

    def __init__(self, reply: RelayedReply, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
        self._reply = reply
        self.background = None
        self.status_code = reply.status
        kept: Headers = reply.headers
        if reply.status in _BODILESS:
            kept = [(name, value) for name, value in kept if name.lower() != b"content-length"]
        ours = list(headers)
        names = {name for name, _ in ours}
        self.raw_headers = [(name, value) for name, value in kept if name.lower() not in names]
        self.raw_headers += ours

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = {"status": self.status_code, "headers": self.raw_headers}
        try:
            await send({"type": "http.response.start", **head})
            async for chunk in self._reply.chunks():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._reply.close()


async def forward(
    request: Request,
    upstream: Upstream,
    tenant: Tenant,
    body: bytes | None = None,
    *,
    api_key: str | None,
    key_header: bytes = AUTHORIZATION,
    without: frozenset[bytes] = frozenset(),
    also: Headers | None = None,
) -> Reply:
    """Send a request to the upstream: its own body as a stream, or `body` instead. `api_key`: the
    configured key of the upstream, sent in `key_header`. `without`: names of request headers to
    remove; `also`: headers to add. Raises the errors of `Upstream.send`.
    """
    headers = request_headers(
        request.scope["headers"],
        keyed=tenant.keyed,
        api_key=api_key,
        key_header=key_header,
        without=without,
    )
    headers += also or []
    target = request_body.target(request)
    length = request_body.length(request)
    # A small body is read whole, so that it can be sent again if a kept connection was stale.
    if body is None and length and length <= WHOLE:
        body = await request_body.read(request, WHOLE)
    streamed = request_body.stream(request) if body is None else None
    with request_trace.of(request.scope).calling(headers) as call:
        data = streamed if body is None else body
        reply = await upstream.send(Outgoing(request.method, target, call.headers, data, length))
        call.status = reply.status
    return reply

"""Relay every request that no route of ours handles: any method, streamed both ways, unchanged.

With the server's own key, requests are limited to what `server_key` allows. Web pages may use it as
far as the upstream's CORS headers allow, but not at our cost: the configured key of the upstream is
added only for our own pages and allowed origins.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree_proxy.access.auth import Gate
from memtree_proxy.access.browser_policy import BrowserPolicy, FetchHeaders
from memtree_proxy.upstream.relay import Relay, forward
from memtree_proxy.upstream.server_key import ServerKey
from memtree_proxy.upstream.upstreams import UPSTREAMS, Upstreams


class Passthrough:
    """Relays requests. The size limit applies only to JSON sent with the server's key: nothing else
    is buffered, and files may be large."""

    def __init__(
        self, gate: Gate, upstreams: Upstreams, policy: BrowserPolicy, server_key: ServerKey
    ) -> None:
        self._gate = gate
        self._policy = policy
        self._upstreams = upstreams
        self._server_key = server_key

    async def relay(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        upstreams: Upstreams = request.scope.get(UPSTREAMS, self._upstreams)
        upstream, key, key_header = upstreams.of(request.scope["path"], request.headers)
        trusted = self._policy.trusts(FetchHeaders.of(request.scope["headers"]))
        api_key = key if trusted else None
        body, recorder = await self._server_key.lend_route(request, tenant, api_key)
        reply = await forward(
            request, upstream, tenant, body, api_key=api_key, key_header=key_header
        )
        return Relay(recorder.reading(reply) if recorder else reply)

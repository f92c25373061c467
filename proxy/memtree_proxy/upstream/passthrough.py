"""Everything that is no route of ours: any method, streamed both ways, untouched.

With the server's own key it goes as far as `server_key` lends that.
Web pages may use it as far as the upstream's CORS headers let them, but not at our cost: the
configured key of the upstream is added for our own pages and allowed origins alone.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree_proxy.access.auth import Gate
from memtree_proxy.access.browser_policy import BrowserPolicy, FetchHeaders
from memtree_proxy.upstream.relay import Relay, forward
from memtree_proxy.upstream.server_key import ServerKey
from memtree_proxy.upstream.upstreams import Upstreams
from memtree_proxy.upstream.wrapped_path import UPSTREAMS


class Passthrough:
    """The size limit holds for JSON that goes out with the server's key alone: of all else nothing
    is kept, and files may be large."""

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

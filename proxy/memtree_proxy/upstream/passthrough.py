"""Everything that is no route of ours: any method, streamed both ways, untouched.

Web pages may use it as far as the upstream's CORS headers let them, but not at our cost: the
configured key of the upstream is added for our own pages and allowed origins alone.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree_proxy.access.auth import Gate
from memtree_proxy.access.browser_policy import BrowserPolicy, FetchHeaders
from memtree_proxy.upstream.relay import Relay, forward
from memtree_proxy.upstream.upstreams import Upstreams


class Passthrough:
    """The size limit does not hold here: nothing is kept, and files may be large."""

    def __init__(self, gate: Gate, upstreams: Upstreams, policy: BrowserPolicy) -> None:
        self._gate = gate
        self._policy = policy
        self._upstreams = upstreams

    async def relay(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        upstream, key, key_header = self._upstreams.of(request.scope["path"], request.headers)
        trusted = self._policy.trusts(FetchHeaders.of(request.scope["headers"]))
        api_key = key if trusted else None
        reply = await forward(request, upstream, tenant, api_key=api_key, key_header=key_header)
        return Relay(reply)

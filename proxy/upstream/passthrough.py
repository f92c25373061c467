"""Everything that is no route of ours: any method, streamed both ways, untouched.

Web pages may use it as far as the upstream's CORS headers let them, but not at our cost: the
configured key of the upstream is added for our own pages and allowed origins alone.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from proxy.access.auth import Gate
from proxy.access.browser_policy import BrowserPolicy, FetchHeaders
from proxy.upstream.client import Upstream
from proxy.upstream.relay import Relay, configured, forward


class Passthrough:
    """The size limit does not hold here: nothing is kept, and files may be large."""

    def __init__(
        self, gate: Gate, upstream: Upstream | None, settings: Settings, policy: BrowserPolicy
    ) -> None:
        self._gate = gate
        self._policy = policy
        self._upstream = upstream
        self._api_key = settings.upstream_api_key

    async def relay(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        upstream = configured(self._upstream)
        trusted = self._policy.trusts(FetchHeaders.of(request.scope["headers"]))
        api_key = self._api_key if trusted else None
        return Relay(await forward(request, upstream, tenant, api_key=api_key))

"""Apply the rules of `browser_policy`: Host on every path, preflights, then the checks of a route.

The middleware runs for every request; `check` runs for our own routes, for which Origin and
Content-Type matter. Requests that are relayed to the upstream are not checked here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from memtree_proxy.http import request_body, request_trace
from memtree_proxy.http.access_auth import Gate
from memtree_proxy.http.headers import Headers
from memtree_proxy.server.browser_policy import (
    PREFLIGHT_METHOD,
    BrowserPolicy,
    FetchHeaders,
    check_body_type,
    with_cors,
)

_KEY = "memtree.browser"
_BODILESS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(slots=True)
class BrowserRequest:
    """A request as the rules need it. `cors`: headers for its answer."""

    policy: BrowserPolicy
    fetch: FetchHeaders
    cors: Headers


class BrowserGuard:
    """ASGI middleware inside of `Edge`, which renders the errors raised here."""

    def __init__(
        self, app: ASGIApp, policy: BrowserPolicy, gate: Gate, routes: Sequence[BaseRoute]
    ) -> None:
        self.app = app
        self._policy = policy
        self._gate = gate
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        policy, headers = self._policy, scope["headers"]
        fetch = FetchHeaders.of(headers)
        request = BrowserRequest(policy, fetch, [])
        scope[_KEY] = request
        wanted = _preflighted(scope, fetch)
        if fetch.origin is not None and policy.allows(fetch.origin):
            request.cors = (
                policy.cors_headers(fetch.origin)
                if wanted is None
                else policy.preflight_headers(fetch.origin, headers)
            )
        if not policy.answers_to(fetch.host) and await self._gate.keyless():
            raise policy.misdirected(fetch)
        if wanted is not None and request.cors:
            await Response(status_code=204)(scope, receive, send)
            return
        if wanted is not None and self._is_ours(scope, wanted):
            policy.check_origin("OPTIONS", scope["path"], fetch)
        await self.app(scope, receive, send)

    def _is_ours(self, scope: Scope, method: str) -> bool:
        """Return True if one of our routes would handle the same request with another method."""
        probe = {**scope, "method": method}
        for route in self._routes:
            match, child = route.matches(probe)
            if match is Match.FULL:
                return is_ours({"route": route, **child})
        return True


def check(scope: Scope) -> None:
    """Check a request for one of our routes. Raises `Forbidden` or `UnsupportedMedia`."""
    request: BrowserRequest = scope[_KEY]
    method = scope["method"]
    request.policy.check_origin(method, scope["path"], request.fetch)
    if method not in _BODILESS and request_body.announced(scope):
        check_body_type(scope["headers"], request.fetch)


def answer_headers(scope: Scope, headers: Headers) -> Headers:
    """Return the headers of an answer, also of an error, with the CORS headers it needs."""
    request: BrowserRequest | None = scope.get(_KEY)
    return headers if request is None else with_cors(headers, request.cors, ours=is_ours(scope))


def is_ours(scope: Scope) -> bool:
    """Return True if the route of a request is ours, not the one that relays all other paths."""
    return request_trace.pattern(scope) != request_trace.RELAYED


def _preflighted(scope: Scope, fetch: FetchHeaders) -> str | None:
    """Return the method that a preflight asks for; None if the request is not a preflight."""
    if scope["method"] != "OPTIONS" or fetch.origin is None:
        return None
    wanted: bytes | None = dict(scope["headers"]).get(PREFLIGHT_METHOD)
    return None if wanted is None else wanted.decode("latin-1")

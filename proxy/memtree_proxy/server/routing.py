"""Construct our routes: under every prefix, for some methods or all."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from memtree.process.bounded import remember
from memtree_proxy.http import error_response
from memtree_proxy.http.decoding import KNOWN_QUERY, Posted, names
from memtree_proxy.http.request_body import PLAIN_PATH, PREFIXES
from memtree_proxy.server import browser_guard
from memtree_proxy.wire.routes import routes as routes_of

MOST_KNOWN, LONGEST_KNOWN = 1_024, 256  # paths that are cached, and characters of each

TRACE, METHODS = "TRACE", ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

_SLASHES = re.compile("/{2,}")

Endpoint = Callable[[Request], Awaitable[Response]]


class PathRest(PathConvertor):
    """Converter for the rest of a path, with any characters: Starlette's own stops at a line break
    (%0a)."""

    regex = "(?s:.*)"


register_url_convertor("rest", PathRest())


class Handler:
    """An endpoint as an ASGI app, so that Starlette passes it any method; `methods`: empty for
    all."""

    def __init__(self, endpoint: Endpoint, *methods: str) -> None:
        self._endpoint = endpoint
        self._methods = methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"]
        routed_method = "GET" if method == "HEAD" else method
        if browser_guard.is_ours(scope):
            browser_guard.check(scope)
        # TRACE returns a client's headers to anybody who can make it send one; nobody needs it.
        if method == TRACE or (self._methods and routed_method not in self._methods):
            raise error_response.MethodNotAllowed(method, ", ".join(self._methods or METHODS))
        response = await self._endpoint(Request(scope, receive, send))
        await response(scope, receive, send)


class RouteTable:
    """Caches which routes match a path. Starlette's router tests some two hundred routes for every
    request; conditions of a route other than its path are still tested each time.

    Clients join base URLs and paths carelessly: for our routes several slashes are one, and a slash
    at the end is none. A relayed path stays as it came.
    """

    def __init__(self, router: Router, most: int = MOST_KNOWN) -> None:
        self._router = router
        self._most = most
        self._known: OrderedDict[str, tuple[str, tuple[BaseRoute, ...]]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._router(scope, receive, send)
            return
        scope["router"] = self._router
        sent, raw = scope["path"], scope.get("raw_path") or b""
        scope["path"], routes = self.fitting(sent)
        for route in routes:
            match, child = route.matches(scope)
            if match is Match.FULL:
                scope["route"] = route
                scope.update(child)
                odd = scope["path"] != sent or (b"%" in raw and b"%2f" in raw.lower())
                if odd and browser_guard.is_ours(scope):
                    scope[PLAIN_PATH] = quote(scope["path"])
                await route.handle(scope, receive, send)
                return
        await self._router.default(scope, receive, send)

    def fitting(self, path: str) -> tuple[str, tuple[BaseRoute, ...]]:
        """Return the path with single slashes, and the routes that match it, under any method, in
        their order."""
        known = self._known.get(path)
        if known is None:
            plain = _SLASHES.sub("/", path).rstrip("/") or "/"
            routes = tuple(
                route
                for route in self._router.routes
                if not isinstance(route, Route) or route.path_regex.match(plain)
            )
            known = plain, routes
            if len(path) <= LONGEST_KNOWN:
                remember(self._known, path, known, self._most)
        return known


class App(Starlette):
    """Starlette with our middleware only: `Edge` renders all errors, so Starlette's two error
    middlewares see none."""

    def build_middleware_stack(self) -> ASGIApp:
        app: ASGIApp = RouteTable(self.router)
        for middleware, args, kwargs in reversed(self.user_middleware):
            app = middleware(app, *args, **kwargs)
        return app


def everywhere(path: str, endpoint: Endpoint, method: str | None = None) -> list[Route]:
    """Make a route under every prefix; other methods continue with the routes after it."""
    methods = None if method is None else [method]
    return [Route(prefix + path, Handler(endpoint), methods=methods) for prefix in PREFIXES]


def own(path: str, endpoint: Endpoint, *methods: str) -> list[Route]:
    """Make a route under every prefix that is exclusively ours: another method is a 405."""
    return [Route(prefix + path, Handler(endpoint, *methods)) for prefix in PREFIXES]


def described(*routes: object) -> list[Route]:
    """Return the routes declared at the handlers of these objects. Fixed names come before ids: no
    memory is called `search`."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for handlers in routes:
        for mark in routes_of(handlers):
            handler = _with_query(getattr(handlers, mark.handler), mark.query)
            by_path.setdefault(mark.path, {})[mark.method] = handler
    return [
        route
        for path in sorted(by_path, key=_names_first)
        for route in own(path, *_by_method(by_path[path]))
    ]


def family(root: str, *routes: object) -> list[Route]:
    """Return those routes, and a 404 for all other paths below their root."""
    return [*described(*routes), *everywhere(f"{root}/{{rest:rest}}", error_response.not_found)]


def _with_query(handler: Endpoint, query: type[Posted]) -> Endpoint:
    """Return the handler. Once a request's credential is known, `check_query` refuses parameters
    that the query does not have."""
    known = frozenset(names(query))

    async def checked(request: Request) -> Response:
        request.scope[KNOWN_QUERY] = known
        return await handler(request)

    return checked


def _names_first(path: str) -> list[bool]:
    return [part.startswith("{") for part in path.split("/")]


def _by_method(handlers: dict[str, Endpoint]) -> tuple[Endpoint, *tuple[str, ...]]:
    """Return the endpoint that dispatches by method, then the methods."""

    async def handled(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        return await handlers[method](request)

    return handled, *sorted(handlers, key=METHODS.index)

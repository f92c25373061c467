"""Decide which requests of browsers may come in: by Host, Origin, Sec-Fetch-*, type and CORS.

Every web page that a user opens can send requests to a server on localhost. These rules reject
them; clients other than browsers send none of these headers and are not affected.

- Host: with DNS rebinding a page points its own name at 127.0.0.1, and its requests are same-origin
  to the browser. A server without access keys therefore answers only to local names.
- Origin and Sec-Fetch-Site: a route of ours serves our own pages and those of `allowed_origins`.
- Content-Type: forms and `no-cors` fetches need no preflight, but they cannot send JSON.
- CORS: an allowed origin may read our answers, no other.

A cookie alone does not authenticate: see `auth`.

    >>> policy = BrowserPolicy(allowed_origins=frozenset({"http://localhost:3000"}))
    >>> policy.answers_to("nas.local:8787"), policy.answers_to("evil.example:8787")
    (True, False)
    >>> policy.trusts(FetchHeaders(host="localhost:8787", origin="http://localhost:3000"))
    True
    >>> policy.trusts(FetchHeaders(host="localhost:8787", origin="https://evil.example"))
    False

The middleware `BrowserGuard` runs for every request: Host on every path, and preflights. `check`
runs for our own routes, for which Origin and Content-Type matter. Requests that are relayed to the
upstream are not checked there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from memtree.config import Settings
from memtree.errors import BadRequest, Forbidden, MisdirectedRequest, UnsupportedMedia
from memtree.setting_values import without_password
from memtree_proxy.http import request_body, request_trace
from memtree_proxy.http.auth import Gate
from memtree_proxy.http.headers import DEFAULT_PORTS, MAX_LENGTH, Authority, Headers

BODY_TYPES = ("application/json", "application/x-ndjson", "application/octet-stream")
# Pages that contain no data: any site may link to them.
HOME_PATHS = frozenset({"/", "/ui", "/ui/memories", "/ui/tree", "/ui/requests", "/ui/state"})
PREFLIGHT_METHOD = b"access-control-request-method"
PREFLIGHT_SECONDS = 600
METHODS = b"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

_LOCAL_NAMES = frozenset({"localhost", "host.docker.internal"})
_LOCAL_ENDINGS = (".localhost", ".local")
# of Sec-Fetch-Site; any other value means another site's page
_OUR_SITES = (None, "none", "same-origin")
_ORIGIN = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<authority>[^\s/?#@,*]*)")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:")
_HEADER_NAMES = re.compile(rb"[A-Za-z0-9!#$%&'*+.^_`|~, -]{1,8000}")


@dataclass(frozen=True, slots=True)
class FetchHeaders:
    """Headers in which a request describes the page that it comes from. None: not sent. Several
    headers of one name are joined by commas, as in HTTP, and no rule accepts the result. `site`,
    `mode`: Sec-Fetch-Site and -Mode. `metadata`: there is any Sec-Fetch-* header."""

    host: str | None = None
    origin: str | None = None
    site: str | None = None
    mode: str | None = None
    metadata: bool = False

    @classmethod
    def of(cls, headers: Iterable[tuple[bytes, bytes]]) -> FetchHeaders:
        values: dict[str, str] = {}
        metadata = False
        for name, value in headers:
            lower = name.lower()
            field = _FIELDS.get(lower)
            metadata = metadata or lower.startswith(b"sec-fetch-")
            if field is not None:
                text = value.decode("latin-1").strip()
                values[field] = f"{values[field]},{text}" if field in values else text
        return cls(**values, metadata=metadata)

    @property
    def from_browser(self) -> bool:
        """Return True if a browser sent the request, or a program that sends the same headers, such
        as Node."""
        return self.origin is not None or self.metadata

    @property
    def navigates(self) -> bool:
        """Return True if a person follows a link, types an address, or reloads."""
        return self.mode == "navigate"


_FIELDS = {
    b"host": "host",
    b"origin": "origin",
    b"sec-fetch-site": "site",
    b"sec-fetch-mode": "mode",
}


@dataclass(frozen=True, slots=True)
class BrowserPolicy:
    """The rules with their configuration. `allowed_schemes`: entries of `allowed_origins` like
    `vscode-webview:`, whose origins have a new name each time. `public`: of `public_url`."""

    allowed_hosts: frozenset[str] = frozenset()
    allowed_origins: frozenset[str] = frozenset()
    allowed_schemes: frozenset[str] = frozenset()
    public: Authority | None = None
    public_scheme: str = "http"

    @classmethod
    def of(cls, settings: Settings) -> BrowserPolicy:
        """Build the policy that the settings describe. Raises `BadRequest` that names the
        setting."""
        public, scheme = _public(settings.public_url)
        entries = [entry.lower() for entry in settings.allowed_origins]
        schemes = {entry for entry in entries if _SCHEME.fullmatch(entry)}
        if web := schemes & {"http:", "https:"}:
            raise BadRequest(
                f"allowed_origins: {web.pop()!r} would let every web page in",
                param="allowed_origins",
            )
        return cls(
            allowed_hosts=frozenset(map(_host_entry, settings.allowed_hosts)),
            allowed_origins=frozenset(_origin_entry(e) for e in entries if e not in schemes),
            allowed_schemes=frozenset(scheme.rstrip(":") for scheme in schemes),
            public=public,
            public_scheme=scheme,
        )

    # -- Host --------------------------------------------------------------------------------

    def answers_to(self, host: str | None) -> bool:
        """Return True if a server without access keys answers to this Host. No browser omits it."""
        if host is None:
            return True
        authority = Authority.parse(host)
        if authority is None:
            return False
        name = authority.host.removesuffix(".")
        return (
            authority.is_address
            or "." not in authority.host  # Docker and LAN; such a name cannot be registered
            or name in _LOCAL_NAMES
            or name.endswith(_LOCAL_ENDINGS)
            or name in self.allowed_hosts
            or (self.public is not None and name == self.public.host)
        )

    # -- Origin ------------------------------------------------------------------------------

    def allows(self, origin: str | None) -> bool:
        """Return True if `allowed_origins` contains it."""
        if origin is None or len(origin) > MAX_LENGTH:
            return False
        normal = _normal_origin(origin)
        if normal in self.allowed_origins:
            return True
        return bool(_ORIGIN.fullmatch(normal)) and normal.partition(":")[0] in self.allowed_schemes

    def trusts(self, fetch: FetchHeaders) -> bool:
        """Return True if a request comes from no web page, from one of ours, or from an allowed
        one."""
        if fetch.origin is not None:
            if self.allows(fetch.origin):
                return True
            if not self._is_own(fetch.origin, fetch.host):
                return False
        return fetch.site in _OUR_SITES

    def check_origin(self, method: str, path: str, fetch: FetchHeaders) -> None:
        """Raise `Forbidden` for a request to a route of ours from another site's page."""
        if self.trusts(fetch) or (method == "GET" and path in HOME_PATHS and fetch.navigates):
            return
        if fetch.origin is None:
            message = (
                f"A page of another site may not use this (sec-fetch-site is {shown(fetch.site)})."
            )
        else:
            message = (
                f"Pages of {shown(fetch.origin)} may not use this server. To let them, add this "
                "origin to allowed_origins (MEMTREE_ALLOWED_ORIGINS)."
            )
        raise Forbidden(message, param="sec-fetch-site" if fetch.origin is None else "origin")

    def _is_own(self, origin: str, host: str | None) -> bool:
        """Return True if host and port are those that the request was sent to, or those of
        `public_url`."""
        match = _ORIGIN.fullmatch(origin.lower()) if len(origin) <= MAX_LENGTH else None
        if match is None or match["scheme"] not in DEFAULT_PORTS:
            return False
        scheme = match["scheme"]
        page = Authority.parse(match["authority"])
        if page is None:
            return False
        here = Authority.parse(host) if host else None
        if here is not None and page.with_port(scheme) == here.with_port(scheme):
            return True
        public = self.public
        return public is not None and page.with_port(scheme) == public.with_port(self.public_scheme)

    # -- CORS --------------------------------------------------------------------------------

    def cors_headers(self, origin: str) -> Headers:
        """Return the headers that let an allowed page read an answer, all headers of it
        included."""
        return [
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-expose-headers", b"*"),
            (b"vary", b"Origin"),
        ]

    def preflight_headers(self, origin: str, headers: Iterable[tuple[bytes, bytes]]) -> Headers:
        """Return the headers that allow a page to send the request of its preflight: any method and
        header."""
        answer = [
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-allow-methods", METHODS),
            (b"access-control-max-age", b"%d" % PREFLIGHT_SECONDS),
            (b"vary", b"Origin, Access-Control-Request-Method, Access-Control-Request-Headers"),
        ]
        requested = dict(headers)
        names = requested.get(b"access-control-request-headers", b"")
        if _HEADER_NAMES.fullmatch(names):  # `*` would not include Authorization
            answer.append((b"access-control-allow-headers", names))
        if requested.get(b"access-control-request-private-network") == b"true":
            answer.append((b"access-control-allow-private-network", b"true"))
        return answer


def with_cors(answer: Headers, cors: Headers, *, ours: bool) -> Headers:
    """Return the headers of an answer with the right CORS headers. `cors`: for an allowed origin,
    else none. `ours`: a route of ours answers; CORS headers of an upstream were not meant for it.
    """
    if ours:
        kept = [pair for pair in answer if not pair[0].lower().startswith(b"access-control-")]
        return [*kept, *cors]
    if not cors:
        return answer
    granted = {value for name, value in answer if name.lower() == cors[0][0]}
    if granted and granted <= {b"*", cors[0][1]}:
        return answer
    return with_cors(answer, cors, ours=True)


def check_body_type(headers: Iterable[tuple[bytes, bytes]], fetch: FetchHeaders) -> None:
    """Raise `UnsupportedMedia` if the body of a request to a route of ours is not JSON. A missing
    type counts as JSON, except from a browser, which can omit it even for other bodies."""
    values = [value.decode("latin-1") for name, value in headers if name.lower() == b"content-type"]
    types = [value.partition(";")[0].strip().lower() for value in values if value.strip()]
    if all(type_ in BODY_TYPES for type_ in types) and (types or not fetch.from_browser):
        return
    given = f"is {shown(', '.join(types))}, not JSON" if types else "is missing"
    raise UnsupportedMedia(
        f"The content-type {given}. Send JSON with the header `Content-Type: application/json`, "
        "or a file with `application/octet-stream`.",
        param="content-type",
    )


def is_page_visit(fetch: FetchHeaders, accept: str) -> bool:
    """Return True if a person opens an address in a browser. Old browsers send no fetch
    metadata."""
    return "text/html" in accept.lower() and (fetch.navigates or not fetch.metadata)


def shown(value: str | None) -> str:
    """Return a header's value as a message may contain it."""
    text = value or ""
    return ascii(text if len(text) <= 100 else text[:100] + "...")


def _normal_origin(origin: str) -> str:
    """Return an origin in lower case and without the default port, as browsers send it."""
    normal = origin.lower()
    for scheme, port in DEFAULT_PORTS.items():
        if normal.startswith(f"{scheme}://"):
            normal = normal.removesuffix(f":{port}")
    return normal


def _host_entry(entry: str) -> str:
    authority = Authority.parse(entry)
    if authority is None or authority.port is not None or entry.endswith(":"):
        raise BadRequest(
            f"allowed_hosts: {shown(entry)} is not a host name, as in memory.example.com (without "
            "scheme and port; names in other scripts as xn--...)",
            param="allowed_hosts",
        )
    return authority.host.removesuffix(".")


def _origin_entry(entry: str) -> str:
    if entry != "null" and not _ORIGIN.fullmatch(entry):
        raise BadRequest(
            f"allowed_origins: {shown(entry)} is not an origin, as in http://localhost:3000, "
            "app://x or null (without a path), and not a scheme, as in vscode-webview:",
            param="allowed_origins",
        )
    return _normal_origin(entry)


def _public(url: str | None) -> tuple[Authority | None, str]:
    """Return host and port of `public_url`, and its scheme."""
    if url is None:
        return None, "http"
    try:
        parts = urlsplit(url)
        public = Authority.parse(parts.netloc)
    except ValueError:
        parts, public = urlsplit(""), None
    if public is None or parts.scheme not in DEFAULT_PORTS or parts.query or parts.fragment:
        raise BadRequest(
            f"public_url: {shown(without_password(url))} is not an address, as in https://memory.example.com",
            param="public_url",
        )
    return public, parts.scheme


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
        wanted = None  # the method that a preflight asks for
        if scope["method"] == "OPTIONS" and fetch.origin is not None:
            method: bytes | None = dict(headers).get(PREFLIGHT_METHOD)
            wanted = None if method is None else method.decode("latin-1")
        if fetch.origin is not None and policy.allows(fetch.origin):
            request.cors = (
                policy.cors_headers(fetch.origin)
                if wanted is None
                else policy.preflight_headers(fetch.origin, headers)
            )
        if not policy.answers_to(fetch.host) and await self._gate.keyless():
            raise MisdirectedRequest(
                "This server has no access keys, so it answers only to local names, and "
                f"{shown(fetch.host)} is not one. Add it to allowed_hosts "
                "(MEMTREE_ALLOWED_HOSTS), or create a key with `memtree keys create LABEL`.",
                param="host",
            )
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

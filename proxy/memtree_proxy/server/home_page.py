"""`GET /` from a browser: a small page that says what runs here and which settings to paste into
clients.

All other requests for `/` are relayed to the upstream. The page contains no data, loads nothing and
runs no script, so any site may link to it.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
from functools import cached_property
from html import escape
from pathlib import Path
from string import Template

import msgspec
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from memtree import __version__
from memtree.config import Settings
from memtree_proxy.http.headers import Authority
from memtree_proxy.server.browser_guard import FetchHeaders, is_page_visit
from memtree_proxy.wire.openapi import document

_PAGE = Path(__file__).with_name("home_page.html").read_text("utf-8")
_MAP = (Path(__file__).parents[1] / "web" / "llms.txt").read_text("utf-8")
_STYLE = _PAGE.partition("<style>")[2].partition("</style>")[0]
_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_LINK = (
    '<li><a href="/ui">/ui</a>: chat, memories, the tree of summaries, and what was saved</li>\n'
)
HEADERS = {
    "content-security-policy": (
        f"default-src 'none'; style-src 'sha256-{_DIGEST}'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    # the page shows the Host, and other requests for `/` belong to the upstream
    "cache-control": "no-store",
    "vary": "Accept, Sec-Fetch-Mode",
}


class HomeRoute(Route):
    """Route that handles `/` only for a browser that visits the page."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        accept = Headers(scope=scope).get("accept", "") if scope["type"] == "http" else ""
        if accept and is_page_visit(FetchHeaders.of(scope["headers"]), accept):
            return super().matches(scope)
        return Match.NONE, {}


class HomePage:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def show(self, request: Request) -> Response:
        page = render(base_url(request, self._settings), pages=self._settings.ui)
        return Response(page, media_type="text/html", headers=HEADERS)


async def show_map(_: Request) -> Response:
    """Answer `/llms.txt`: links to the documentation, for language models (https://llmstxt.org)."""
    return Response(_MAP, media_type="text/plain")


def base_url(request: Request, settings: Settings) -> str:
    """Return the base URL for clients, with the host name under which the page was reached."""
    if settings.public_url is not None:
        return settings.public_url.rstrip("/") + "/v1"
    host = request.headers.get("host", "")
    if Authority.parse(host) is None:
        host = f"localhost:{settings.port}"
    return f"{request.url.scheme}://{host.lower()}/v1"


def render(base: str, *, pages: bool) -> str:
    """Render the home page. `pages`: True to link to the web pages."""
    return Template(_PAGE).substitute(
        base=escape(base), version=escape(__version__), pages=_LINK if pages else ""
    )


class DocumentPage:
    """`GET /openapi.json`: the document, made on the first request. Needs no credential, since it
    says nothing beyond the documentation."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def _content(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(document(self._settings)), indent=2)

    async def show(self, _: Request) -> Response:
        # Reading the document takes a third of a second.
        return Response(
            await asyncio.to_thread(getattr, self, "_content"), media_type="application/json"
        )

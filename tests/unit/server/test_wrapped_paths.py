"""A request under a wrapped path becomes a plain one, and no shape of it shows the token behind."""

from __future__ import annotations

from typing import Any, cast

import pytest

from memtree.config import Settings
from memtree_proxy.http.request_body import WRAP_RUN
from memtree_proxy.server.leases import Leases, WrappedPaths
from memtree_proxy.upstream.upstreams import WrappedPath

TOKEN = "t" * 43


class OneRun:
    """Knows one token."""

    def path(self, token: str) -> WrappedPath | None:
        upstreams = "https://a.example/v1", "auto"
        return WrappedPath.of("0a1b", Settings(), *upstreams) if token == TOKEN else None


async def behind(path: str, raw: str | None = None, query: str = "") -> dict[str, Any]:
    """Return what the app behind sees."""
    seen: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(dict(scope))

    raw_path = (raw or path).encode()
    scope = {"type": "http", "path": path, "raw_path": raw_path, "query_string": query.encode()}
    await WrappedPaths(app, cast(Leases, OneRun()))(scope, cast(Any, None), cast(Any, None))
    return seen[0]


@pytest.mark.parametrize(
    ("path", "raw", "plain"),
    [
        (f"/w/{TOKEN}/v1/chat/completions", None, "/v1/chat/completions"),
        (f"/w/{TOKEN}/", None, "/"),
        (f"/w/{TOKEN}/a b", f"/w/{TOKEN}/a%20b", "/a b"),
    ],
)
async def test_a_path_becomes_plain(path: str, raw: str | None, plain: str) -> None:
    scope = await behind(path, raw, "x=1")
    assert (scope["path"], scope["query_string"]) == (plain, b"x=1")
    assert scope["raw_path"] == plain.replace(" ", "%20").encode()
    assert scope["state"] == {WRAP_RUN: "0a1b"}


@pytest.mark.parametrize(
    ("path", "raw", "query"),
    [
        (f"/w/{TOKEN}", None, ""),
        ("/w/bad/v1/models", None, ""),
        (f"/w/{'u' * 43}/v1/models", None, ""),
        (f"/w/{TOKEN}/v1", f"/%77/{TOKEN}/v1", ""),
        (f"/w/{TOKEN}/v1", f"/w/%74{TOKEN[1:]}/v1", ""),
        (f"/w/{TOKEN}/w/{TOKEN}/v1", None, ""),
        (f"/w/{TOKEN}//w/{TOKEN}", None, ""),
        (f"/w/{TOKEN}/v1", None, f"back=/w/{TOKEN}/v1"),
        (f"/v1/w/{TOKEN}/x", None, ""),
        (f"//w/{TOKEN}/x", None, ""),
    ],
)
async def test_what_is_no_such_path_shows_nothing(path: str, raw: str | None, query: str) -> None:
    scope = await behind(path, raw, query)
    assert scope["path"].startswith("/w/-")
    assert TOKEN not in repr(scope)
    assert WRAP_RUN not in scope.get("state", {})


@pytest.mark.parametrize("path", ["/v1/w/files", "/v1/chat/completions", "/w", "/ui/w/x"])
async def test_other_paths_stay(path: str) -> None:
    assert (await behind(path, query="a=b"))["path"] == path


def test_a_route_at_the_end_of_an_upstream_is_left_out():
    given = ("http://llm.example.com/v1/chat/completions", "http://llm.example.com/v1/messages/")
    path = WrappedPath.of("0a1b", Settings(), *given)
    assert path.settings.upstream == path.settings.anthropic_upstream == "http://llm.example.com/v1"

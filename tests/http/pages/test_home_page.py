"""`GET /`: a page for browsers, the upstream for everybody else."""

from __future__ import annotations

import base64
import hashlib
from html.parser import HTMLParser

import pytest

from tests.http.served.fakes import FakeKeys, edge
from tests.http.served.upstream import PLAIN_BYTES, FakeUpstream

BROWSER = {
    "accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document",
    "host": "nas.local:8787",
}  # fmt: skip


class Tags(HTMLParser):
    """Tags in order, ids, and what `href`, `src` and style attributes say."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.labels: list[str] = []
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        named = dict(attrs)
        self.attributes |= set(named)
        self.ids += filter(None, [named.get("id")])
        self.labels += filter(None, [named.get("aria-labelledby")])
        self.links += filter(None, [named.get("href"), named.get("src")])


@pytest.mark.parametrize("keys", [{}, {"acme": ["K"]}], ids=["open", "keyed"])
@pytest.mark.parametrize("site", ["none", "same-origin", "cross-site", "same-site"])
async def test_what_a_person_sees(site: str, keys: dict[str, list[str]], upstream: FakeUpstream):
    async with edge(None, keys=FakeKeys(**keys)) as client:
        answer = await client.get("/", headers=BROWSER | {"sec-fetch-site": site})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    for text in ("The server is running", "http://nas.local:8787/v1<", "x-polychat-memory: on",
                 "curl http://nas.local:8787/v1/context_memory", "docs/clients.md"):  # fmt: skip
        assert text in answer.text
    assert "$" not in answer.text
    assert not upstream.seen


async def test_it_loads_nothing_and_cannot_be_framed():
    async with edge(None) as client:
        answer = await client.get("/", headers=BROWSER)
        paths = [link for link in Tags(answer.text).links if link.startswith("/")]
        for path in paths:
            assert (await client.get(path)).status_code == 200
    policy = dict(part.strip().split(" ", 1)
                  for part in answer.headers["content-security-policy"].split(";"))  # fmt: skip
    style = answer.text.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == {
        "default-src": "'none'", "style-src": f"'sha256-{digest}'", "img-src": "data:",
        "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
    }  # fmt: skip
    seen = Tags(answer.text)
    assert {"script", "img", "iframe", "form"}.isdisjoint(seen.tags)
    assert {"style", "onclick"}.isdisjoint(seen.attributes)
    assert set(seen.links) == {"data:,", *paths}
    assert len(paths) == 3
    assert (answer.headers["cache-control"], answer.headers["x-content-type-options"]) == (
        "no-store", "nosniff",
    )  # fmt: skip


async def test_it_can_be_used_by_everybody():
    async with edge(None) as client:
        page = (await client.get("/", headers=BROWSER)).text
    seen = Tags(page)
    assert '<html lang="en">' in page
    assert seen.tags.count("h1") == 1
    assert seen.tags.count("main") == 1
    assert "title" in seen.tags
    assert sorted(seen.labels) == sorted(seen.ids)
    assert "prefers-color-scheme: dark" in page


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [("GET", "/", {}), ("GET", "/", {"accept": "*/*"}),
     ("GET", "/", {"accept": "application/json"}),
     ("GET", "/", {"accept": "text/html", "sec-fetch-mode": "cors"}),
     ("GET", "/", {"accept": "image/avif,*/*", "sec-fetch-mode": "no-cors"}),
     ("POST", "/", {"accept": "text/html"}), ("GET", "/v1", {"accept": "text/html"}),
     ("GET", "/v1/", {"accept": "text/html"}), ("GET", "/uis", {"accept": "text/html"})],
)  # fmt: skip
async def test_all_else_goes_to_the_upstream(
    method: str, path: str, headers: dict[str, str], base: str, upstream: FakeUpstream
):
    async with edge(base) as client:
        answer = await client.request(method, path, headers=headers)
    assert answer.content == PLAIN_BYTES
    assert len(upstream.seen) == 1


@pytest.mark.parametrize(
    ("host", "public", "shown"),
    [("localhost:8787", None, "http://localhost:8787/v1"), ("[::1]:8787", None, "http://[::1]:8787/v1"),
     ("x.example", "https://mem.example/", "https://mem.example/v1"),
     ('a"><script>', None, "http://localhost:8787/v1"), ("u@evil", None, "http://localhost:8787/v1")],
)  # fmt: skip
async def test_the_base_url_is_by_the_name_that_was_used(host: str, public: str | None, shown: str):
    async with edge(None, keys=FakeKeys(acme=["K"]), public_url=public) as client:
        answer = await client.get("/", headers=BROWSER | {"host": host})
    assert f'<dd><code class="copy">{shown}</code></dd>' in answer.text
    assert "script" not in answer.text


async def test_old_browsers_and_head_requests():
    async with edge(None) as client:
        old = await client.get("/", headers={"accept": "text/html"})
        head = await client.head("/", headers=BROWSER)
    assert (old.status_code, head.status_code) == (200, 200)
    assert "The server is running" in old.text

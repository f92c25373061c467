"""`/` and `/ui`: which files are served, to whom, and with which headers; the home page; and a
conversation to begin with."""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from memtree.history import chat_history
from memtree.history.message import Message, Volatile
from memtree_proxy.server.web_pages import (
    DEMO_PATH,
    DEMO_QUESTIONS,
    DEMO_TOKENS,
    FOR_GOOD,
    HEADERS,
    JOINED,
    PAGES,
    ROOT,
    STATIC,
    accepts_gzip,
    web_files,
)
from tests.http.served.fakes import FakeKeys, edge
from tests.http.served.upstream import PLAIN_BYTES, FakeUpstream

# A page may have this one style sheet, and no other.
STYLE = re.search(r"<style>(.*?)</style>", web_files(ROOT)["/ui"].content.decode(), re.DOTALL)
assert STYLE is not None
DIGEST = base64.b64encode(hashlib.sha256(STYLE[1].encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; script-src 'self'; style-src 'sha256-{DIGEST}'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
FILES = sorted(web_files(ROOT))
SCRIPT = next(path for path in FILES if path.startswith(JOINED))
VENDORED = {
    "preact.js": "72284e8e9079c87817145df1110f74e8a2aa040b2fc384922e18dfcb46fc1fd7",
    "marked.js": "5371fea86fd0656b4fc7bea7c94c663109d82789b69433eeee78d42895aa44de",
    "sugar-high.js": "87e90068571db06505f92cf933da3cce2518b7736cf53a2d2668ba5df83d3506",
}
PACKED = {"accept-encoding": "gzip, br"}
LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}


async def test_every_file_with_its_headers_and_nobody_else_is_asked(
    base: str, upstream: FakeUpstream
):
    async with edge(base, keys=FakeKeys(acme=["K"])) as client:
        for path in FILES:
            answer = await client.get(path, headers=PACKED)
            assert answer.status_code == 200, path
            ours = {name: value for name, value in answer.headers.items()
                    if not name.startswith("x-memtree-")}  # fmt: skip
            assert ours == {
                "content-type": kind(path),
                "content-security-policy": POLICY,
                "x-content-type-options": "nosniff",
                "referrer-policy": "no-referrer",
                "cross-origin-opener-policy": "same-origin",
                "cross-origin-resource-policy": "same-origin",
                "cache-control": FOR_GOOD if path.startswith(JOINED) else "no-cache",
                "vary": "Accept-Encoding",
                "content-encoding": "gzip",
                "content-length": answer.headers["content-length"],
                "etag": answer.headers["etag"],
            }
            head = await client.head(path, headers=PACKED)
            assert (head.status_code, head.headers["etag"]) == (200, answer.headers["etag"])
    assert not upstream.seen


def kind(path: str) -> str:
    types = {
        "js": "text/javascript",
        "svg": "image/svg+xml",
        "txt": "text/plain",
    }
    return types.get(path.rpartition(".")[2], "text/html") + "; charset=utf-8"


async def test_a_slash_at_the_end_leads_to_the_page():
    async with edge(None) as client:
        for page in PAGES:
            for query in ("", "?a=%2f"):
                answer = await client.get(f"{page.path}/{query}")
                assert (answer.status_code, answer.content) == (308, b"")
                assert answer.headers["location"] == page.path + query
                assert answer.headers["content-security-policy"] == POLICY
    async with edge(None, ui=False) as client:
        assert (await client.get("/ui/")).status_code == 404


async def test_the_bytes_are_those_of_the_file_compressed_or_not():
    script = (ROOT / "shell" / "key.js").read_bytes()
    async with edge(None) as client:
        plain = await client.get(f"{STATIC}shell/key.js")
        async with client.stream("GET", f"{STATIC}shell/key.js", headers=PACKED) as answer:
            packed = b"".join([piece async for piece in answer.aiter_raw()])
    assert plain.content == script
    assert "content-encoding" not in plain.headers
    assert gzip.decompress(packed) == script
    assert plain.headers["etag"] != answer.headers["etag"]


async def test_what_the_browser_has_is_not_sent_again():
    async with edge(None) as client:
        first = await client.get("/ui")
        for known in (first.headers["etag"], f'"x", W/{first.headers["etag"]}'):
            again = await client.get("/ui", headers={"if-none-match": known})
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["etag"] == first.headers["etag"]
            assert again.headers["content-security-policy"] == POLICY
        other = {"if-none-match": first.headers["etag"], **PACKED}
        assert (await client.get("/ui", headers=other)).status_code == 200


@pytest.mark.parametrize(
    "path",
    ["/ui//", "/ui/chat", "/ui/chat/", "/ui%2f",
     "/ui/static", "/ui/static/", "/ui/static/page.html", "/ui/page.html",
     "/ui/static/shell/base.css", "/ui/static/shell", "/ui/static/shell/",
     "/ui/static//shell/key.js", "/ui/static/shell/%2e%2e/shell/key.js",
     "/ui/static/%2e%2e/server/serve.py", "/ui/static/..%2fserver%2fserve.py",
     "/ui/static/shell%2fkey.js", "/ui/static/shell%2Fkey.js", "/ui/static/shell/key.js%00",
     "/ui/static/shell/%6bey.js", "/ui/static/%00", "/ui/static/shell/key.js/", "/ui%2fstate",
     "/ui/static/shell\\key.js", "/ui/static/SHELL/key.js", "/ui/static//etc/passwd",
     "/v1/ui", "/api/ui", "/api/v1/ui/state", "/v1/ui/static/shell/key.js"],
)  # fmt: skip
async def test_nothing_else_is_served_or_relayed(path: str, base: str, upstream: FakeUpstream):
    async with edge(base) as client:
        answer = await client.get(path)
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"
    assert not upstream.seen


async def test_a_page_is_only_read():
    async with edge(None) as client:
        for method in ("POST", "PUT", "DELETE"):
            answer = await client.request(
                method, "/ui", headers={"content-type": "application/json"}
            )
            assert (answer.status_code, answer.headers["allow"]) == (405, "GET")


async def test_without_pages_there_is_no_trace_of_them(base: str, upstream: FakeUpstream):
    page = {"accept": "text/html", "sec-fetch-mode": "navigate"}
    async with edge(base, ui=False) as client:
        for path in (*FILES, "/ui/static/x"):
            assert (await client.get(path)).status_code == 404
        assert "/ui" not in (await client.get("/", headers=page)).text
    async with edge(base) as client:
        assert '<a href="/ui">' in (await client.get("/", headers=page)).text
    assert not upstream.seen


async def test_a_link_on_any_site_leads_to_a_page_but_to_nothing_else():
    async with edge(None) as client:
        for page in PAGES:
            assert (await client.get(page.path, headers=LINK)).status_code == 200
            embedded = LINK | {"sec-fetch-mode": "no-cors"}
            assert (await client.get(page.path, headers=embedded)).status_code == 403
        for path in (SCRIPT, f"{STATIC}shell/key.js"):
            assert (await client.get(path, headers=LINK)).status_code == 403


async def test_a_rebinding_host_gets_nothing():
    async with edge(None) as client:
        assert (await client.get("/ui", headers={"host": "evil.example"})).status_code == 421


async def test_a_visit_leaves_no_log_lines_but_a_refusal_does(caplog: pytest.LogCaptureFixture):
    caplog.set_level("INFO")
    async with edge(None) as client:
        for path in ("/ui", SCRIPT, "/ui/state"):
            assert (await client.get(path)).status_code == 200
        assert (await client.get("/ui/nothing")).status_code == 404
    told = [record.getMessage() for record in caplog.records if record.name == "memtree"]
    assert len(told) == 1
    assert "route=/ui/nothing status=404" in told[0]


def test_vendored_files_are_those_that_were_read():
    licences = (ROOT / "vendor" / "licences.txt").read_text("utf-8")
    found = {file.name for file in (ROOT / "vendor").glob("*.js")}
    assert found == VENDORED.keys()
    for name, digest in VENDORED.items():
        assert hashlib.sha256((ROOT / "vendor" / name).read_bytes()).hexdigest() == digest
        assert re.search(rf"{name}[^=]*{digest}", licences)
    for text in (
        "Apache License",
        "Jason Miller",
        "MarkedJS",
        "huozhi",
        "Permission is hereby granted",
    ):
        assert text in licences


def scripts() -> list[Path]:
    return [file for file in ROOT.rglob("*.js") if file.parent.name != "vendor"]


def test_scripts_keep_to_what_the_policy_and_the_key_allow():
    """Violations that a browser would only notice on the way it happens to go."""
    banned = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|localStorage"
        r"|document\.cookie|EventSource|https?://(?!www\.w3\.org/2000/svg|html\.spec)|window\.open"
    )
    for file in scripts():
        assert not banned.search(file.read_text("utf-8")), file


def test_every_import_leads_to_a_file_and_every_page_loads_all_in_one_script():
    for file in scripts():
        for target in re.findall(r"""from\s+["']([^"']+)["']""", file.read_text("utf-8")):
            assert file.parent.joinpath(target).resolve().is_file(), f"{file} imports {target}"
    files = web_files(ROOT)
    for page in PAGES:
        document = files[page.path].content.decode()
        (script,) = re.findall(r'<script type="module" src="([^"]+)"', document)
        text = files[script].content.decode()
        assert hashlib.sha256(text.encode()).hexdigest().startswith(script.split("/")[3])
        assert not re.search(r"^(?:import|export)\b(?!\()", text, re.MULTILINE)
        for late in re.findall(r"import\(\"([^\"]+)", text):
            assert late in files
        assert f'<a href="{page.path}" aria-current=page>' in document


def test_the_chat_page_knows_the_configured_model_and_nothing_of_it_is_markup():
    documents = web_files(ROOT, '<b>"gpt&')
    for page in PAGES:
        document = documents[page.path].content.decode()
        assert '<meta name="memtree-model" content="&lt;b&gt;&quot;gpt&amp;">' in document


def test_pages_are_small():
    for page in PAGES:
        files = web_files(ROOT)
        names = re.findall(r'(?:href|src)="(/ui/[-s][^"]+)"', files[page.path].content.decode())
        assert (
            len(files[page.path].compressed)
            + sum(len(files[name].compressed) for name in dict.fromkeys(names))
            < 110_000
        )


@pytest.mark.parametrize(
    ("accepted", "taken"),
    [("gzip", True), ("br, GZIP;q=0.5", True), ("gzip;q=0", False), ("gzip; q=0.0", False),
     ("gzip;q=0.001", True), ("", False), ("identity", False), ("xgzip", False), ("*", False)],
)  # fmt: skip
def test_whether_gzip_is_accepted(accepted: str, taken: bool):
    assert accepts_gzip(accepted) is taken


async def test_a_long_conversation_with_questions_about_it():
    async with edge(None, keys=FakeKeys(acme=["K"])) as client:
        shown = (await client.get(DEMO_PATH)).json()
    read = chat_history.read("", tuple(Message.of(each) for each in shown["messages"]), Volatile())
    assert DEMO_TOKENS <= read.tokens < 1.1 * DEMO_TOKENS
    assert len(set(shown["questions"])) == DEMO_QUESTIONS
    text = msgspec.json.encode(shown["messages"]).decode()
    for question in shown["questions"]:
        task = question.split()[1].rstrip(",")
        assert f"{task} is done" in text


async def test_it_is_made_once_and_sent_once():
    async with edge(None) as client:
        both = await asyncio.gather(client.get(DEMO_PATH), client.get(DEMO_PATH, headers=PACKED))
        plain, packed = both
        assert plain.content == packed.content
        assert packed.headers["content-encoding"] == "gzip"
        assert {name: plain.headers[name] for name in HEADERS} == HEADERS
        assert plain.headers["content-type"] == "application/json"
        known = {"if-none-match": packed.headers["etag"], **PACKED}
        again = await client.get(DEMO_PATH, headers=known)
    assert (again.status_code, again.content) == (304, b"")


async def test_without_pages_there_is_none_and_no_prefix_has_one(base: str, upstream: FakeUpstream):
    async with edge(base, ui=False) as client:
        assert (await client.get(DEMO_PATH)).status_code == 404
    async with edge(base) as client:
        assert (await client.get(f"/v1{DEMO_PATH}")).status_code == 404
        assert (await client.head(DEMO_PATH)).status_code == 200
        posted = await client.post(DEMO_PATH, json={})
        assert (posted.status_code, posted.headers["allow"]) == (405, "GET")
    assert not upstream.seen


async def test_the_compressed_form_is_the_same():
    async with (
        edge(None) as client,
        client.stream("GET", DEMO_PATH, headers=PACKED) as answer,
    ):
        packed = b"".join([piece async for piece in answer.aiter_raw()])
        assert gzip.decompress(packed).startswith(b'{"messages":')


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

"""Check what web pages can do to a server on localhost or in a LAN, attacks and wanted uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from memtree.errors import StoreUnavailable
from memtree_proxy.server.app import create_app
from tests.http.served.fakes import FakeKeys, FakeMemory, dumps, edge, services, turn
from tests.http.served.running import running
from tests.http.served.sockets import talk
from tests.http.served.upstream import PLAIN_BYTES, FakeUpstream

EVIL = "https://evil.example"
PAGE = "http://localhost:3000"
JSON = {"content-type": "application/json"}
OURS = [
    ("POST", "/v1/chat/completions"), ("POST", "/chat_completions"), ("POST", "/context_memory"),
    ("POST", "/api/v1/memory"), ("GET", "/context_memory/status"), ("POST", "/context_memory/tree"),
    ("DELETE", "/v1/context_memory/delete"), ("GET", "/health"), ("GET", "/metrics"),
    ("GET", "/openapi.json"), ("POST", "/context_memory/nothing"),
    ("POST", "/chat/api/c/memory"), ("GET", "/v1/chat/api/c/memories"),
    ("GET", "/chat/api/c/memories/search"), ("GET", "/chat/api/c/memories/events"),
    ("POST", "/api/chat/api/c/memories/undelete"), ("PATCH", "/chat/api/c/memories/mem_1"),
    ("DELETE", "/chat/api/c/memories/mem_1"), ("POST", "/chat/api/c/memories/mem_1/confirm"),
]  # fmt: skip
CORS = "access-control-allow-origin"


def cors_of(answer: httpx.Response) -> dict[str, str]:
    return {k: v for k, v in answer.headers.items() if k.startswith("access-control-")}


async def ask(
    client: httpx.AsyncClient, method: str, path: str, headers: Mapping[str, str]
) -> httpx.Response:
    body = None if method == "GET" else dumps(turn(1))
    return await client.request(method, path, content=body, headers={**JSON, **headers})


# -- attacks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", [None, {"acme": ["K"]}], ids=["open", "keyed"])
@pytest.mark.parametrize(
    "headers",
    [{"origin": EVIL}, {"origin": "null"}, {"origin": PAGE, "sec-fetch-site": "same-site"},
     {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
     {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}],
    ids=["evil", "null", "port", "image", "link"],
)  # fmt: skip
async def test_pages_of_other_sites_reach_no_route_of_ours(
    headers: dict[str, str], keys: dict[str, list[str]] | None, base: str, upstream: FakeUpstream
):
    memory = FakeMemory()
    async with edge(base, memory, FakeKeys(**(keys or {})), upstream_api_key="sk-up") as client:
        for method, path in OURS:
            answer = await ask(client, method, path, {"authorization": "Bearer K", **headers})
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden"), path
            assert not cors_of(answer)
    assert not memory.asks
    assert not upstream.seen


@pytest.mark.parametrize(
    "path", ["/", "/v1/models", "/health", "/v1/chat/completions", "/ui", "/x"]
)
@pytest.mark.parametrize("host", ["evil.example", "evil.example:8787", "localhost.evil.example"])
async def test_dns_rebinding(path: str, host: str, base: str, upstream: FakeUpstream):
    """The page's own name leads here, so that the browser takes its requests for same-origin."""
    page = {"host": host, "origin": f"http://{host}", "sec-fetch-site": "same-origin"}
    async with edge(base, upstream_api_key="sk-up") as client:
        posted = await ask(client, "POST", path, page)
        seen = await client.get(path, headers={"host": host, "accept": "text/html"})
    for answer in (posted, seen):
        assert (answer.status_code, answer.json()["error"]["code"]) == (421, "misdirected_request")
    assert not upstream.seen


async def test_with_keys_any_host_will_do(base: str):
    keys = FakeKeys(acme=["K"])
    async with edge(base, keys=keys) as client:
        host = {"host": "memory.example.com", "authorization": "Bearer K"}
        assert (await client.get("/v1/models", headers=host)).status_code == 200
        assert (await client.get("/health", headers=host)).status_code == 200


async def test_where_keys_cannot_be_looked_up_a_foreign_name_is_not_answered(base: str):
    keys = FakeKeys(acme=["K"])
    keys.error = StoreUnavailable("gone")
    async with edge(base, keys=keys) as client:
        assert (await client.get("/health", headers={"host": "a.example"})).status_code == 503
        assert (await client.get("/health")).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["memtree:8787", "192.168.1.5:8787", "nas.local", "[::1]:8787", "localhost", "NAS.local.",
     "mem.example:80"],
)  # fmt: skip
async def test_names_in_a_lan(host: str, base: str):
    settings: dict[str, Any] = {"open": True, "host": "0.0.0.0", "allowed_hosts": ("mem.example",)}
    async with edge(base, **settings) as client:
        headers = {"host": host, "authorization": "Bearer me"}
        assert (await client.get("/v1/models", headers=headers)).status_code == 200
        answer = await ask(client, "POST", "/context_memory", headers)
        own = await ask(client, "POST", "/context_memory", headers | {"origin": f"http://{host}"})
    assert (answer.status_code, own.status_code) == (200, 200)


FORMS = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None]


@pytest.mark.parametrize("content_type", FORMS)
async def test_forms_and_simple_fetches(content_type: str | None, base: str):
    """Bodies that a page may send anywhere without asking, from an old browser even without an
    Origin, are no JSON."""
    memory = FakeMemory()
    sent = {"content-type": content_type} if content_type else {"sec-fetch-mode": "no-cors"}
    async with edge(base, memory) as client:
        for path in [path for method, path in OURS if method == "POST"]:
            answer = await client.post(path, content=dumps(turn(1)), headers=sent)
            error = answer.json()["error"]
            assert (answer.status_code, error["param"]) == (415, "content-type")
            assert "Content-Type: application/json" in error["message"]
    assert not memory.asks


async def test_another_ports_cookie_is_nobody(base: str):
    memory = FakeMemory()
    async with edge(base, memory) as client:
        await ask(client, "POST", "/context_memory", {"cookie": "session=of-another-app"})
        await ask(client, "POST", "/context_memory", {})
    assert [asked.tenant for asked in memory.asks] == ["anonymous"] * 2
    async with edge(base, host="0.0.0.0", open=True) as client:
        answer = await ask(client, "POST", "/context_memory", {"cookie": "session=x"})
    assert answer.status_code == 401


SPENDING = [
    ({"origin": EVIL}, False),
    ({"origin": "null"}, False),
    ({"origin": "http://localhost:3001"}, False),
    ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, False),
    ({"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"}, False),
    ({"origin": PAGE, "sec-fetch-site": "same-site"}, True),
    ({"origin": "http://edge", "sec-fetch-site": "same-origin"}, True),
    ({"sec-fetch-mode": "cors"}, True),  # Node
    ({}, True),
]


@pytest.mark.parametrize(("headers", "spent"), SPENDING)
async def test_who_spends_the_configured_key(
    headers: dict[str, str], spent: bool, base: str, upstream: FakeUpstream
):
    settings: dict[str, Any] = {"upstream_api_key": "sk-up", "allowed_origins": (PAGE,)}
    async with edge(base, **settings) as client:
        get = await client.get("/v1/models", headers=headers)
        post = await client.post("/v1/embeddings", json={"input": "a"}, headers=headers)
        own = await client.get("/v1/models", headers=headers | {"authorization": "Bearer mine"})
    assert [answer.status_code for answer in (get, post, own)] == [200] * 3
    wanted = ["Bearer sk-up"] if spent else []
    assert [seen.header("authorization") for seen in upstream.seen] == [
        wanted, wanted, ["Bearer mine"],
    ]  # fmt: skip


async def test_with_keys_a_foreign_page_does_not_spend_it_either(base: str, upstream: FakeUpstream):
    async with edge(base, keys=FakeKeys(acme=["K"]), upstream_api_key="sk-up") as client:
        headers = {"cookie": "session=K"}
        await client.get("/v1/models", headers=headers | {"sec-fetch-site": "cross-site"})
        await client.get("/v1/models", headers=headers)
    assert [seen.header("authorization") for seen in upstream.seen] == [[], ["Bearer sk-up"]]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running(create_app(services(None))) as found:
        yield found


HOSTILE = {
    "very long origin": [("origin", "http://" + "a" * 50_000)],
    "long list": [("origin", ",".join([PAGE] * 1_000))],
    "two origins": [("origin", PAGE), ("origin", PAGE)],
    "a good and a bad one": [("origin", PAGE), ("origin", EVIL)],
    "userinfo": [("origin", "http://localhost:3000@evil.example")],
    "a final dot": [("origin", "http://localhost.:3000")],
    "a path": [("origin", PAGE + "/x")],
    "punycode": [("origin", "http://xn--lcalhost-n4a:3000")],
    "a wildcard": [("origin", "*")],
    "nothing": [("origin", "")],
    "bytes": [("origin", "\xff\xfe")],
    "two sites": [("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")],
}


@pytest.mark.parametrize("headers", HOSTILE.values(), ids=HOSTILE)
async def test_hostile_origins(headers: list[tuple[str, str]], base: str, upstream: FakeUpstream):
    raw = [*JSON.items(), *headers]
    given = httpx.Headers([(k.encode(), v.encode("latin-1")) for k, v in raw])
    async with edge(base, allowed_origins=(PAGE,), upstream_api_key="sk-up") as client:
        answer = await client.post("/context_memory", content=dumps(turn(1)), headers=given)
        await client.get("/v1/models", headers=given)
    assert answer.status_code == 403
    assert not cors_of(answer)
    assert len(answer.content) < 600
    assert not upstream.last.header("authorization")


@pytest.mark.parametrize(
    ("host", "status"),
    [(b"evil.example", 421), (b"edge\r\nHost: edge", 421), (b"edge\r\nHost: evil.example", 421),
     (b"u:p@edge", 421), (b"edge:99999", 421), (b"a." * 8_000 + b"local", 421), (b"\xff", 421),
     (b"EDGE.", 421), (b"", 421), (b"EDGE", 200), (b"127.0.0.1:1", 200), (b"nas.local.", 200)],
)  # fmt: skip
def test_hostile_hosts_on_the_wire(host: bytes, status: int, address: str):
    raw = b"GET /health HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\n\r\n"
    answer, closed = talk(address, raw)
    assert answer.startswith(b"HTTP/1.1 %d" % status)
    assert closed


def test_no_browser_leaves_its_host_out(address: str):
    answer, _ = talk(address, b"GET /health HTTP/1.0\r\n\r\n")
    assert b" 200 " in answer.partition(b"\r\n")[0]


# -- wanted uses -----------------------------------------------------------------------------

APPS = ["null", "app://x", "vscode-webview://1k2j3h4g5f", PAGE]
SETTINGS: dict[str, Any] = {"allowed_origins": ("null", "app://x", "vscode-webview:", PAGE)}
PREFLIGHT = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type,x-polychat-memory",
}


@pytest.mark.parametrize("keys", [{}, {"acme": ["K"]}], ids=["open", "keyed"])
@pytest.mark.parametrize("origin", APPS)
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/context_memory", "/v1/models"])
async def test_allowed_pages_work_with_their_preflight(
    path: str, origin: str, keys: dict[str, list[str]], base: str, upstream: FakeUpstream
):
    page = {"origin": origin, "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}
    async with edge(base, keys=FakeKeys(**keys), **SETTINGS) as client:
        asked = await client.options(path, headers=page | PREFLIGHT)
        assert not upstream.seen
        answer = await ask(client, "POST", path, page | {"authorization": "Bearer K"})
    assert asked.status_code == 204
    assert asked.content == b""
    assert asked.headers[CORS] == origin
    assert (
        asked.headers["access-control-allow-headers"] == PREFLIGHT["access-control-request-headers"]
    )
    assert "POST" in asked.headers["access-control-allow-methods"]
    assert answer.status_code == 200
    assert answer.headers.get_list(CORS) == [origin]
    assert "Origin" in answer.headers["vary"]
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/context_memory"])
@pytest.mark.parametrize("origin", [EVIL, "http://localhost:3001"])
async def test_other_pages_get_no_preflight(
    path: str, origin: str, base: str, upstream: FakeUpstream
):
    upstream.mode = "headers"
    upstream.answer_headers = [(b"access-control-allow-origin", b"*")]
    async with edge(base, **SETTINGS) as client:
        answer = await client.options(path, headers={"origin": origin} | PREFLIGHT)
    assert answer.status_code == 403
    assert not cors_of(answer)
    assert not upstream.seen


async def test_options_without_an_origin_are_as_they_were(base: str, upstream: FakeUpstream):
    async with edge(base) as client:
        chat = await client.options("/v1/chat/completions")
        ours = await client.options("/v1/context_memory")
    assert (chat.status_code, ours.status_code) == (200, 405)
    assert [seen.method for seen in upstream.seen] == ["OPTIONS"]


GRANT = [(b"access-control-allow-origin", b"*"), (b"access-control-allow-methods", b"GET")]


@pytest.mark.parametrize(
    ("path", "wanted"),
    [("/v1/models", "GET"), ("/v1/chat/completions", "GET"), ("/v1/files", "POST")],
)
async def test_what_passes_through_keeps_the_upstreams_cors(
    path: str, wanted: str, base: str, upstream: FakeUpstream
):
    """Preflights too, those for stored completions among them."""
    upstream.mode = "headers"
    upstream.answer_headers = GRANT
    async with edge(base) as client:
        asked = await client.options(
            path, headers={"origin": EVIL, "access-control-request-method": wanted}
        )
        answer = await client.request(wanted, path, headers={"origin": EVIL})
    for one in (asked, answer):
        assert one.status_code == 200
        assert cors_of(one) == {k.decode(): v.decode() for k, v in GRANT}
    assert [seen.method for seen in upstream.seen] == ["OPTIONS", wanted]


@pytest.mark.parametrize("headers", [{}, {"origin": "http://edge"}, {"origin": PAGE}])
async def test_an_upstreams_cors_never_opens_a_chat(
    headers: dict[str, str], base: str, upstream: FakeUpstream
):
    upstream.mode = "headers"
    upstream.answer_headers = [
        *GRANT,
        (b"access-control-allow-credentials", b"true"),
        (b"x-kept", b"1"),
    ]
    async with edge(base, **SETTINGS) as client:
        answer = await ask(client, "POST", "/v1/chat/completions", headers)
    assert answer.content == PLAIN_BYTES
    assert answer.headers["x-kept"] == "1"
    page = {CORS: PAGE, "access-control-expose-headers": "*"}
    assert cors_of(answer) == (page if headers.get("origin") == PAGE else {})


async def test_a_streamed_answer_can_be_read(base: str, upstream: FakeUpstream):
    upstream.mode = "sse"
    body = turn(1, stream=True)
    async with edge(base, **SETTINGS) as client:
        answer = await client.post("/v1/chat/completions", json=body, headers={"origin": PAGE})
    assert answer.text.endswith("data: [DONE]\n\n")
    assert answer.headers[CORS] == PAGE
    assert answer.headers["access-control-expose-headers"] == "*"


ERRORS: dict[str, tuple[int, dict[str, Any], dict[str, str]]] = {
    "no key": (401, {}, {}),
    "too many": (429, {"requests_per_minute": 1}, {"authorization": "Bearer K"}),
    "too large": (413, {"max_body_bytes": 10}, {"authorization": "Bearer K"}),
    "no type": (415, {}, {"authorization": "Bearer K", "content-type": "text/plain"}),
    "no upstream": (503, {"upstream": None}, {"authorization": "Bearer K"}),
}


@pytest.mark.usefixtures("rates_without_time")
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/context_memory"])
@pytest.mark.parametrize(("status", "changes", "headers"), ERRORS.values(), ids=ERRORS)
async def test_an_allowed_page_can_read_errors(
    path: str, status: int, changes: dict[str, Any], headers: dict[str, str], base: str
):
    base_or_none = None if "upstream" in changes else base
    async with edge(base_or_none, keys=FakeKeys(acme=["K"]), **SETTINGS | changes) as client:
        for _ in range(2):
            answer = await ask(client, "POST", path, {"origin": PAGE, **headers})
    if status == 503 and "context" in path:
        status = 200
    assert answer.status_code == status
    assert answer.headers.get_list(CORS) == [PAGE]


async def test_an_allowed_page_can_read_that_the_name_is_wrong(base: str):
    async with edge(base, **SETTINGS) as client:
        answer = await ask(client, "POST", "/v1/chat/completions", {"origin": PAGE, "host": "a.b"})
    assert (answer.status_code, answer.headers[CORS]) == (421, PAGE)


async def test_errors_on_the_way_through_can_be_read_as_well(base: str):
    async with edge(base, keys=FakeKeys(acme=["K"]), **SETTINGS) as client:
        allowed = await client.get("/v1/models", headers={"origin": PAGE})
        other = await client.get("/v1/models", headers={"origin": EVIL})
    assert (allowed.status_code, allowed.headers[CORS]) == (401, PAGE)
    assert (other.status_code, cors_of(other)) == (401, {})


async def test_behind_a_proxy_that_rewrites_host(base: str):
    page = {"origin": "https://mem.example", "sec-fetch-site": "same-origin"}
    async with edge(base, public_url="https://mem.example") as client:
        ours = await ask(client, "POST", "/context_memory", page)
    async with edge(base) as client:
        other = await ask(client, "POST", "/context_memory", page)
    assert (ours.status_code, other.status_code) == (200, 403)


@pytest.mark.parametrize(
    "headers",
    [{}, {"content-type": "application/json; charset=utf-8"}, {"content-type": "Application/JSON"},
     {"content-type": "application/octet-stream"},
     {"content-type": "application/json", "sec-fetch-mode": "cors", "user-agent": "node"}],
)  # fmt: skip
async def test_clients_that_are_no_browsers_notice_nothing(headers: dict[str, str], base: str):
    async with edge(base) as client:
        for path in ("/v1/chat/completions", "/context_memory", "/context_memory/tree"):
            answer = await client.post(path, content=dumps(turn(1)), headers=headers)
            assert answer.status_code == 200
            assert not cors_of(answer)
            assert "vary" not in answer.headers

"""Everything that is not ours: any method, path, header and byte, as it came; headers that are for
us stay here."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from memtree.agents.grant_json import HEADER as GRANTS_HEADER
from memtree.errors import BadRequest
from memtree_proxy.http.headers import (
    EXPIRATION_HEADERS,
    OWN_HEADERS,
    TENANT_KEY,
    WALLET_HEADERS,
    is_own,
    request_headers,
)
from memtree_proxy.upstream.upstream_client import Upstream
from tests.http.served.fakes import FakeKeys, edge
from tests.http.served.upstream import PLAIN_BYTES, FakeUpstream
from tests.http.wire.documented import DOCUMENT, resolved

BINARY = bytes(range(256)) * 1000


@pytest.mark.parametrize(
    "method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "PURGE"]
)
async def test_any_method(method: str, base: str, upstream: FakeUpstream):
    async with edge(base) as client:
        answer = await client.request(method, "/v1/files/f-1")
    assert answer.status_code == 200
    assert (upstream.last.method, upstream.last.path) == (method, b"/up/v1/files/f-1")
    assert answer.content == (b"" if method == "HEAD" else PLAIN_BYTES)


@pytest.mark.parametrize(
    ("posted", "arrives", "query"),
    [
        ("/models", b"/up/v1/models", b""),
        ("/v1/chat/completions", b"/up/v1/chat/completions", b""),
        ("/v1/chat/completions/c/messages", b"/up/v1/chat/completions/c/messages", b""),
        ("/api/v1/models", b"/up/v1/models", b""),
        ("/api/models", b"/up/v1/models", b""),
        ("/v1models", b"/up/v1/v1models", b""),
        ("/v1/v1/models", b"/up/v1/v1/models", b""),
        ("/v1/a%2Fb%20c/%C3%A9+d", b"/up/v1/a%2Fb%20c/%C3%A9+d", b""),
        ("/v1/%41%7eb?c=%7E%2f", b"/up/v1/%41%7eb", b"c=%7E%2f"),
        ("/v1/x?a=1&a=2&b=%26%2B+c&d", b"/up/v1/x", b"a=1&a=2&b=%26%2B+c&d"),
        ("/v1/x?u=http://a/b?c", b"/up/v1/x", b"u=http://a/b?c"),
        ("/v1", b"/up/v1", b""),
    ],
)
async def test_paths_and_queries(
    posted: str, arrives: bytes, query: bytes, base: str, upstream: FakeUpstream
):
    async with edge(base) as client:
        await client.get(posted)
    assert (upstream.last.path, upstream.last.query) == (arrives, query)


@pytest.mark.parametrize(
    "path", ["/v1/%2e%2e/admin", "/v1/a/%2E%2E%5Cb", "/v1/a%2F..%2Fb", "/%2e./x"]
)
async def test_a_path_that_climbs_is_refused(path: str, base: str, upstream: FakeUpstream):
    async with edge(base) as client:
        answer = await client.get(path)
    assert answer.status_code == 400
    assert not upstream.seen


async def test_binary_bodies_both_ways(base: str, upstream: FakeUpstream):
    upstream.mode = "echo"
    async with edge(base, max_body_bytes=10) as client:
        answer = await client.post("/v1/files", content=BINARY)
    assert answer.content == BINARY
    assert upstream.last.header("content-length") == [str(len(BINARY))]


async def test_a_streamed_body_stays_a_stream(base: str, upstream: FakeUpstream):
    async def pieces():
        for start in range(0, len(BINARY), 50_000):
            yield BINARY[start : start + 50_000]

    upstream.mode = "echo"
    async with edge(base) as client:
        answer = await client.put("/v1/uploads/1", content=pieces())
    assert answer.content == BINARY
    assert upstream.last.header("transfer-encoding") == ["chunked"]


async def test_no_header_is_invented(base: str, upstream: FakeUpstream):
    async with edge(base) as client:
        await client.get("/v1/models", headers={"x-mine": "1"})
    names = {name for name, _ in upstream.last.headers}
    assert names == {b"host", b"x-mine"}


async def test_request_headers_pass_without_hop_by_hop(base: str, upstream: FakeUpstream):
    sent = [
        ("X-Twice", "1"), ("x-twice", "2"), ("accept-encoding", "br"), ("user-agent", "me/1"),
        ("connection", "keep-alive, x-hop"), ("x-hop", "1"), ("te", "trailers"),
        ("keep-alive", "5"), ("proxy-authorization", "Basic x"), ("upgrade", "h2c"),
        ("x-utf8", "é"), ("authorization", "Bearer own"), ("cookie", "a=b; session=s"),
        ("x-polychat-memory", "on"), ("X-Wallet-Signature", "signed"),
    ]  # fmt: skip
    async with edge(base) as client:
        await client.get("/v1/models", headers=httpx.Headers(sent, encoding="utf-8"))
    seen = upstream.last
    assert seen.header("x-twice") == ["1", "2"]
    assert seen.header("authorization") == ["Bearer own"]
    assert seen.header("cookie") == ["a=b; session=s"]
    assert seen.header("x-utf8") == ["é"]
    assert seen.header("accept-encoding") == ["br"]
    assert seen.header("user-agent") == ["me/1"]
    assert seen.header("host") == [base.split("/")[2]]
    ours = ("x-polychat-memory", "x-wallet-signature")
    for gone in (
        "connection",
        "x-hop",
        "te",
        "keep-alive",
        "proxy-authorization",
        "upgrade",
        *ours,
    ):
        assert not seen.header(gone)


async def test_cookies_of_one_client_never_reach_another(base: str, upstream: FakeUpstream):
    upstream.mode = "headers"
    upstream.answer_headers = [(b"set-cookie", b"who=first; Path=/")]
    # By name: a cookie jar leaves IP addresses out on its own.
    async with edge(base.replace("127.0.0.1", "localhost")) as client:
        await client.get("/v1/models")
        client.cookies.clear()
        await client.get("/v1/models")
    assert not upstream.last.header("cookie")


@pytest.mark.parametrize(
    "address",
    ["ftp://host", "host/v1", "http://", "http://user:secret@host/v1", "http://host/v1?key=secret"],
)
def test_an_upstream_address_is_plain(address: str):
    with pytest.raises(BadRequest) as caught:
        Upstream(address)
    assert "secret" not in caught.value.message


def test_whose_credential_goes_out():
    posted = [
        (b"Authorization", b"Bearer mine"),
        (b"X-Api-Key", b"mine"),
        (b"cookie", b"session=m"),
    ]
    ours = (b"authorization", b"Bearer up")
    assert request_headers(posted, keyed=False, api_key="up") == posted
    assert request_headers(posted, keyed=True, api_key="up") == [ours]
    assert request_headers(posted, keyed=True, api_key=None) == []
    assert request_headers([], keyed=False, api_key="up") == [ours]
    assert request_headers(posted[2:], keyed=False, api_key="up") == [posted[2], ours]


SENT = {
    "x-polychat-memory": "on",
    "memory": "on",
    "x-memtree-recall-tools": "off",
    "x-memtree-mode": "fresh",
    "x-memtree-keep": "{}",
    **dict.fromkeys(EXPIRATION_HEADERS, "3"),
    "x-chat-id": "chat-1",
    "x-chat-memory": "off",
    "x-user-id": "ann",
    "x-user-memory": "off",
    "x-grants": "W10=",
    **dict.fromkeys(WALLET_HEADERS, "proof"),
    "x-memtree-key": "K",
    "x-memtree-later": "1",
    "X-PolyChat-Later": "1",
    "X-Wallet-Later": "1",
    "x-stainless-read-timeout": "600",
}
KEPT = {"x-stainless-read-timeout"}
ASKED = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
ROUTES: list[tuple[str, str, Any]] = [
    ("POST", "/v1/chat/completions", ASKED),
    ("POST", "/chat_completions", ASKED),
    ("POST", "/v1/messages", ASKED),
    ("POST", "/v1/messages/count_tokens", ASKED),
    ("POST", "/v1/responses", {"model": "m", "input": "hi"}),
    ("POST", "/v1/embeddings", {"model": "m", "input": "hi"}),
    ("GET", "/v1/models", None),
    ("GET", "/api/v1/models/m", None),
    ("HEAD", "/api/hello", None),
]


def test_the_list_is_of_all_that_are_read():
    named = {name.lower().encode() for name in SENT} - {name.encode() for name in KEPT}
    assert named >= OWN_HEADERS
    assert all(is_own(name) for name in named)
    assert not any(map(is_own, (b"x-request-id", b"memory-limit", b"if-match", b"x-user")))


@pytest.mark.parametrize("own", [{}, {"authorization": "Bearer client"}])
@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
async def test_no_route_sends_them_on(
    method: str, path: str, body: Any, own: dict[str, str], base: str, upstream: FakeUpstream
):
    async with edge(base, keys=FakeKeys(acme=["K"]), upstream_api_key="sk-up") as client:
        answer = await client.request(method, path, json=body, headers={**SENT, **own})
    assert answer.status_code == 200
    names = {name.decode() for name, _ in upstream.last.headers}
    assert names & {name.lower() for name in SENT} == KEPT


def test_every_header_that_is_read_is_in_it():
    others = {
        *WALLET_HEADERS,
        GRANTS_HEADER,
        TENANT_KEY.decode(),
    }
    sent = {name.decode() for name in OWN_HEADERS} - others
    for path in ("/chat/completions", "/chat_completions"):
        named = DOCUMENT["paths"][path]["post"]["parameters"]
        assert sent <= {resolved(one)["name"] for one in named}
    for name, parameter in DOCUMENT["components"]["parameters"].items():
        assert parameter["name"] == name
    assert all(f'"name": "{name}"' in json.dumps(DOCUMENT) for name in others)

"""Headers that are for us: no route sends one of them on, whoever's key goes out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.memories.grants.grant_json import HEADER as GRANTS_HEADER
from memtree_proxy.http.headers import (
    EXPIRATION_HEADERS,
    OWN_HEADERS,
    TENANT_KEY,
    WALLET_HEADERS,
    is_own,
)
from tests.http.served.fakes import FakeKeys, edge
from tests.http.served.upstream import FakeUpstream
from tests.http.wire.documented import DOCUMENT, resolved

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

"""Two upstreams behind one server: which request goes where, and which credential goes with it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from memtree_proxy.http.auth import tenant_id
from tests.http.served.fakes import FakeKeys, FakeMemory, edge, turn
from tests.http.served.running import running
from tests.http.served.upstream import FakeUpstream

OWN_KEY = "mt-OWN"
VERSION = {"anthropic-version": "2023-06-01"}
BODY = {"model": "claude-opus-5-5", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
ROUTES = [
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/messages"),
    ("POST", "/v1/messages/count_tokens"),
    ("POST", "/v1/messages/batches"),
    ("POST", "/v1/responses"),
    ("POST", "/v1/embeddings"),
    ("GET", "/v1/models"),
    ("GET", "/v1/files"),
    ("HEAD", "/api/hello"),
    ("DELETE", "/v1/chat/completions/c_1"),
]


@pytest.fixture
def anthropic() -> Iterator[tuple[FakeUpstream, str]]:
    fake = FakeUpstream()
    with running(fake) as address:
        yield fake, address


async def _send(client: Any, method: str, path: str, headers: dict[str, str]) -> Any:
    body = {"json": BODY} if method == "POST" else {}
    return await client.request(method, path, headers=headers, **body)


@pytest.mark.parametrize(
    ("method", "path", "headers", "there"),
    [
        ("POST", "/v1/messages?beta=true", {}, "/v1/messages"),
        ("POST", "/v1/messages/count_tokens", {}, "/v1/messages/count_tokens"),
        ("POST", "/v1/messages/batches", {}, "/v1/messages/batches"),
        ("GET", "/v1/messages/batches/b_1/results", {}, "/v1/messages/batches/b_1/results"),
        ("GET", "/v1/models", VERSION, "/v1/models"),
        ("GET", "/v1/files", VERSION, "/v1/files"),
        ("HEAD", "/api/hello", {}, "/api/hello"),
        ("GET", "/v1/models", {}, None),
        ("POST", "/v1/responses", VERSION, None),
        ("POST", "/v1/chat/completions", VERSION, None),
    ],
)
async def test_each_request_goes_to_its_api(
    method: str,
    path: str,
    headers: dict[str, str],
    there: str | None,
    base: str,
    upstream: FakeUpstream,
    anthropic: tuple[FakeUpstream, str],
):
    fake, address = anthropic
    async with edge(base, anthropic_upstream=address) as client:
        answer = await _send(client, method, path, headers)
    assert answer.status_code == 200
    if there is None:
        assert (len(fake.seen), len(upstream.seen)) == (0, 1)
    else:
        assert (len(fake.seen), len(upstream.seen)) == (1, 0)
        assert fake.last.path == there.encode()


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_no_configured_key_goes_to_the_other_upstream(
    method: str,
    path: str,
    base: str,
    upstream: FakeUpstream,
    anthropic: tuple[FakeUpstream, str],
):
    fake, address = anthropic
    keys = FakeKeys(acme=["K"])
    settings: dict[str, Any] = {
        "upstream_api_key": "sk-open",
        "anthropic_upstream_api_key": "sk-ant",
        "passthrough_routes": ("* /*",),
    }
    async with edge(base, keys=keys, anthropic_upstream=address, **settings) as client:
        await _send(client, method, path, {"authorization": "Bearer K"})
    for seen in upstream.seen:
        assert seen.header("authorization") == ["Bearer sk-open"]
        assert "sk-ant" not in str(seen)
    for seen in fake.seen:
        assert (seen.header("x-api-key"), seen.header("authorization")) == (["sk-ant"], [])
        assert "sk-open" not in str(seen)
    assert len(upstream.seen) + len(fake.seen) == 1


async def test_an_upstream_of_ones_own_takes_messages_without_the_vendors_key(
    base: str, upstream: FakeUpstream
):
    async with edge(base, anthropic_upstream_api_key="sk-ant") as client:
        await _send(client, "POST", "/v1/messages", {})
    assert upstream.last.path.endswith(b"/messages")
    assert "sk-ant" not in str(upstream.last)


@pytest.mark.parametrize("keys", [FakeKeys(), FakeKeys(acme=[OWN_KEY])])
@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_the_key_for_us_goes_nowhere_and_the_clients_own_goes_on(
    method: str,
    path: str,
    keys: FakeKeys,
    base: str,
    upstream: FakeUpstream,
    anthropic: tuple[FakeUpstream, str],
    caplog: pytest.LogCaptureFixture,
):
    caplog.set_level(logging.DEBUG)
    fake, address = anthropic
    headers = {"X-MemTree-Key": OWN_KEY, "authorization": "Bearer rotating", "cookie": "a=b"}
    settings: dict[str, Any] = {
        "upstream_api_key": "sk-open",
        "anthropic_upstream_api_key": "sk-ant",
    }
    async with edge(base, keys=keys, anthropic_upstream=address, **settings) as client:
        answer = await _send(client, method, path, headers)
    (seen,) = upstream.seen + fake.seen
    assert answer.status_code == 200
    assert seen.header("x-memtree-key") == []
    assert OWN_KEY not in str(seen)
    assert seen.header("authorization") == ["Bearer rotating"]
    assert seen.header("x-api-key") == []
    assert OWN_KEY not in caplog.text


async def test_it_names_the_tenant_whatever_the_other_credential_is():
    memory = FakeMemory()
    async with edge(None, memory) as client:
        for token in ("Bearer one", "Bearer two"):
            headers = {"x-memtree-key": OWN_KEY, "authorization": token}
            await client.post("/context_memory", json=turn(1), headers=headers)
    assert [ask.tenant for ask in memory.asks] == [tenant_id(OWN_KEY)] * 2


async def test_an_access_key_beside_it_does_not_go_on(base: str, upstream: FakeUpstream):
    keys = FakeKeys(acme=[OWN_KEY], other=["K"])
    async with edge(base, keys=keys, upstream_api_key="sk-open") as client:
        headers = {"x-memtree-key": OWN_KEY, "authorization": "Bearer K"}
        await client.post("/v1/embeddings", json={}, headers=headers)
    assert upstream.last.header("authorization") == ["Bearer sk-open"]


async def test_a_wrong_one_lets_nobody_in(base: str, upstream: FakeUpstream):
    async with edge(base, keys=FakeKeys(acme=["K"])) as client:
        answer = await client.post("/v1/messages", json=BODY, headers={"x-memtree-key": "wrong"})
    assert (answer.status_code, upstream.seen) == (401, [])
    assert "wrong" not in answer.text

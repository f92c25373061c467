"""Credentials: who is let in, as which tenant, and that no credential leaves or is logged."""

from __future__ import annotations

import logging

import httpx
import pytest
from starlette.requests import Request

from memtree.errors import BadRequest, StoreUnavailable, Unauthorized
from memtree_proxy.http import request_trace
from memtree_proxy.http.auth import KEYS_SECONDS, Gate, is_loopback, tenant_id
from tests.http.served.fakes import FakeKeys, FakeMemory, edge, turn
from tests.http.served.upstream import FakeUpstream

COOKIE = {"cookie": "a=b; session=K; c=d"}
FORMS = [
    {"authorization": "Bearer K"}, {"authorization": "bearer  K "}, {"x-api-key": "K"},
    {"api-key": "K"},
]  # fmt: skip


def request(headers: dict[str, str] | None = None) -> Request:
    raw = httpx.Headers(headers or {}).raw
    scope = {"type": "http", "method": "GET", "path": "/", "headers": raw, "query_string": b""}
    request_trace.begin(scope)
    return Request(scope)


@pytest.mark.parametrize("headers", FORMS)
async def test_without_keys_any_value_is_its_own_tenant(headers: dict[str, str]):
    gate = Gate(FakeKeys(), loopback=True)
    found = await gate.tenant(request(headers))
    assert (found.id, found.keyed) == (tenant_id("K"), False)
    assert found.id != (await gate.tenant(request({"x-api-key": "other"}))).id


async def test_a_cookie_makes_nobody_a_tenant_without_keys():
    """Cookies know no ports: another web app on localhost may have set it."""
    assert (await Gate(FakeKeys(), loopback=True).tenant(request(COOKIE))).id == "local"
    both = {**COOKIE, "x-api-key": "other"}
    found = await Gate(FakeKeys(), loopback=True).tenant(request(both))
    assert found.id == tenant_id("other")
    with pytest.raises(Unauthorized):
        await Gate(FakeKeys(), loopback=False).tenant(request(COOKIE))


async def test_a_cookie_is_no_operator():
    gate = Gate(FakeKeys(), loopback=True, operator_key="K")
    with pytest.raises(Unauthorized):
        await gate.operator(request(COOKIE))
    await gate.operator(request(FORMS[0]))


@pytest.mark.parametrize("keys", [{}, {"acme": ["K"]}])
async def test_a_placeholder_names_no_tenant(keys: dict[str, list[str]]):
    gate = Gate(FakeKeys(**keys), loopback=True)
    with pytest.raises(BadRequest, match="x-memtree-key is a placeholder"):
        await gate.tenant(request({"x-memtree-key": "${MEMTREE_KEY}"}))


def test_a_tenant_says_nothing_of_its_credential():
    assert tenant_id("K") == tenant_id("K")
    assert tenant_id("K").startswith("t_")
    assert len(tenant_id("K")) == 66


@pytest.mark.parametrize(
    "headers",
    [{}, {"authorization": "Bearer "}, {"authorization": "Basic eA=="}, {"cookie": "a=b"}],
)
async def test_no_credential_is_this_machines_user_on_loopback_alone(headers: dict[str, str]):
    assert (await Gate(FakeKeys(), loopback=True).tenant(request(headers))).id == "local"
    with pytest.raises(Unauthorized):
        await Gate(FakeKeys(), loopback=False).tenant(request(headers))
    with pytest.raises(Unauthorized):
        await Gate(FakeKeys(acme=["K"]), loopback=True).tenant(request(headers))


@pytest.mark.parametrize(("headers", "peer", "tenant"), [
    ({"host": "127.0.0.1:8787"}, "127.0.0.1", "local"), ({"host": "localhost"}, "::1", "local"),
    ({"x-forwarded-for": "127.0.0.1"}, "127.0.0.1", "anonymous"),
    ({"x-forwarded-proto": "https"}, "127.0.0.1", "anonymous"),
    ({"forwarded": "for=1.2.3.4"}, "127.0.0.1", "anonymous"),
    ({"via": "1.1 cache"}, "127.0.0.1", "anonymous"),
    ({"host": "192.168.1.5:8787"}, "127.0.0.1", "anonymous"),
    ({"host": "laptop.local"}, "127.0.0.1", "anonymous"), ({}, "192.168.1.5", "anonymous"),
])  # fmt: skip
async def test_who_is_forwarded_from_elsewhere_is_nobody(
    headers: dict[str, str], peer: str, tenant: str
):
    """Nobody else's requests show this machine's memories, whoever the proxy trusts."""
    asked = request(headers)
    asked.scope["client"] = (peer, 50_000)
    assert (await Gate(FakeKeys(), loopback=True).tenant(asked)).id == tenant


async def test_old_http_may_be_a_proxys():
    asked = request({"host": "localhost"})
    asked.scope["http_version"] = "1.0"
    assert (await Gate(FakeKeys(), loopback=True).tenant(asked)).id == "anonymous"


async def test_an_alias_of_nobody_still_counts():
    keys = FakeKeys()
    keys.named_anew = {"anonymous": "t_1", tenant_id("K"): "anonymous"}
    gate = Gate(keys, loopback=True)
    assert (await gate.tenant(request())).id == "t_1"
    assert (await gate.tenant(request({"x-api-key": "K"}))).id == "anonymous"


@pytest.mark.parametrize("headers", [*FORMS, COOKIE])
async def test_with_keys_only_they_are_let_in(headers: dict[str, str]):
    gate = Gate(FakeKeys(acme=["K", "cookie-value"]), loopback=True)
    found = await gate.tenant(request(headers))
    assert (found.id, found.keyed) == ("acme", True)
    assert (await gate.tenant(request({"cookie": "session=cookie-value"}))).id == "acme"
    with pytest.raises(Unauthorized):
        await gate.tenant(request({"x-api-key": "wrong"}))


async def test_any_of_several_values_may_be_the_key():
    gate = Gate(FakeKeys(acme=["K"]), loopback=True)
    found = await gate.tenant(request({"authorization": "Bearer upstream's", "x-api-key": "K"}))
    assert found.id == "acme"


async def test_keys_are_cached_for_seconds_and_no_longer():
    now = [0.0]
    keys = FakeKeys(acme=["K"])
    gate = Gate(keys, loopback=True, monotonic=lambda: now[0])
    for _ in range(5):
        await gate.tenant(request({"x-api-key": "K"}))
    assert keys.lookups == 1
    await keys.add_key("late", ["L"])
    await keys.revoke_key("acme")
    now[0] = KEYS_SECONDS
    assert (await gate.tenant(request({"x-api-key": "L"}))).id == "late"
    with pytest.raises(Unauthorized):
        await gate.tenant(request({"x-api-key": "K"}))


async def test_the_first_key_closes_an_open_server():
    now = [0.0]
    keys = FakeKeys()
    gate = Gate(keys, loopback=True, monotonic=lambda: now[0])
    await gate.tenant(request())
    await keys.add_key("acme", ["K"])
    now[0] = KEYS_SECONDS
    with pytest.raises(Unauthorized):
        await gate.tenant(request())


async def test_a_failing_store_keeps_known_keys_and_lets_nobody_else_in():
    now = [0.0]
    keys = FakeKeys(acme=["K"])
    gate = Gate(keys, loopback=True, monotonic=lambda: now[0])
    await gate.tenant(request({"x-api-key": "K"}))
    keys.error = StoreUnavailable("gone")
    now[0] = 100.0
    assert (await gate.tenant(request({"x-api-key": "K"}))).id == "acme"
    with pytest.raises(StoreUnavailable):
        await gate.tenant(request({"x-api-key": "new"}))
    with pytest.raises(StoreUnavailable):
        await Gate(keys, loopback=True).tenant(request())


@pytest.mark.parametrize(
    ("host", "yes"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("[::1]", True), ("localhost", True),
     ("0.0.0.0", False), ("::", False), ("10.0.0.1", False), ("example.com", False), ("", False)],
)  # fmt: skip
def test_loopback(host: str, yes: bool):
    assert is_loopback(host) is yes


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/v1/chat/completions"), ("POST", "/context_memory"), ("GET", "/v1/models"),
     ("GET", "/context_memory/status"), ("POST", "/context_memory/tree"),
     ("POST", "/context_memory/delete"), ("DELETE", "/context_memory/delete"), ("GET", "/metrics")],
)  # fmt: skip
async def test_401_everywhere_but_health(method: str, path: str, base: str, upstream: FakeUpstream):
    async with edge(base, keys=FakeKeys(acme=["K"])) as client:
        none = await client.request(method, path)
        wrong = await client.request(method, path, headers={"authorization": "Bearer nope"})
        health = await client.get("/health")
    for answer in (none, wrong):
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert answer.json()["error"]["code"] == "invalid_api_key"
        assert answer.json()["error"]["type"] == "authentication_error"
        assert "nope" not in answer.text
    assert health.status_code == 200
    assert not upstream.seen


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings"])
@pytest.mark.parametrize("up_key", ["sk-up", None])
async def test_with_keys_the_credential_never_goes_upstream_or_into_logs(
    path: str,
    up_key: str | None,
    base: str,
    upstream: FakeUpstream,
    caplog: pytest.LogCaptureFixture,
):
    caplog.set_level(logging.DEBUG)
    secret = "mt-SECRET"
    headers = {
        "authorization": f"Bearer {secret}",
        "x-api-key": secret,
        "api-key": secret,
        "cookie": f"session={secret}",
    }
    keys = FakeKeys(acme=[secret])
    async with edge(base, keys=keys, upstream_api_key=up_key) as client:
        await client.post(path + "?q=QUERY", json=turn(1), headers=headers)
    assert secret not in str(upstream.last)
    assert upstream.last.header("authorization") == ([f"Bearer {up_key}"] if up_key else [])
    ours = "\n".join(r.getMessage() for r in caplog.records if r.name == "memtree")
    assert secret not in caplog.text
    assert "QUERY" not in ours
    assert "message 0" not in ours
    assert f"http.request method=POST route={path} status=200" in ours
    assert "tenant=acme" in ours


async def test_tenants_are_kept_apart_on_both_routes(base: str, upstream: FakeUpstream):
    memory = FakeMemory()
    async with edge(base, memory) as client:
        for path in ("/context_memory", "/chat/completions"):
            for value in ("A", "B"):
                headers = {"x-api-key": value, "memory": "true"}
                await client.post(path, json=turn(1), headers=headers)
    assert [ask.tenant for ask in memory.asks] == [tenant_id("A"), tenant_id("B")] * 2

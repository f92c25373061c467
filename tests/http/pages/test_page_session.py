"""`/ui/session`: a code becomes the key of this machine's user, the tenant `local`."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from memtree_proxy.http.auth import LONGEST_CODE, LocalUser, new_code, server_proof
from tests.http.served.fakes import FakeKeys, client_of, services, turn
from tests.http.served.upstream import FakeUpstream

SECRET = "only in the state file"
PATH = "/ui/session"


@asynccontextmanager
async def client(
    base: str | None = None,
    keys: FakeKeys | None = None,
    tenants: set[str] | None = None,
    secret: str | None = SECRET,
    **changes: Any,
) -> AsyncIterator[httpx.AsyncClient]:
    async def kept() -> set[str]:
        return tenants or set()

    built = dataclasses.replace(
        services(base, keys=keys, **changes),
        local=None if secret is None else LocalUser(secret),
        tenants=kept,
    )
    async with client_of(built, "localhost") as opened:
        yield opened


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


async def key_of(opened: httpx.AsyncClient) -> str:
    answer = await opened.post(PATH, json={"code": new_code(SECRET)})
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    key = answer.json()["key"]
    assert isinstance(key, str)
    return key


async def test_the_key_is_the_tenant_local_and_nobody_elses() -> None:
    async with client() as opened:
        key = await key_of(opened)
        saved = await opened.post("/v1/memories", json={"text": "Tea at four"}, headers=bearer(key))
        assert saved.status_code == 201
        for headers, count in (
            (bearer(key), 1), ({"x-memtree-key": key}, 1), ({}, 1), (bearer("local"), 0),
            ({"x-forwarded-for": "10.0.0.9"}, 0),
        ):  # fmt: skip
            listed = await opened.get("/v1/memories", headers=headers)
            assert len(listed.json()["memories"]) == count
        other = await opened.get("/v1/memories", headers=bearer(key[:-1] + "x"))
        assert other.status_code == 401
        assert "memtree ui" in other.json()["error"]["message"]


async def test_the_key_never_goes_upstream(base: str, upstream: FakeUpstream) -> None:
    async with client(base) as opened:
        key = await key_of(opened)
        for headers in (bearer(key), {"x-memtree-key": key, **bearer("sk-own")}):
            answer = await opened.post("/v1/chat/completions", json=turn(3), headers=headers)
            assert answer.status_code == 200
    assert len(upstream.seen) == 2
    assert all(key not in str(request.headers) for request in upstream.seen)
    assert "sk-own" in str(upstream.seen[1].headers)


async def test_with_access_keys_a_code_gives_none_and_a_key_of_before_is_no_longer_good() -> None:
    keys = FakeKeys()
    async with client(keys=keys, tenants={"t_1"}) as opened:
        key = await key_of(opened)
        keys.tenants["sk-1"] = "t_1"
        async with client(keys=keys) as keyed:
            answer = await keyed.post(PATH, json={"code": new_code(SECRET)})
            assert (answer.status_code, answer.json()) == (200, {"key": None})
            assert (await keyed.get("/v1/memories", headers=bearer(key))).status_code == 401
            assert (await keyed.get(PATH)).json() == {"keyless": False}


@pytest.mark.parametrize(("tenants", "empty", "others"), [
    (set(), True, False), ({"local"}, False, False), ({"t_1"}, True, True),
    ({"local", "anonymous"}, False, True),
])  # fmt: skip
async def test_who_comes_without_a_key_learns_where_memory_is(
    tenants: set[str], empty: bool, others: bool
) -> None:
    async with client(tenants=tenants) as opened:
        answer = await opened.get(PATH)
    assert answer.json() == {"keyless": True, "empty": empty, "others": others}


async def test_beyond_loopback_nobody_learns_whose_memory_is_there() -> None:
    async with client(tenants={"t_1"}, host="0.0.0.0", open=True) as opened:
        assert (await opened.get(PATH)).json() == {"keyless": False}


async def test_the_server_proves_that_it_wrote_the_state_file() -> None:
    async with client() as opened:
        answer = await opened.get(PATH, params={"nonce": "n1"})
        assert answer.json() == {"proof": server_proof(SECRET, "n1")}
        assert (await opened.get(PATH, params={"nonce": "n" * 201})).status_code == 400
    async with client(secret=None) as opened:
        assert (await opened.get(PATH, params={"nonce": "n1"})).status_code == 400


@pytest.mark.parametrize(("body", "status"), [
    (b"", 400), (b"{", 400), (b"[]", 400), (b'{"code": 1}', 400), (b'{"code": null}', 400),
    (b"{}", 400), (b'{"code": "x", "more": 1}', 400), (b'{"code": "x"}', 401),
    (b'{"code": "\\ud800"}', 400), (b'{"code": "\xff"}', 400),
    (b'{"code": "%s"}' % (b"x" * 5_000), 413),
])  # fmt: skip
async def test_what_is_no_code_is_refused(body: bytes, status: int) -> None:
    async with client() as opened:
        sent = {"content-type": "application/json"}
        answer = await opened.post(PATH, content=body, headers=sent)
        assert answer.status_code == status, answer.text


async def test_pages_of_other_sites_and_servers_without_pages_give_nothing() -> None:
    code = {"code": new_code(SECRET)}
    async with client() as opened:
        foreign = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
        assert (await opened.post(PATH, json=code, headers=foreign)).status_code == 403
        rebound = {"host": "evil.example"}
        assert (await opened.post(PATH, json=code, headers=rebound)).status_code == 421
        form = await opened.post(PATH, data=code)
        assert form.status_code in (400, 415)
        assert (await opened.delete(PATH)).status_code == 405
    async with client(ui=False) as opened:
        assert (await opened.post(PATH, json=code)).status_code == 404
        assert (await opened.get(PATH)).status_code == 404
    async with client(secret=None) as opened:
        assert (await opened.post(PATH, json=code)).status_code == 401


async def test_a_code_counts_by_its_characters_however_json_writes_them() -> None:
    async with client() as opened:
        for code, status in (("\U00010000" * LONGEST_CODE, 401), ("x" * (LONGEST_CODE + 1), 400)):
            answer = await opened.post(PATH, content=json.dumps({"code": code}))
            assert answer.status_code == status

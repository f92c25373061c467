"""`/context_memory/delete`: what is forgotten, the receipt, errors that name their field; and
bodies that came before are not known any more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from memtree.context.context_memory import ContextMemory
from memtree.context.read_histories import MessageCache
from memtree.errors import StoreUnavailable
from memtree.jobs.embedding import NoQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.runtime import SystemClock
from memtree.stores import open_store
from memtree_proxy.http.auth import tenant_id
from tests.http.served.fakes import FakeMemory, edge, raising, turn

PATHS = [prefix + "/context_memory/delete" for prefix in ("", "/v1", "/api", "/api/v1")]
ADDRESS = "ab" * 32
HISTORY = turn(9)["messages"]


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize("path", PATHS)
async def test_the_receipt(path: str, method: str):
    begun = datetime.now(UTC)
    async with edge(None) as client:
        await client.post("/context_memory", json=turn(9))
        answer = await client.request(method, path, json={"messages": HISTORY})
        again = await client.request(method, path, json={"messages": HISTORY})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    shown = answer.json()
    at = datetime.fromisoformat(shown.pop("deleted_at"))
    assert begun - timedelta(seconds=2) < at <= datetime.now(UTC)
    assert shown == {
        "object": "context_memory.deletion", "scope": "history", "address": None,
        "nodes": 1, "addresses": 1, "vectors": 0, "summaries": 0, "epochs": 0, "turns": 0,
        "jobs": 0,
    }  # fmt: skip
    assert again.status_code == 200
    assert (again.json()["nodes"], again.json()["addresses"]) == (0, 0)


async def test_an_address_as_the_answer_names_it():
    async with edge(None) as client:
        told = await client.post("/context_memory", json=turn(9))
        address = told.json()["memory"]["address"]
        assert address == told.headers["x-memtree-address"]
        answer = await client.post(PATHS[0], json={"address": address.upper()})
        again = await client.post(PATHS[0], json={"address": address})
    assert (answer.json()["scope"], answer.json()["address"]) == ("address", address)
    assert answer.json()["addresses"] == 1
    assert (again.status_code, again.json()["error"]["code"]) == (404, "not_found")
    assert again.json()["error"]["param"] == "address"


@pytest.mark.parametrize(
    "body", [{"all": True}, {"tenant": True}, {"all": True, "tenant": True},
             {"all": True, "messages": None, "address": None}],
)  # fmt: skip
async def test_all_means_the_tenant_and_no_other(body: dict[str, Any]):
    memory = FakeMemory()
    async with edge(None, memory) as client:
        for key in ("A", "B"):
            for count in (1, 2):
                headers = {"x-api-key": key}
                await client.post("/context_memory", json=turn(count), headers=headers)
        answer = await client.post(PATHS[1], json=body, headers={"x-api-key": "A"})
    assert (answer.json()["scope"], answer.json()["nodes"]) == ("tenant", 2)
    assert {tenant for tenant, _ in memory.kept} == {tenant_id("B")}


async def test_another_tenants_address_is_not_known():
    async with edge(None) as client:
        told = await client.post("/context_memory", json=turn(9), headers={"x-api-key": "A"})
        body = {"address": told.json()["memory"]["address"]}
        answer = await client.post(PATHS[0], json=body, headers={"x-api-key": "B"})
    assert answer.status_code == 404


BAD = [
    (b"{}", None),
    (b'{"all":false}', None),
    (b'{"all":null,"messages":null}', None),
    (b'{"address":"' + b"ab" * 32 + b'","all":true}', "all"),
    (b'{"messages":[{"role":"user","content":"a"}],"address":"00"}', "address"),
    (b'{"messages":[{"role":"user","content":"a"}],"tenant":true}', "all"),
    (b'{"messages":[{"role":"user","content":"\xff"}]}', "messages[0]"),
    (b'{"address":"' + b"ab" * 31 + b'"}', "address"),
    (b'{"address":"' + b"ab" * 33 + b'"}', "address"),
    (b'{"address":"ab","address":"ab"}', "address"),
]


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize(("raw", "param"), BAD)
async def test_bad_input_is_a_400_and_nothing_goes(method: str, raw: bytes, param: str | None):
    memory = FakeMemory()
    memory.kept.add(("anonymous", bytes.fromhex(ADDRESS)))
    async with edge(None, memory) as client:
        answer = await client.request(method, PATHS[0], content=raw)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, "invalid_request", param)
    assert len(memory.kept) == 1


async def test_the_error_names_what_may_be_given():
    async with edge(None) as client:
        none = await client.post(PATHS[0], json={})
        both = await client.post(PATHS[0], json={"address": ADDRESS, "messages": HISTORY})
    for name in ("messages", "address", "all"):
        assert name in none.json()["error"]["message"]
    assert "messages and address" in both.json()["error"]["message"]


@pytest.mark.parametrize("body", [{"messages": HISTORY}, {"address": ADDRESS}, {"all": True}])
async def test_a_store_that_is_down_is_a_503(body: dict[str, Any]):
    memory = FakeMemory()
    memory.before = raising(StoreUnavailable("the store is locked"))
    async with edge(None, memory) as client:
        answer = await client.post(PATHS[0], json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "store_unavailable")


async def test_the_log_says_what_went_but_no_text(caplog: pytest.LogCaptureFixture):
    caplog.set_level("INFO")
    async with edge(None) as client:
        await client.post("/context_memory", json=turn(9))
        await client.post(PATHS[0], json={"messages": HISTORY})
    line = "context_memory.deleted tenant=anonymous scope=history addresses=1 nodes=1"
    assert line in caplog.text
    assert "message 0" not in caplog.text


SAMPLE = 'memtree_cache_bytes{cache="known_bodies"} '
LONG = 900  # messages: some 45 kB


def memory() -> ContextMemory:
    store, builder = open_store("memory:"), StageOne(child=False)
    return ContextMemory(store, builder, NoQueue(), SystemClock(), facts=MessageCache(1))


async def kept(client: httpx.AsyncClient) -> float:
    """Bytes that are kept of known bodies."""
    page = (await client.get("/metrics")).text.splitlines()
    return next(float(line[len(SAMPLE) :]) for line in page if line.startswith(SAMPLE))


@pytest.mark.parametrize("how", ["a tenant deletes all", "another process deleted something"])
async def test_every_deletion_forgets_what_was_posted(how: str):
    used = memory()
    async with edge(None, used) as client:
        for key in "AB":
            posted = await client.post(
                "/context_memory", json=turn(LONG), headers={"x-api-key": key}
            )
            assert posted.status_code == 200
        before = await kept(client)
        if how == "a tenant deletes all":
            body = {"all": True}
            await client.post("/context_memory/delete", json=body, headers={"x-api-key": "A"})
            assert await kept(client) == pytest.approx(before / 2, rel=0.1)
        else:
            used.forgotten(None)
            assert await kept(client) == 0

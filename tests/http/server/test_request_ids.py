"""The id of a request: whose it is, where it is told, and that it names the request's log lines."""

from __future__ import annotations

import logging

import pytest

from memtree_proxy.http import log
from tests.http.served.fakes import FakeMemory, edge, turn
from tests.http.served.upstream import FakeUpstream

OURS = "x-memtree-request-id"
ON = {"x-polychat-memory": "on"}


@pytest.mark.parametrize(
    "sane", ["a", "call-7", "0f8fad5b-d9cb-469f-a165-70867728950e", "req_1.2:3@x/y+z=", "x" * 128]
)
async def test_a_sane_id_of_the_client_is_kept(sane: str):
    async with edge(None) as client:
        answer = await client.get("/health", headers={"x-request-id": sane})
    assert answer.headers[OURS] == sane


@pytest.mark.parametrize("odd", ["", " ", "x" * 129, "a b", 'a"b', "a\tb", "é", "a;b", "{}", "a,b"])
async def test_any_other_is_replaced(odd: str):
    async with edge(None) as client:
        headers = [(b"x-request-id", odd.encode("utf-8"))]
        first = await client.get("/health", headers=headers)
        second = await client.get("/health", headers=headers)
    ids = {answer.headers[OURS] for answer in (first, second)}
    assert len(ids) == 2
    assert all(len(one) == 16 and int(one, 16) >= 0 for one in ids)


async def test_the_upstream_keeps_its_own(base: str, upstream: FakeUpstream):
    upstream.mode = "headers"
    upstream.answer_headers = [
        (b"x-request-id", b"theirs"),
        (b"x-memtree-request-id", b"another proxy"),
    ]
    async with edge(base) as client:
        chat = await client.post("/chat/completions", json=turn(9), headers=ON)
        relayed = await client.get("/v1/models")
    assert chat.headers.get_list("x-request-id") == ["theirs"]
    assert len(chat.headers.get_list(OURS)) == 1
    assert chat.headers[OURS] != "another proxy"
    assert relayed.headers[OURS] == "another proxy"
    assert not upstream.last.header("x-request-id")


async def test_what_is_relayed_has_none_of_ours(base: str, upstream: FakeUpstream):
    async with edge(base) as client:
        answer = await client.get("/v1/models", headers={"x-request-id": "mine"})
    assert OURS not in answer.headers
    assert upstream.last.header("x-request-id") == ["mine"]


@pytest.mark.parametrize("path", ["/context_memory", "/nowhere", "/v1/models"])
async def test_errors_of_ours_tell_it(path: str):
    async with edge(None) as client:
        answer = await client.post(path, json={}, headers={"x-request-id": "mine"})
    assert answer.status_code >= 400
    assert answer.headers[OURS] == "mine"


async def test_all_lines_of_a_request_carry_it(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(caplog.handler, "formatter", log.JsonFormatter())  # it is that of all tests
    memory = FakeMemory()

    async def pause() -> None:
        logging.getLogger("memtree").warning("store.unavailable code=%s", "x")

    memory.before = pause
    async with edge(None, memory) as client:
        for one in ("one", "two"):
            await client.post("/context_memory", json=turn(9), headers={"x-request-id": one})
    lines = [line for line in caplog.text.splitlines() if '"logger": "memtree"' in line]
    assert [("store.unavailable" in line, '"request": "one"' in line) for line in lines] == [
        (True, True), (False, True), (True, False), (False, False),
    ]  # fmt: skip
    assert '"request": "two"' in lines[2]
    assert '"request": "two"' in lines[3]
    assert "message 8" not in caplog.text

"""Requests that are cheap to ask for and dear to answer: what bounds them, and what a client is
told of it."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from memtree.memories.memory import NewMemory
from memtree.stores import Memories
from tests.http.owned.kinds import users
from tests.http.owned.transferring import KEY, transferring
from tests.http.served.fakes import FakeKeys, FakeMemory, dumps, edge, real_memory, turn
from tests.http.served.upstream import FakeUpstream

PACKED = {**KEY, "content-encoding": "gzip", "content-type": "application/octet-stream"}
BOMB = gzip.compress(b"I live in Graz.\n" * 200_000)  # 3.2 MB


class Told:
    """The memories that a store is asked to add."""

    def __init__(self, store: Memories) -> None:
        self.texts: list[str] = []
        self._add_many = store.add_many
        setattr(store, "add_many", self)  # noqa: B010  the store's own is called

    async def __call__(self, scope: Any, memories: list[NewMemory], **more: Any) -> Any:
        self.texts += [memory.text for memory in memories]
        return await self._add_many(scope, memories, **more)


async def test_repeats_within_a_file_never_reach_the_store():
    async with transferring() as t:
        store = Told(t.store)
        report = await t.imported(gzip.compress(b"I live in Graz.\n" * 2_000 + b"I like tea."))
    assert store.texts == ["I live in Graz.", "I like tea."]
    assert (report["imported"], report["skipped"], report["complete"]) == (2, 1_999, True)
    assert report["lines"][0]["id"] == report["lines"][1]["id"] != report["lines"][-1]["id"]


async def test_a_repeat_of_what_was_there_is_told_with_its_id():
    async with transferring() as t:
        first = (await t.imported(b"I live in Graz."))["lines"][0]["id"]
        report = await t.imported(b"I live in Graz.\nI live in Graz.\n")
    assert [(line["status"], line["id"]) for line in report["lines"]] == [("duplicate", first)] * 2


@pytest.mark.parametrize("query", [{}, {"agentId": "a"}, {"dry_run": "true"}])
async def test_a_file_of_too_many_entries_stops_and_says_so(query: dict[str, str]):
    lines = b"".join(b"I saw town %d\n" % at for at in range(500))
    async with transferring(import_lines=100) as t:
        report = await t.imported(lines, **query)
        assert not report["complete"]
        assert "more than 128 entries" in report["stopped"]  # 100, and one for each 256 bytes
        assert 128 <= report["imported"] <= 328
        again = await t.imported(lines, **query)  # what is skipped counts as well
        assert again["stopped"] == report["stopped"]
        assert again["imported"] == (0 if "dry_run" not in query else report["imported"])
        assert (await t.imported(lines[:1_000], **query))["complete"]


@pytest.mark.parametrize(
    "path", ["/v1/memories/import", "/v1/context_memory/parse", "/v1/rag/n/documents"]
)
async def test_what_unpacks_to_much_more_is_refused_with_the_reason(path: str):
    async with edge(None, real_memory()) as client:
        answer = await client.post(path, content=BOMB, headers=PACKED)
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "request_too_large")
        assert "20 times" in answer.text
        small = gzip.compress(b"I live in Graz.\n" * 60_000)  # within the spare megabyte
        assert (await client.post(path, content=small, headers=PACKED)).status_code != 413


async def test_a_file_that_is_packed_itself_is_bound_too():
    async with transferring() as t:
        answer = await t.post(BOMB)
        assert (answer.status_code, await t.texts()) == (413, [])
        assert "20 times" in answer.text


async def test_chat_bodies_keep_their_limit(base: str):
    body = turn(3) | {"user": "a" * 3_000_000}
    packed = gzip.compress(dumps(body))
    async with edge(base, FakeMemory()) as client:
        answer = await client.post("/v1/chat/completions", content=packed, headers=PACKED)
    assert answer.status_code == 200


async def test_cpu_of_imports_is_bounded():
    async with transferring(import_seconds=1) as t:
        assert (await t.post(b"I like tea.")).status_code == 200
        lines = b"".join(b"I saw the town of number %d\n" % at for at in range(900))
        for _ in range(200):  # each takes some CPU of the minute's second
            answer = await t.post(lines)
            if answer.status_code == 429:
                break
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) > 0
        assert "seconds of CPU" in answer.text


@pytest.mark.parametrize(
    "path", ["/v1/memories/import", "/v1/context_memory/parse", "/v1/memories/extract"]
)
async def test_requests_at_once_are_bounded_for_each_tenant(path: str):
    begun, answered = asyncio.Event(), asyncio.Event()
    body = json.dumps({"messages": [{"role": "user", "content": "I like tea."}]}).encode()
    if path.endswith("import"):
        body = b"I like tea.\n"

    async def slowly() -> AsyncIterator[bytes]:
        yield body[:9]
        begun.set()
        await answered.wait()
        yield body[9:]

    kind = "application/json" if path.endswith("extract") else "application/octet-stream"
    mine, others = KEY | {"content-type": kind}, {"x-api-key": "another", "content-type": kind}
    async with edge(None, real_memory(), max_imports=1) as client:
        first = asyncio.create_task(client.post(path, content=slowly(), headers=mine))
        await begun.wait()
        second = await client.post(path, content=body, headers=mine)
        assert (second.status_code, second.json()["error"]["code"]) == (429, "rate_limit_exceeded")
        assert int(second.headers["retry-after"]) > 0
        assert "1 imports, extractions or posts" in second.text
        assert (await client.post(path, content=body, headers=others)).status_code == 200
        answered.set()
        assert (await first).status_code == 200
        assert (await client.post(path, content=body, headers=mine)).status_code == 200


async def test_extraction_goes_on_with_the_next_request():
    said = [{"role": "user", "content": f"I live in Graz, house {at}."} for at in range(40)]
    async with users(extraction_chars=1_000) as me:
        read, reports = 0, 0
        while True:
            report = await me.got("POST", "/extract", json={"messages": said})
            left = [skip for skip in report["skipped"] if skip["reason"] == "request_cap"]
            read, reports = read + report["messages"], reports + 1
            assert 0 < report["messages"] < 20
            assert len(left) == len(said) - read
            if not left:
                break
        assert reports > 2
        assert len([text for text in await me.texts() if "lives" in text]) >= len(said)


async def test_a_sentence_that_stands_there_again_is_read_once():
    async with users() as me:
        text = "I live in Graz. " * 80
        report = await me.got(
            "POST", "/extract", json={"messages": [{"role": "user", "content": text}]}
        )
    assert len(report["stored"]) == 1
    assert {skip["reason"] for skip in report["skipped"]} == {"duplicate"}


# -- keys that are none ------------------------------------------------------------------------

MODELS = "/v1/context_memory/status"


async def tried(client: httpx.AsyncClient, key: str, times: int = 1, **headers: str) -> list[int]:
    more = {
        "authorization": f"Bearer {key}",
        **{k.replace("_", "-"): v for k, v in headers.items()},
    }
    return [(await client.get(MODELS, headers=more)).status_code for _ in range(times)]


async def test_wrong_keys_of_an_address_are_slowed_and_right_ones_in_use_are_not():
    keys = FakeKeys(t=["right"])
    async with edge(None, FakeMemory(), keys, failed_keys_per_minute=5) as client:
        assert await tried(client, "right") == [200]
        statuses = [(await tried(client, f"wrong{at}"))[0] for at in range(7)]
        assert statuses == [401] * 5 + [429] * 2
        before = keys.lookups
        assert await tried(client, "another", 3) == [429] * 3
        assert keys.lookups == before
        assert await tried(client, "right") == [200]


async def test_behind_a_proxy_each_client_has_a_counter_of_its_own():
    settings: dict[str, Any] = {"failed_keys_per_minute": 2, "trusted_proxies": ("127.0.0.0/8",)}
    async with edge(None, FakeMemory(), FakeKeys(t=["right"]), **settings) as client:
        one = {"x_forwarded_for": "203.0.113.7, 198.51.100.1"}
        assert await tried(client, "wrong", 3, **one) == [401, 401, 429]
        # The part that the client itself may have written does not matter.
        assert await tried(client, "wrong", x_forwarded_for="1.2.3.4, 198.51.100.1") == [429]
        assert await tried(client, "wrong", x_forwarded_for="198.51.100.2") == [401]
        assert await tried(client, "wrong", 4) == [401] * 4  # the proxy tells nobody


async def test_without_a_proxy_the_header_means_nothing():
    async with edge(None, FakeMemory(), FakeKeys(t=["r"]), failed_keys_per_minute=2) as client:
        statuses = [
            (await tried(client, "wrong", x_forwarded_for=f"198.51.100.{at}"))[0] for at in range(4)
        ]
    assert statuses == [401, 401, 429, 429]


@pytest.mark.parametrize("path", ["/v1/models", "/v1/memories", "/v1/chat/completions", "/x", "/"])
async def test_trace_is_not_allowed(base: str, upstream: FakeUpstream, path: str):
    async with edge(base, FakeMemory()) as client:
        answer = await client.request("TRACE", path, headers=KEY)
    assert (answer.status_code, "TRACE" in answer.headers["allow"]) == (405, False)
    assert not upstream.seen
    assert json.loads(answer.text)["error"]["code"] == "method_not_allowed"

"""`/messages`: memory as on chat, in the words of the Messages API."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from memtree.errors import ContextOverflow, StoreUnavailable
from memtree_proxy.chat.keepalive import KeepalivePace
from memtree_proxy.server.app import create_app
from tests.http.context.test_waiting import Paused
from tests.http.served.fakes import FakeKeys, FakeMemory, dumps, edge, raising, services
from tests.http.served.running import running
from tests.http.served.speaking import FILLER, ON, events, messages
from tests.wire.servers.messages_server import FAULTS, MessagesServer, stream_fault

VERSION = {"anthropic-version": "2023-06-01"}
BODY: dict[str, Any] = {
    "model": "claude-opus-5-5",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "hi"}],
}
PREFIXES = ["/v1", "/api/v1", "/api", ""]


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_a_history_is_folded_under_every_prefix_and_never_invalid(prefix: str):
    async with messages() as said:
        said.path = f"{prefix}/messages?beta=true"
        folded = await said.until_folded()
        assert int(folded.headers["x-memtree-sent-tokens"]) < 4_500
        assert int(folded.headers["x-memtree-raw-tokens"]) > 10_000
        assert "<context_memory>" in json.dumps(said.sent["messages"][0])
        assert said.server.last.query == b"beta=true"
        for _ in range(3):
            answer = await said.say("and then?")
            assert answer.headers["x-memtree-epoch"] == folded.headers["x-memtree-epoch"]
        assert said.server.invalid == []
        # What was said behind the fold keeps its thinking, what was said before it has none.
        blocks = [b["type"] for m in said.sent["messages"] if m["role"] == "assistant"
                  for b in m["content"]]  # fmt: skip
        assert blocks.count("thinking") == 3


async def test_what_the_server_holds_passes_as_it_came():
    thread = {**BODY, "thread": {"type": "continue", "id": "thread_1"}, "target_tokens": 5_000}
    async with messages(FreeServer()) as said:
        answer = await said.client.post(
            "/v1/messages", content=dumps(thread), headers={**said.credentials, **ON}
        )
        assert answer.headers["x-memtree-state"] == "passed"
        assert answer.headers["x-memtree-reason"] == "server-state"
        assert said.sent == {k: v for k, v in thread.items() if k != "target_tokens"}


class FreeServer(MessagesServer):
    """Judges nothing."""

    def judge(self, body: Any, seen: Any) -> list[Any]:
        return []


# -- errors of ours ------------------------------------------------------------------------------


def error(answer: httpx.Response) -> tuple[int, str, str]:
    body = answer.json()
    assert body["type"] == "error"
    assert body["request_id"] == answer.headers["x-memtree-request"]
    return answer.status_code, body["error"]["type"], body["error"]["message"]


@pytest.mark.parametrize("path", ["/v1/messages", "/messages", "/v1/messages/count_tokens"])
async def test_whoever_has_no_key_is_told_in_the_words_of_the_api(path: str):
    async with edge("http://127.0.0.1:9", keys=FakeKeys(a=["key"])) as client:
        answer = await client.post(path, json=BODY, headers={"x-api-key": "other"})
        assert error(answer)[:2] == (401, "authentication_error")


@pytest.mark.usefixtures("rates_without_time")
async def test_too_many_requests():
    async with messages(requests_per_minute=1) as said:
        assert (await said.say("one")).status_code == 200
        answer = await said.say("two")
        assert error(answer)[:2] == (429, "rate_limit_error")
        assert int(answer.headers["retry-after"]) > 0


async def test_a_body_that_is_too_large():
    async with edge("http://127.0.0.1:9", max_body_bytes=10) as client:
        answer = await client.post("/v1/messages", json=BODY)
        status, kind, message = error(answer)
        assert (status, kind) == (413, "request_too_large")
        assert "too long" not in message


async def test_a_history_that_fits_no_model_is_too_long_in_the_words_that_clients_know():
    memory = FakeMemory()
    memory.before = raising(ContextOverflow(200_000, 250_000))
    async with edge("http://127.0.0.1:9", memory) as client:
        answer = await client.post("/v1/messages", json=BODY, headers=ON)
        told = "prompt is too long: 250000 tokens > 200000 maximum"
        assert error(answer) == (400, "invalid_request_error", told)
        assert answer.headers["x-memtree-state"] == "refused"


async def test_keys_that_cannot_be_looked_up_are_asked_for_again():
    keys = FakeKeys(a=["key"])
    keys.error = StoreUnavailable("the store does not answer")
    async with edge("http://127.0.0.1:9", keys=keys) as client:
        answer = await client.post("/v1/messages", json=BODY, headers={"x-api-key": "key"})
        assert error(answer)[1] == "overloaded_error"
        assert answer.headers["retry-after"]


async def test_an_upstream_that_cannot_be_reached():
    async with edge("http://127.0.0.1:9") as client:
        assert error(await client.post("/v1/messages", json=BODY))[0] == 502


# -- waiting -------------------------------------------------------------------------------------


async def waited(memory: Paused, server: MessagesServer, **fields: Any) -> httpx.Response:
    with running(server) as base:
        built = services(f"{base}/v1", memory, pace=KeepalivePace(quiet=0.02, beat=0.02))
        transport = httpx.ASGITransport(memory.watched(create_app(built)))
        async with httpx.AsyncClient(transport=transport, base_url="http://edge") as client:
            posted = dumps({**BODY, "stream": True, **fields})
            answer = await client.post("/v1/messages", content=posted, headers={**ON, **VERSION})
        await built.upstreams.close()
    return answer


async def test_whoever_waits_gets_pings():
    answer = await waited(Paused(2), MessagesServer())
    kinds = [event["type"] for event in events(answer.text)]
    assert kinds[:2] == ["ping", "ping"]
    assert "message_start" in kinds
    assert kinds[-1] == "message_stop"


async def test_an_error_behind_the_first_ping_is_an_event():
    class Refusing(Paused):
        async def _slowly(self) -> None:
            await super()._slowly()
            raise ContextOverflow(200_000, 250_000)

    answer = await waited(Refusing(), MessagesServer())
    assert answer.status_code == 200
    last = events(answer.text)[-1]
    told = "prompt is too long: 250000 tokens > 200000 maximum"
    assert last["error"] == {"type": "invalid_request_error", "message": told}
    assert "event: error\n" in answer.text


async def test_an_upstream_s_error_behind_a_ping_is_an_event():
    server = MessagesServer()
    server.steps.append(FAULTS["overloaded"])
    answer = await waited(Paused(), server)
    assert events(answer.text)[-1]["error"] == {"type": "overloaded_error", "message": "Overloaded"}


# -- refusals of the upstream --------------------------------------------------------------------


@pytest.mark.parametrize("stream", [True, False])
async def test_a_folded_history_that_is_too_long_is_packed_smaller(stream: bool):
    async with messages() as said:
        await said.until_folded()
        for number in range(6):
            await said.say(f"more of bed {number}: {FILLER}")
        size, before = len(said.server.last.raw), len(said.server.seen)
        said.server.fits = size // 5  # of four bytes each
        said.fields["stream"] = stream
        answer = await said.post([*said.items, said.user("and now?")])
        assert answer.status_code == 200
        assert [seen.status for seen in said.server.seen[before:]] == [400, 200]
        assert len(said.server.last.raw) < size
        assert said.server.invalid == []


async def test_a_stream_that_begins_with_too_long_is_replaced():
    async with messages() as said:
        await said.until_folded()
        for number in range(6):
            await said.say(f"more of bed {number}: {FILLER}")
        tokens, before = len(said.server.last.raw) // 4, len(said.server.seen)
        told = f"prompt is too long: {tokens} tokens > {tokens // 2} maximum"
        said.server.steps.append(stream_fault("invalid_request_error", told, pieces=0))
        said.fields["stream"] = True
        answer = await said.post([*said.items, said.user("and now?")])
        assert len(said.server.seen) == before + 2
        kinds = [event["type"] for event in events(answer.text)]
        assert (kinds.count("message_start"), kinds[-1]) == (1, "message_stop")
        assert "error" not in kinds


# -- counting ------------------------------------------------------------------------------------


async def test_a_folded_history_is_counted_as_it_would_be_sent():
    async with messages(recall_tools=True) as said:
        await said.until_folded()
        await said.say("and then?")
        sent = said.sent
        posted = said.server.last.raw
        counted = await said.post(said.items[:-1], "/v1/messages/count_tokens")
        assert counted.status_code == 200
        assert said.server.last.path.endswith("/messages/count_tokens")
        assert said.server.last.raw == posted
        assert said.sent == sent
        assert said.server.invalid == []


@pytest.mark.parametrize("memory", ["on", "off"])
async def test_a_fragment_is_counted_as_it_came_and_never_indexed(memory: str):
    async with messages() as said:
        fragment = b'{"model": "claude-opus-5-5",  "messages": [{"role":"user","content":"foo"}]}'
        answer = await said.client.post(
            "/v1/messages/count_tokens",
            content=fragment,
            headers={**said.credentials, **ON, "x-polychat-memory": memory},
        )
        assert answer.status_code == 200
        assert said.server.last.raw == fragment
        status = await said.client.get("/v1/context_memory/status", headers=said.credentials)
        assert status.json()["pending_tokens"] == 0
        page = await said.client.get("/v1/context_memory/conversations", headers=said.credentials)
        assert page.json()["conversations"] == []

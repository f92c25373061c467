"""`/responses`: memory as on chat, in the words of the Responses API."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from memtree.errors import ContextOverflow
from memtree_proxy.chat.keepalive import KeepalivePace
from memtree_proxy.server.app import create_app
from tests.http.context.test_waiting import Paused
from tests.http.served.fakes import FakeKeys, FakeMemory, dumps, edge, raising, services
from tests.http.served.running import PATIENCE, running
from tests.http.served.speaking import FILLER, ON, events, responses
from tests.wire.servers.responses_server import ResponsesServer, failed

BODY: dict[str, Any] = {"model": "gpt-6.1", "input": "hi"}
HANDSHAKE = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-key": "eA=="}


@pytest.mark.parametrize("prefix", ["/v1", "/api/v1", "/api", ""])
async def test_a_history_is_folded_under_every_prefix_and_never_invalid(prefix: str):
    async with responses() as said:
        said.path = f"{prefix}/responses"
        folded = await said.until_folded()
        assert int(folded.headers["x-memtree-sent-tokens"]) < 4_500
        assert "<context_memory>" in json.dumps(said.sent["input"][0])
        assert said.sent["instructions"] == "be brief"
        for _ in range(3):
            answer = await said.say("and then?")
            assert answer.headers["x-memtree-epoch"] == folded.headers["x-memtree-epoch"]
        assert said.server.invalid == []


@pytest.mark.parametrize(
    "fields",
    [
        {"previous_response_id": "resp_1"},
        {"conversation": "conv_1"},
        {"input": [{"type": "item_reference", "id": "msg_1"}]},
    ],
)
async def test_what_the_server_holds_passes_as_it_came(fields: dict[str, Any]):
    posted = {**BODY, **fields, "target_tokens": 5_000}
    async with responses(Lenient()) as said:
        answer = await said.client.post(
            said.path, content=dumps(posted), headers={**said.credentials, **ON}
        )
        assert answer.headers["x-memtree-state"] == "passed"
        assert answer.headers["x-memtree-reason"] == "server-state"
        assert said.sent == {**BODY, **fields}


class Lenient(ResponsesServer):
    """Knows no rules."""

    def judge(self, body: Any, seen: Any) -> list[Any]:
        return []


# -- WebSockets ----------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["/v1", "/api/v1", "/api", ""])
async def test_a_websocket_is_refused_so_that_the_client_goes_on_over_http(prefix: str):
    async with responses() as said:
        answer = await said.client.get(f"{prefix}/responses", headers=HANDSHAKE)
        assert answer.status_code == 426
        assert answer.headers["upgrade"] == "HTTP/1.1"
        assert answer.json()["error"]["code"] == "upgrade_required"
        assert said.server.seen == []


async def test_other_requests_below_responses_are_the_upstream_s():
    async with responses() as said:
        for method, path in [("GET", "/v1/responses"), ("GET", "/v1/responses/resp_1"),
                             ("POST", "/v1/responses/compact"),
                             ("POST", "/v1/responses/input_tokens")]:  # fmt: skip
            await said.client.request(method, path, headers=said.credentials)
            assert (said.server.last.method, said.server.last.path) == (method, path)


def test_a_real_handshake_is_refused():
    """The server takes the offer out of the headers; the rest of the handshake tells it."""
    built = services("http://127.0.0.1:9")
    with running(create_app(built), built.upstreams) as address:
        answer = httpx.get(f"{address}/v1/responses", headers=HANDSHAKE, timeout=PATIENCE)
        assert answer.status_code == 426
        assert answer.headers["upgrade"] == "HTTP/1.1"


# -- errors --------------------------------------------------------------------------------------


async def test_errors_of_ours_have_openai_s_form():
    async with edge("http://127.0.0.1:9", keys=FakeKeys(a=["key"])) as client:
        answer = await client.post("/v1/responses", json=BODY)
        assert answer.status_code == 401
        assert answer.json()["error"]["code"] == "invalid_api_key"
    async with edge("http://127.0.0.1:9", max_body_bytes=5) as client:
        answer = await client.post("/v1/responses", json=BODY)
        assert answer.status_code == 400
        assert answer.json()["error"]["code"] == "request_too_large"


async def test_a_history_that_fits_no_model_is_a_400_whatever_the_setting():
    memory = FakeMemory()
    memory.before = raising(ContextOverflow(200_000, 250_000))
    async with edge("http://127.0.0.1:9", memory, overflow_status=413) as client:
        answer = await client.post("/v1/responses", json=BODY, headers=ON)
        assert answer.status_code == 400
        assert answer.json()["error"]["code"] == "context_length_exceeded"


@pytest.mark.parametrize("pieces", [1, 2])
async def test_a_response_that_fails_as_too_long_at_once_is_replaced(pieces: int):
    """`response.created` is kept back until it is known whether anything follows."""
    async with responses() as said:
        await said.until_folded()
        for number in range(6):
            await said.say(f"more of bed {number}: {FILLER}")
        tokens, before = len(said.server.last.raw) // 4, len(said.server.seen)
        told = f"maximum context length is {tokens // 2} tokens, yours has {tokens} tokens"
        said.server.steps.append(failed("context_length_exceeded", told, pieces))
        said.fields["stream"] = True
        answer = await said.post([*said.items, said.user("and now?")])
        assert len(said.server.seen) == before + 2
        assert len(said.server.seen[-1].raw) < len(said.server.seen[-2].raw)
        kinds = [event["type"] for event in events(answer.text)]
        assert (kinds.count("response.created"), kinds[-1]) == (1, "response.completed")


async def test_a_response_that_fails_for_another_reason_goes_on_as_it_came():
    async with responses() as said:
        await said.until_folded()
        said.server.steps.append(failed("server_error", pieces=2))
        said.fields["stream"] = True
        answer = await said.post([*said.items, said.user("and now?")])
        assert answer.content == said.server.last.answered
        assert events(answer.text)[-1]["type"] == "response.failed"


class Refusing(Paused):
    async def _slowly(self) -> None:
        await super()._slowly()
        raise ContextOverflow(200_000, 250_000)


@pytest.mark.parametrize(
    ("kind", "last"), [(Paused, "response.completed"), (Refusing, "response.failed")]
)
async def test_whoever_waits_gets_comments_and_then_the_answer(kind: type[Paused], last: str):
    memory = kind(2)
    with running(ResponsesServer()) as base:
        built = services(f"{base}/v1", memory, pace=KeepalivePace(quiet=0.02, beat=0.02))
        transport = httpx.ASGITransport(memory.watched(create_app(built)))
        async with httpx.AsyncClient(transport=transport, base_url="http://edge") as client:
            posted = {**BODY, "input": [{"role": "user", "content": "hi"}], "stream": True}
            answer = await client.post("/v1/responses", json=posted, headers=ON)
        await built.upstreams.close()
    assert answer.text.startswith(": keep-alive\n\n: keep-alive\n\n")
    final = events(answer.text)[-1]
    assert final["type"] == last
    if last == "response.failed":
        assert final["response"]["error"]["code"] == "context_length_exceeded"

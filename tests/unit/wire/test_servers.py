"""The fake servers, routes, and where thinking stands."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response

from memtree_proxy.server.routing import described, family
from memtree_proxy.wire.routes import Mark, route, routes
from memtree_proxy.wire.values import DryRun, NoQuery
from tests.made.scripted import Call, Say
from tests.wire.clean import MARK, messages_request, responses_request, said, text
from tests.wire.rule_break import Fields, rules
from tests.wire.servers import messages_server, responses_server
from tests.wire.servers.messages_server import MessagesServer
from tests.wire.servers.responses_server import ResponsesServer
from tests.wire.servers.vendor import CutStream, VendorServer
from tests.wire.thinking import broken_thinking, signature

# ------------------------------------------------------------------------------------------------
# The fake servers answer as the real ones do, judge what they are sent, and do wrong on demand.


VERSION = {"anthropic-version": "2023-06-01"}
WORK = Say("On it.", (Call("Read", {"path": "ä"}),), reasoning="Let me see.")


@asynccontextmanager
async def asking(server: VendorServer) -> AsyncIterator[httpx.AsyncClient]:
    transport: Any = httpx.ASGITransport(server)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://vendor/v1", headers=VERSION
    ) as client:
        yield client


def events(raw: bytes) -> list[Fields]:
    found = []
    for piece in raw.decode().split("\n\n")[:-1]:
        name, data = piece.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {found[-1]['type']}"
    return found


async def test_a_messages_stream_says_the_same_as_the_whole_answer():
    server = MessagesServer()
    server.steps.extend([WORK, WORK])
    async with asking(server) as client:
        whole = (await client.post("/messages", json=messages_request(stream=False))).json()
        stream = events((await client.post("/messages", json=messages_request())).content)
    made: list[Fields] = []
    for event in stream:
        if event["type"] == "content_block_start":
            made.append({**event["content_block"], "json": ""})
        for key, value in (event.get("delta") or {}).items():
            name = "json" if key == "partial_json" else key
            if event["type"] == "content_block_delta" and name != "type":
                made[-1][name] += value
    for block in made:
        if raw := block.pop("json"):
            block["input"] = json.loads(raw)
    kinds = [block["type"] for block in whole["content"]]
    assert kinds == ["thinking", "text", "tool_use"]
    assert [block["type"] for block in made] == kinds
    assert made[0] == whole["content"][0]
    assert made[2]["input"] == whole["content"][2]["input"] == {"path": "ä"}
    assert whole["stop_reason"] == stream[-2]["delta"]["stop_reason"] == "tool_use"
    assert server.invalid == []


async def test_thinking_of_another_conversation_is_refused_in_the_words_of_the_api():
    server = MessagesServer()
    async with asking(server) as client:
        first = messages_request(stream=False, messages=[said("user", text("Start."))])
        answer = (await client.post("/messages", json=first)).json()
        history = [*first["messages"], said("assistant", *answer["content"]),
                   said("user", text("on"))]  # fmt: skip
        assert (await client.post("/messages", json={**first, "messages": history})).is_success
        history[0] = said("user", text("Other."))
        refused = await client.post("/messages", json={**first, "messages": history})
    assert refused.status_code == 400
    assert "bound to a different conversation" in refused.json()["error"]["message"]
    assert server.invalid == ["request 2: messages[1]: thinking-of-another-prefix"]


async def test_the_cache_reads_what_was_marked_and_writes_what_is_marked():
    server = MessagesServer()
    long = messages_request(system=[text("x" * 9000, cache_control=dict(MARK))])
    async with asking(server) as client:
        for _ in range(2):
            await client.post("/messages", json=long)
        long["messages"] += [said("assistant", text("b")), said("user", text("bye " * 400))]
        await client.post("/messages", json=long)
        long["system"][0]["text"] += "y"
        await client.post("/messages", json=long)
    first, second, third, fourth = server.billed
    assert first.read == 0 < first.written
    assert (second.read, second.written) == (first.written, 0)
    assert (third.read, third.written) == (first.written, 0)
    assert third.plain > 300
    assert fourth.read == 0 < fourth.written
    assert first.total == second.total < third.total


async def test_a_marker_that_is_too_far_away_reads_nothing():
    """Messages take two positions each turn: behind eleven turns the last marker is out of view."""

    async def read(turns: int) -> int:
        server = MessagesServer()
        body = messages_request(system=[], tools=[], messages=[
            said("user", text("x" * 9000, cache_control=dict(MARK)))])  # fmt: skip
        async with asking(server) as client:
            await client.post("/messages", json=body)
            del body["messages"][0]["content"][0]["cache_control"]
            for turn in range(turns):
                body["messages"] += [said("assistant", text("a")), said("user", text(f"{turn}"))]
            body["messages"][-1]["content"][0]["cache_control"] = dict(MARK)
            await client.post("/messages", json=body)
        return server.billed[-1].read

    assert await read(9) > 0
    assert await read(10) == 0


async def test_a_prompt_that_does_not_fit_is_refused_in_the_words_of_each_api():
    async with asking(server := MessagesServer()) as client:
        server.fits = 10
        refused = await client.post("/messages", json=messages_request())
    tokens = len(server.last.raw) // 4
    said_by = refused.json()["error"]["message"]
    assert (refused.status_code, said_by) == (
        400, f"prompt is too long: {tokens} tokens > 10 maximum")  # fmt: skip
    async with asking(other := ResponsesServer()) as client:
        other.fits = 10
        refused = await client.post("/responses", json=responses_request())
    assert (refused.status_code, refused.json()["error"]["code"]) == (
        400, "context_length_exceeded")  # fmt: skip


async def test_what_breaks_a_rule_is_counted_and_refused_by_name():
    async with asking(server := MessagesServer()) as client:
        refused = await client.post("/messages", json={**messages_request(), "memory": True})
        assert (await client.post("/messages", content=b"[")).status_code == 400
        await client.post(
            "/messages", json=messages_request(), headers={"x-memtree-mode": "stable"}
        )
    assert "own-field" in refused.json()["error"]["message"]
    assert server.invalid == [
        "request 0: memory: own-field",
        "request 1: body: no-json",
        "request 2: x-memtree-mode: own-header",
    ]


async def test_a_responses_stream_ends_with_the_whole_answer():
    server = ResponsesServer()
    server.steps.append(WORK)
    async with asking(server) as client:
        stream = events((await client.post("/responses", json=responses_request())).content)
    assert [event["sequence_number"] for event in stream] == list(range(len(stream)))
    done = [event["item"] for event in stream if event["type"] == "response.output_item.done"]
    assert stream[-1]["response"]["output"] == done
    assert [item["type"] for item in done] == ["reasoning", "message", "function_call"]
    deltas = [e["delta"] for e in stream if e["type"] == "response.function_call_arguments.delta"]
    assert json.loads("".join(deltas)) == {"path": "ä"}


async def test_the_server_remembers_which_reasoning_a_call_was_made_with():
    server = ResponsesServer()
    server.steps.append(WORK)
    body = responses_request(stream=False)
    async with asking(server) as client:
        made = (await client.post("/responses", json=body)).json()["output"]
        result = {"type": "function_call_output", "call_id": made[2]["call_id"], "output": "x"}
        body["input"] += [*made, result]
        assert (await client.post("/responses", json=body)).is_success
        body["input"].remove(made[0])
        assert (await client.post("/responses", json=body)).status_code == 400
    assert [one.split(": ")[-1] for one in server.invalid] == ["item-without-reasoning"] * 2


@pytest.mark.parametrize("name", messages_server.FAULTS)
async def test_faults_of_the_messages_api(name: str):
    await _is_told(MessagesServer(), "/messages", messages_server.FAULTS[name], messages_request())


@pytest.mark.parametrize("name", responses_server.FAULTS)
async def test_faults_of_the_responses_api(name: str):
    fault = responses_server.FAULTS[name]
    await _is_told(ResponsesServer(), "/responses", fault, responses_request())


async def _is_told(server: Any, path: str, fault: Any, body: Fields) -> None:
    """Once, and then the server is well again."""
    server.steps.append(fault)
    async with asking(server) as client:
        told = await client.post(path, json=body)
        again = await client.post(path, json=body)
    assert (told.status_code, told.content) == (fault.status, fault.body)
    assert set(fault.headers) <= set(told.headers.raw)
    assert again.is_success


async def test_streams_that_break_off_and_those_that_tell_an_error():
    server = MessagesServer()
    server.steps.extend([messages_server.stream_fault("overloaded_error"), CutStream(2)])
    async with asking(server) as client:
        told = await client.post("/messages", json=messages_request())
        with pytest.raises(Exception, match=r".*"):
            await client.post("/messages", json=messages_request())
    assert told.content.endswith(messages_server.error("overloaded_error", "it broke") + b"\n\n")
    assert server.last.answered.count(b"event: ") == 2


async def test_answers_may_be_compressed():
    async with asking(server := MessagesServer(encode=True)) as client:
        answer = await client.post("/messages", json=messages_request())
    assert gzip.decompress(server.last.answered) == answer.content
    assert answer.headers["content-encoding"] == "gzip"


async def test_tokens_are_counted_without_an_answer():
    async with asking(server := MessagesServer()) as client:
        body = {name: value for name, value in messages_request().items() if name != "max_tokens"}
        counted = await client.post("/messages/count_tokens", json=body)
    assert counted.json()["input_tokens"] > 100
    assert server.answers == 0


# ------------------------------------------------------------------------------------------------
# Marks at handlers: from these, routes are served.


PATH = "/teas/{tea}"


class Teas:
    @route(f"GET {PATH}")
    async def show(self, request: Request) -> Response:
        return Response("shown")

    @route(f"DELETE {PATH}", DryRun)
    @route("POST /teas/drop")
    async def drop(self, request: Request) -> Response:
        return Response("gone")

    async def other(self, request: Request) -> Response:
        return Response("no route")


def test_each_mark_is_a_route_with_its_handler():
    assert list(routes(Teas())) == [
        Mark("GET", PATH, NoQuery, "show"),
        Mark("POST", "/teas/drop", NoQuery, "drop"),
        Mark("DELETE", PATH, DryRun, "drop"),
    ]


def test_the_handlers_of_a_path_are_one_route_under_each_prefix():
    paths = [one.path for one in described(Teas())]
    for path, of in (("/teas/drop", paths[:4]), (PATH, paths[4:])):
        assert sorted(of) == sorted([path, f"/v1{path}", f"/api{path}", f"/api/v1{path}"])
    assert len(family("/teas", Teas())) == 12


# ------------------------------------------------------------------------------------------------
# Thinking is taken behind what made it, as one unbroken piece, and never once it was left out.


def session(turns: int = 3, **changes: object) -> Fields:
    """A session in which each answer began with thinking, signed for what was before it."""
    body = messages_request(messages=[said("user", text("Start."))], **changes)
    for turn in range(turns):
        answer(body, f"thought {turn}")
        body["messages"].append(said("user", text(f"go on {turn}")))
    return body


def answer(body: Fields, thought: str) -> None:
    block = {"type": "thinking", "thinking": thought, "signature": signature(body, thought)}
    body["messages"].append(said("assistant", block, text(f"said behind {thought}")))


def folded(body: Fields, kept: int, first_with_thinking: int | None = None) -> Fields:
    """With a memory text in front of the last `kept` messages."""
    sent = copy.deepcopy(body)
    rest = sent["messages"][-kept:]
    sent["messages"] = [said("user", text("<context_memory>m</context_memory>")), *rest]
    for index, message in enumerate(sent["messages"]):
        if first_with_thinking is None or index < first_with_thinking:
            strip(message)
    return sent


def strip(message: Fields) -> None:
    message["content"] = [one for one in message["content"] if one["type"] != "thinking"]


def test_what_came_as_it_was_made_is_taken():
    assert broken_thinking(session()) == []


def test_markers_and_the_form_of_a_text_change_nothing():
    body = session()
    body["messages"][0] = {"role": "user", "content": "Start."}
    body["messages"][2]["content"][0]["cache_control"] = {"type": "ephemeral"}
    assert broken_thinking(body) == []


def test_another_prefix_is_noticed():
    for change in ("system", "tools", "first"):
        body = session()
        if change == "first":
            body["messages"][0] = said("user", text("Other."))
        else:
            body[change] = []
        assert rules(broken_thinking(body)) == {"thinking-of-another-prefix"}, change


def test_thinking_behind_a_fold_that_was_made_before_it_is_noticed():
    body = session()
    assert broken_thinking(folded(body, 4)) == []
    assert "thinking-of-another-prefix" in rules(
        broken_thinking(folded(body, 4, first_with_thinking=0))
    )


def test_what_was_made_behind_a_fold_belongs_to_it():
    sent = folded(session(), 4)
    answer(sent, "behind the fold")
    sent["messages"].append(said("user", text("on")))
    assert broken_thinking(sent) == []
    sent["messages"][0] = said("user", text("<context_memory>n</context_memory>"))
    assert rules(broken_thinking(sent)) == {"thinking-of-another-prefix"}


def test_the_oldest_may_be_missing_and_the_middle_not():
    body = session(4)
    strip(body["messages"][1])
    assert broken_thinking(body) == []
    strip(body["messages"][5])
    assert rules(broken_thinking(body)) == {"thinking-gap"}


def test_the_newest_may_be_missing():
    body = session(4)
    strip(body["messages"][7])
    assert broken_thinking(body) == []


def test_what_was_left_out_does_not_come_back():
    """Enough for it that the thinking made since then saw none before it."""
    body = session()
    stripped = copy.deepcopy(body)
    for message in stripped["messages"]:
        strip(message)
    answer(stripped, "later")
    body["messages"] += [stripped["messages"][-1], said("user", text("on"))]
    assert rules(broken_thinking(body)) == {"thinking-came-back"}


def test_changed_thinking_is_noticed():
    body = session()
    body["messages"][3]["content"][0]["thinking"] += "."
    assert rules(broken_thinking(body)) == {"thinking-altered"}


def test_enabled_thinking_knows_no_prefix():
    body = session(thinking={"type": "enabled", "budget_tokens": 2000})
    body["messages"][0] = said("user", text("Other."))
    assert broken_thinking(body) == []


def test_a_message_of_thinking_alone_may_go():
    body = session(1)
    alone = {"type": "thinking", "thinking": "t", "signature": signature(body, "t")}
    body["messages"] += [said("assistant", alone), said("user", text("on"))]
    answer(body, "next")
    body["messages"].append(said("user", text("end")))
    assert broken_thinking(body) == []
    bare = copy.deepcopy(body)
    del bare["messages"][3]
    strip(bare["messages"][1])
    assert broken_thinking(bare) == []


def test_signatures_of_others_are_taken():
    body = session(1)
    body["messages"][1]["content"][0]["signature"] = "sig1=="
    body["messages"][0] = said("user", text("Other."))
    assert broken_thinking(body) == []

"""Answers in which the model calls our tools, in Messages and in Responses: what the client gets,
and what it can send back, when the upstream answers and when it fails."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any, cast

import httpx
import pytest

from tests.http.served.speaking import Speaker, messages, responses
from tests.made.scripted import Call, Say
from tests.wire.messages import messages_events
from tests.wire.responses import responses_events
from tests.wire.rule_break import Fields
from tests.wire.servers import messages_server, responses_server
from tests.wire.servers.messages_answer import OUTPUT_TOKENS
from tests.wire.servers.vendor import StreamFault, VendorStep

SEARCH = Call("memory_search", {"query": "bed 7"})
READ = Call("memory_read", {"first": 1})
OWN = Call("Read", {"path": "a.py"})
LOOK = Say("Let me see.", (SEARCH,), reasoning="I should look.")
FOUND = Say("It is bed 7.", reasoning="Found.")
TOOLS = {
    "messages": [{"name": "Read", "input_schema": {"type": "object"}}],
    "responses": [{"type": "function", "name": "Read", "parameters": {}, "strict": False}],
}
DIALECTS = pytest.mark.parametrize("dialect", ["messages", "responses"])
STREAMS = pytest.mark.parametrize(
    ("dialect", "stream"),
    [
        ("messages", True),
        ("responses", False),
        pytest.param("messages", False, marks=pytest.mark.long),
        pytest.param("responses", True, marks=pytest.mark.long),
    ],
)


def speaking(dialect: str, **settings: Any) -> AbstractAsyncContextManager[Speaker]:
    opened = messages if dialect == "messages" else responses
    return cast(
        "AbstractAsyncContextManager[Speaker]", opened(**{"recall_tools": True, **settings})
    )


def answer_of(dialect: str, answer: httpx.Response) -> Fields:
    """Read by the pickiest client."""
    assert answer.status_code == 200, answer.text
    if answer.headers["content-type"].startswith("text/event-stream"):
        reader = messages_events.read if dialect == "messages" else responses_events.read
        return reader(answer.content)
    return dict(answer.json())


def shown(dialect: str, answer: Fields) -> list[str]:
    """The kinds of what the client got."""
    return [part["type"] for part in answer["content" if dialect == "messages" else "output"]]


def results(dialect: str, answer: Fields) -> list[Fields]:
    """Return what a client makes of the calls it got."""
    if dialect == "messages":
        calls = [block for block in answer["content"] if block["type"] == "tool_use"]
        content = [
            {"type": "tool_result", "tool_use_id": call["id"], "content": "ok"} for call in calls
        ]
        return [{"role": "user", "content": content}]
    calls = [item for item in answer["output"] if item["type"] == "function_call"]
    return [
        {"type": "function_call_output", "call_id": call["call_id"], "output": "ok"}
        for call in calls
    ]


async def ask(said: Speaker, steps: Iterable[VendorStep], *items: Fields) -> httpx.Response:
    said.server.steps.extend(steps)
    said.items += items or [said.user("which bed was it?")]
    return await said.post(said.items)


@STREAMS
async def test_whatever_a_model_does_with_our_tools_no_request_is_invalid(
    dialect: str, stream: bool
):
    async with speaking(dialect) as said:
        said.fields["tools"] = TOOLS[dialect]
        await said.until_folded()
        said.fields["stream"] = stream
        turns: list[list[VendorStep]] = [
            [LOOK, FOUND],
            [LOOK, Say("", (READ, SEARCH), reasoning="More."), FOUND],
            [Say("", (SEARCH,)), Say("", (OWN,), reasoning="Now read."), FOUND],
            [Say("Both.", (SEARCH, OWN), reasoning="At once."), FOUND],
            [Say("", (OWN, OWN, SEARCH)), LOOK, FOUND],
            [*[LOOK] * 8, FOUND],
        ]
        for steps in turns:
            answer = answer_of(dialect, await ask(said, steps))
            said.items += said.answered(answer)
            if said.server.steps:  # the client's own call comes first
                done = answer_of(dialect, await ask(said, [], *results(dialect, answer)))
                said.items += said.answered(done)
            assert not said.server.steps
        assert said.server.invalid == []
        sent = json.dumps(said.items)
        assert "memory_search" not in sent
        assert "memory_read" not in sent


@STREAMS
async def test_the_client_gets_the_texts_of_all_rounds_and_the_usage(dialect: str, stream: bool):
    async with speaking(dialect, target_tokens=4_000) as said:
        await said.until_folded()
        said.fields["stream"] = stream
        answer = answer_of(dialect, await ask(said, [LOOK, FOUND]))
        kinds = {
            "messages": ["thinking", "text", "text"],
            "responses": ["reasoning", "message", "reasoning", "message"],
        }
        assert shown(dialect, answer) == kinds[dialect]
        assert answer["usage"]["output_tokens"] == 2 * OUTPUT_TOKENS
        first, second = (seen.body for seen in said.server.seen[-2:])
        before, after = first[said.history], second[said.history]
        assert (after[: len(before)], second["tools"]) == (before, first["tools"])
        bills = said.server.billed[-2:]  # type: ignore[attr-defined]
        field = "cache_read_input_tokens" if dialect == "messages" else "input_tokens"
        expected = [bill.read if dialect == "messages" else bill.total for bill in bills]
        assert answer["usage"][field] == sum(expected)


@DIALECTS
async def test_a_later_round_that_is_refused_ends_the_stream_in_the_words_of_the_api(dialect: str):
    faults = messages_server.FAULTS if dialect == "messages" else responses_server.FAULTS
    async with speaking(dialect) as said:
        await said.until_folded()
        said.fields["stream"] = True
        answer = await ask(said, [LOOK, faults["overloaded"]])
        if dialect == "messages":
            *_, last = messages_events.values(answer.content)
            assert last["error"] == {"type": "overloaded_error", "message": "Overloaded"}
        else:
            failed = responses_events.read(answer.content)
            assert failed["error"]["code"] == "server_is_overloaded"
            assert [item["type"] for item in failed["output"]] == ["reasoning", "message"]
        assert said.server.invalid == []


@DIALECTS
async def test_a_later_round_that_is_refused_is_the_answer_where_nothing_was_sent(dialect: str):
    faults = messages_server.FAULTS if dialect == "messages" else responses_server.FAULTS
    async with speaking(dialect) as said:
        await said.until_folded()
        answer = await ask(said, [LOOK, faults["rate limit"]])
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
        assert answer.content == said.server.last.answered


@DIALECTS
async def test_an_error_within_a_later_stream_goes_on_to_the_client(dialect: str):
    fault: StreamFault = (
        messages_server.stream_fault("overloaded_error", pieces=3)
        if dialect == "messages"
        else responses_server.failed("server_error", pieces=3)
    )
    async with speaking(dialect) as said:
        await said.until_folded()
        said.fields["stream"] = True
        answer = await ask(said, [LOOK, fault])
        if dialect == "messages":
            *_, last = messages_events.values(answer.content)
            assert (last["type"], last["error"]["type"]) == ("error", "overloaded_error")
        else:
            *_, last = responses_events.values(answer.content)
            assert last["response"]["error"]["code"] == "server_error"
        assert "memory_search" not in answer.text


@STREAMS
async def test_a_later_prompt_that_is_too_long_is_packed_smaller(dialect: str, stream: bool):
    faults = messages_server.FAULTS if dialect == "messages" else responses_server.FAULTS
    async with speaking(dialect) as said:
        await said.until_folded()
        said.fields["stream"] = stream
        before = len(said.server.seen)
        answer = answer_of(dialect, await ask(said, [LOOK, faults["prompt too long"], FOUND]))
        assert "It is bed 7." in json.dumps(answer)
        first, second, third = (seen.body[said.history] for seen in said.server.seen[before:])
        assert first[-1] in second
        assert third[-2:] == [thoughtless(second[-2]), second[-1]]  # the round goes with it
        assert len(json.dumps(third)) < len(json.dumps(second))
        assert said.server.invalid == []
        # What it thought before that no longer fits, and the client may have it.
        said.items += said.answered(answer)
        assert "answer" in json.dumps(answer_of(dialect, await ask(said, [])))
        assert len(said.server.invalid) <= (dialect == "messages")


def thoughtless(item: Fields) -> Fields:
    """A message without its thinking, which was bound to the longer prompt."""
    if not isinstance(item.get("content"), list):
        return item
    return {**item, "content": [block for block in item["content"] if block["type"] != "thinking"]}

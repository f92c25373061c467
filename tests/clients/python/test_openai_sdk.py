"""The OpenAI Python SDK, in all its ways to ask, through the real server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

from tests import project
from tests.clients.rig import Rig
from tests.made.scripted import MODEL, Say
from tests.programs.sessions import coding
from tests.project import DEFINITIONS, DONE, PLAIN, SUMMARY, TASK, Folder

pytestmark = [pytest.mark.slow, pytest.mark.clients]

PARTS = range(20)
HEADERS = {"x-polychat-memory": "on"}
SYSTEM = {"role": "system", "content": "You work on a project with the tools that you have."}


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    return f"sdk-{request.node.name}"


@pytest.fixture
def client(rig: Rig, key: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=rig.url, api_key=key, default_headers=HEADERS, max_retries=0) as made:
        yield made


def begun() -> list[Any]:
    return [SYSTEM, {"role": "user", "content": TASK}]


def results(folder: Folder, calls: Any) -> list[Any]:
    return [
        {
            "role": "tool",
            "tool_call_id": call.id,
            "content": folder.do(call.function.name, json.loads(call.function.arguments)),
        }
        for call in calls
    ]


def check(rig: Rig, key: str, folder: Folder, last: str | None) -> None:
    assert last == DONE
    assert folder.files[SUMMARY] == project.summary(PARTS)
    rig.check(key)


def test_tool_loop(rig: Rig, client: OpenAI, key: str) -> None:
    rig.script(key, project.work(PLAIN, PARTS))
    folder, messages = Folder(project.files(len(PARTS), 4_000)), begun()
    while True:
        answer = client.chat.completions.create(model=MODEL, messages=messages, tools=DEFINITIONS)  # type: ignore[arg-type]
        message = answer.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            break
        messages += results(folder, message.tool_calls)
    check(rig, key, folder, message.content)


def test_stream_helper(rig: Rig, client: OpenAI, key: str) -> None:
    """It sends `parsed` and `refusal` back with each message."""
    rig.script(key, project.work(PLAIN, PARTS))
    folder, messages = Folder(project.files(len(PARTS), 4_000)), begun()
    while True:
        with client.chat.completions.stream(
            model=MODEL,
            messages=messages,
            tools=DEFINITIONS,  # type: ignore[arg-type]
            stream_options={"include_usage": True},
        ) as stream:
            answer = stream.get_final_completion()
        assert answer.usage
        message = answer.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            break
        messages += results(folder, message.tool_calls)
    check(rig, key, folder, message.content)


async def _streamed(client: AsyncOpenAI, messages: list[Any]) -> dict[str, Any]:
    """One answer, put together by hand from its chunks."""
    text, calls = "", dict[int, dict[str, Any]]()
    stream: Any = await client.chat.completions.create(
        model=MODEL,
        messages=messages,
        tools=DEFINITIONS,  # type: ignore[arg-type]
        stream=True,
    )
    async for chunk in stream:
        delta = chunk.choices[0].delta
        text += delta.content or ""
        for piece in delta.tool_calls or ():
            assert piece.function
            if piece.id:
                function = {"name": piece.function.name, "arguments": ""}
                calls[piece.index] = {"id": piece.id, "type": "function", "function": function}
            calls[piece.index]["function"]["arguments"] += piece.function.arguments or ""
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    return {**message, "tool_calls": list(calls.values())} if calls else message


@pytest.mark.long
def test_async_stream(rig: Rig, key: str) -> None:
    async def session() -> str:
        async with AsyncOpenAI(
            base_url=rig.url, api_key=key, default_headers=HEADERS, max_retries=0
        ) as client:
            messages = begun()
            while True:
                message = await _streamed(client, messages)
                messages.append(message)
                if "tool_calls" not in message:
                    return str(message["content"])
                for call in message["tool_calls"]:
                    done = folder.do(
                        call["function"]["name"], json.loads(call["function"]["arguments"])
                    )
                    messages.append({"role": "tool", "tool_call_id": call["id"], "content": done})

    rig.script(key, project.work(PLAIN, PARTS))
    folder = Folder(project.files(len(PARTS), 4_000))
    check(rig, key, folder, asyncio.run(session()))


class Verdict(BaseModel):
    parts: int
    words: list[str]


@pytest.mark.long
def test_parse_helper(rig: Rig, client: OpenAI, key: str) -> None:
    """An answer of a given form at the end of a tool loop: the form goes to the model as posted."""
    wanted = Verdict(parts=len(PARTS), words=["river", "ünïcode ✓"])
    rig.script(key, project.work(PLAIN, PARTS, done=wanted.model_dump_json(), quiet=True))
    strict = [
        {**tool, "function": {**tool["function"], "strict": True,  # type: ignore[dict-item]
                              "parameters": {**tool["function"]["parameters"],  # type: ignore[index]
                                             "additionalProperties": False}}}
        for tool in DEFINITIONS
    ]  # fmt: skip
    folder, messages = Folder(project.files(len(PARTS), 4_000)), begun()
    while True:
        answer = client.chat.completions.parse(
            model=MODEL,
            messages=messages,
            tools=strict,  # type: ignore[arg-type]
            response_format=Verdict,
        )
        message = answer.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            break
        messages += results(folder, message.tool_calls)
    assert message.parsed == wanted
    rig.check(key)
    last = rig.upstream.scripts[key].seen[-1].body
    assert last["response_format"]["json_schema"]["name"] == "Verdict"


def test_question_after_a_long_chat(rig: Rig, client: OpenAI, key: str) -> None:
    rig.script(key, [Say("The limit is 42.")])
    history = [*coding(40_000), {"role": "user", "content": "Which limit did we set in SHOP-105?"}]
    raw = client.chat.completions.with_raw_response.create(model=MODEL, messages=history)  # type: ignore[arg-type]
    assert raw.parse().choices[0].message.content == "The limit is 42."
    assert raw.headers["x-memtree-state"] in ("packed", "provisional")
    assert int(raw.headers["x-memtree-sent-tokens"]) < int(raw.headers["x-memtree-raw-tokens"]) / 4
    assert rig.verdict(key).problems == []
    sent = rig.upstream.scripts[key].seen[0].body["messages"]
    assert sent[0] == history[0], "the system prompt goes first and untouched"
    assert sent[1]["content"].startswith("<context_memory>")


def test_short_history_passes_as_it_is(rig: Rig, client: OpenAI, key: str) -> None:
    rig.script(key, [Say("hello")])
    messages: list[Any] = [{"role": "user", "content": "hi"}]
    raw = client.chat.completions.with_raw_response.create(model=MODEL, messages=messages)
    assert raw.headers["x-memtree-state"] == "below-threshold"
    assert rig.upstream.scripts[key].seen[0].body["messages"] == messages


def test_models_are_listed(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()] == [MODEL]

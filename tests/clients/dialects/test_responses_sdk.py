"""The OpenAI Python SDK's Responses, in all its ways to ask, through the real server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from openai import AsyncOpenAI, BadRequestError, OpenAI, RateLimitError
from pydantic import BaseModel

from tests import project
from tests.clients.dialects.rig import MEMORY, DialectRig
from tests.made.scripted import Cut, Fail, Say
from tests.programs.sessions import chat
from tests.project import DEFINITIONS, DONE, PLAIN, SUMMARY, TASK, Folder
from tests.wire.servers.responses_server import TOO_LONG, failed

pytestmark = [pytest.mark.slow, pytest.mark.clients]

PARTS = range(20)
MODEL = "gpt-5.5"
ON = {"x-polychat-memory": "on"}
TOOLS: Any = [{"type": "function", **tool["function"]} for tool in DEFINITIONS]  # type: ignore[dict-item]
ASKED: dict[str, Any] = {
    "model": MODEL,
    "instructions": "You work on a project.",
    "tools": TOOLS,
    "store": False,
    "include": ["reasoning.encrypted_content"],
}


def made(rig: DialectRig, key: str, **more: Any) -> OpenAI:
    options = {"max_retries": 0, "default_headers": ON, **more}
    return OpenAI(**{"base_url": rig.url, "api_key": key, **options})


@pytest.fixture
def client(rig: DialectRig, key: str) -> Iterator[OpenAI]:
    with made(rig, key) as client:
        yield client


def outputs(folder: Folder, answer: Any) -> list[Any]:
    return [
        {"type": "function_call_output", "call_id": item.call_id,
         "output": folder.do(item.name, json.loads(item.arguments))}
        for item in answer.output
        if item.type == "function_call"
    ]  # fmt: skip


def tool_loop(ask: Callable[[list[Any]], Any], folder: Folder) -> Any:
    """The answer's own objects go back to the model, as the SDK's readme shows it."""
    items: list[Any] = [{"role": "user", "content": TASK}]
    while True:
        answer = ask(items)
        results = outputs(folder, answer)
        if not results:
            return answer
        items += [*answer.output, *results]


def check(rig: DialectRig, key: str, folder: Folder, answer: Any) -> None:
    assert answer.output_text == DONE
    assert folder.files[SUMMARY] == project.summary(PARTS)
    rig.check(key)


@pytest.mark.long
def test_create(rig: DialectRig, client: OpenAI, key: str) -> None:
    rig.script(key, project.work(PLAIN, PARTS))
    folder = Folder(project.files(len(PARTS), 4_000))
    check(rig, key, folder, tool_loop(lambda i: client.responses.create(input=i, **ASKED), folder))


def test_stream_helper(rig: DialectRig, client: OpenAI, key: str) -> None:
    rig.script(key, project.work(PLAIN, PARTS))
    folder, kinds = Folder(project.files(len(PARTS), 4_000)), list[str]()

    def ask(items: list[Any]) -> Any:
        with client.responses.stream(input=items, **ASKED) as stream:
            kinds[:] = [event.type for event in stream]
            return stream.get_final_response()

    check(rig, key, folder, tool_loop(ask, folder))
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"


@pytest.mark.long
def test_async_stream(rig: DialectRig, key: str) -> None:
    folder = Folder(project.files(len(PARTS), 4_000))

    async def session() -> Any:
        items: list[Any] = [{"role": "user", "content": TASK}]
        async with AsyncOpenAI(
            base_url=rig.url, api_key=key, default_headers=ON, max_retries=0
        ) as client:
            while True:
                async with client.responses.stream(input=items, **ASKED) as stream:
                    answer = await stream.get_final_response()
                results = outputs(folder, answer)
                if not results:
                    return answer
                items += [*answer.output, *results]

    rig.script(key, project.work(PLAIN, PARTS))
    check(rig, key, folder, asyncio.run(session()))


def history(turns: int = 160) -> list[Any]:
    return [*chat(turns, words=60), {"role": "user", "content": "What about the river?"}]


class ReadParts(BaseModel):
    parts: int
    words: list[str]


def test_parse_helper(rig: DialectRig, client: OpenAI, key: str) -> None:
    wanted = ReadParts(parts=3, words=["river", "ünïcode ✓"])
    rig.script(key, [Say(wanted.model_dump_json())])
    answer = client.responses.parse(input=history(), model=MODEL, text_format=ReadParts)
    assert answer.output_parsed == wanted
    assert rig.verdict(key).problems == []
    sent = rig.upstream.scripts[key].seen[-1].body
    assert sent["text"]["format"]["name"] == "ReadParts"
    assert MEMORY in json.dumps(sent)


def test_question_after_a_long_chat(rig: DialectRig, client: OpenAI, key: str) -> None:
    rig.script(key, [Say("It flows.")])
    raw = client.responses.with_raw_response.create(input=history(), model=MODEL)
    assert raw.parse().output_text == "It flows."
    assert raw.headers["x-memtree-state"] in ("packed", "provisional")
    assert rig.verdict(key).problems == []
    first = rig.upstream.scripts[key].seen[0].body["input"][0]
    assert (first["role"], first["content"][0]["type"]) == ("user", "input_text")
    assert first["content"][0]["text"].startswith(MEMORY)


def test_short_history_passes_as_it_is(rig: DialectRig, client: OpenAI, key: str) -> None:
    """A string is a history of one message."""
    rig.script(key, [Say("hello")])
    raw = client.responses.with_raw_response.create(input="hi", model=MODEL)
    assert raw.headers["x-memtree-state"] == "below-threshold"
    assert rig.upstream.scripts[key].seen[0].raw == rig.tap.of(key)[0].raw


def test_memory_off_passes_as_it_is(rig: DialectRig, key: str) -> None:
    rig.script(key, [Say("hello")])
    with made(rig, key, default_headers={}) as client:
        client.responses.create(input=history(), model=MODEL)
    assert rig.upstream.scripts[key].seen[0].raw == rig.tap.of(key)[0].raw


def test_a_history_that_the_server_holds(rig: DialectRig, client: OpenAI, key: str) -> None:
    rig.script(key, [Say("hello")])
    raw = client.responses.with_raw_response.create(
        input=history(), model=MODEL, previous_response_id="resp_1"
    )
    assert (raw.headers["x-memtree-state"], raw.headers["x-memtree-reason"]) == (
        "passed", "server-state",
    )  # fmt: skip
    assert rig.upstream.scripts[key].seen[0].raw == rig.tap.of(key)[0].raw


def test_base_url_with_a_slash(rig: DialectRig, key: str) -> None:
    rig.script(key, [Say("hello")])
    with made(rig, key, base_url=f"{rig.url}/") as client:
        assert client.responses.create(input="hi", model=MODEL).output_text == "hello"


def test_rate_limits_are_waited_for(rig: DialectRig, key: str) -> None:
    rig.script(key, [Fail(429, "rate_limit_exceeded", 0), Say("It flows.")])
    with made(rig, key, max_retries=2) as client:
        assert client.responses.create(input=history(), model=MODEL).output_text == "It flows."
    assert rig.verdict(key).problems == []


def test_a_rate_limit_without_retries(rig: DialectRig, client: OpenAI, key: str) -> None:
    rig.script(key, [Fail(429, "rate_limit_exceeded", 7)])
    with pytest.raises(RateLimitError) as told:
        client.responses.create(input=history(), model=MODEL)
    assert told.value.response.headers["retry-after"] == "7"
    assert told.value.code == "rate_limit_exceeded"


def test_an_upstream_that_finds_it_too_long(rig: DialectRig, key: str) -> None:
    """Without memory, the upstream's own words arrive."""
    rig.script(key, [Say("never")], window=250)
    with made(rig, key, default_headers={}) as client, pytest.raises(BadRequestError) as told:
        client.responses.create(input=history(), model=MODEL)
    assert told.value.code == "context_length_exceeded"
    assert TOO_LONG in told.value.message


def test_memory_fits_a_small_window(rig: DialectRig, client: OpenAI, key: str) -> None:
    """The upstream finds it too long once, and the client never hears of it."""
    rig.script(key, [Say("It flows.")], window=3_500)
    assert client.responses.create(input=history(), model=MODEL).output_text == "It flows."
    assert rig.verdict(key).invalid == []


def test_a_failed_stream(rig: DialectRig, client: OpenAI, key: str) -> None:
    """The SDK hands out the event, and raises nothing."""
    rig.script(key, [failed("server_error", "Try again.")])
    asked: Any = {"input": history(), "model": MODEL, "stream": True}
    events: list[Any] = [*client.responses.create(**asked)]
    assert events[-1].type == "response.failed"
    assert events[-1].response.error.message == "Try again."


def test_a_stream_that_breaks_off(rig: DialectRig, client: OpenAI, key: str) -> None:
    rig.script(key, [Cut(), Say("a long answer, " * 20)])
    asked: Any = {"input": history(), "model": MODEL, "stream": True}
    with pytest.raises(Exception, match=r"(?i)incomplete|peer closed|protocol|connection"):
        [*client.responses.create(**asked)]
    assert rig.verdict(key).problems == []

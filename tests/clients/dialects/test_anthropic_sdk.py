"""The Anthropic Python SDK, in all its ways to ask, through the real server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from anthropic import (
    Anthropic,
    APIStatusError,
    AsyncAnthropic,
    BadRequestError,
    RateLimitError,
    beta_tool,
)

from tests import project
from tests.clients.dialects.rig import MEMORY, DialectRig
from tests.made.scripted import Call, Cut, Fail, Say
from tests.programs.sessions import chat
from tests.project import DEFINITIONS, DONE, PLAIN, SUMMARY, TASK, Folder
from tests.wire.servers.messages_server import TOO_LONG, stream_fault

pytestmark = [pytest.mark.slow, pytest.mark.clients]

PARTS = range(28)
MODEL = "claude-sonnet-5-5"
ON = {"x-polychat-memory": "on"}
MARK = {"type": "ephemeral"}
TOOLS: Any = [
    {"name": tool["function"]["name"], "description": tool["function"]["description"],  # type: ignore[index]
     "input_schema": tool["function"]["parameters"]}  # type: ignore[index]
    for tool in DEFINITIONS
]  # fmt: skip
ASKED: dict[str, Any] = {
    "model": MODEL,
    "max_tokens": 8_000,
    "system": [{"type": "text", "text": "You work on a project.", "cache_control": MARK}],
    "tools": TOOLS,
    "thinking": {"type": "adaptive"},
}


def made(rig: DialectRig, key: str, **more: Any) -> Anthropic:
    """Its base URL has no `/v1`: the SDK adds it."""
    base = rig.url.removesuffix("/v1")
    options = {"max_retries": 0, "default_headers": ON, **more}
    return Anthropic(**{"base_url": base, "api_key": key, **options})


@pytest.fixture
def client(rig: DialectRig, key: str) -> Iterator[Anthropic]:
    with made(rig, key) as client:
        yield client


def results(folder: Folder, message: Any) -> list[Any]:
    return [
        {"type": "tool_result", "tool_use_id": block.id,
         "content": folder.do(block.name, block.input)}
        for block in message.content
        if block.type == "tool_use"
    ]  # fmt: skip


def tool_loop(ask: Callable[[list[Any]], Any], folder: Folder) -> Any:
    """The answer's own objects go back to the model, as the SDK's readme shows it."""
    messages: list[Any] = [{"role": "user", "content": TASK}]
    while True:
        message = ask(messages)
        if message.stop_reason != "tool_use":
            return message
        messages.append({"role": "assistant", "content": message.content})
        messages.append({"role": "user", "content": results(folder, message)})


def check(rig: DialectRig, key: str, folder: Folder, message: Any) -> None:
    assert message.content[-1].text == DONE
    assert folder.files[SUMMARY] == project.summary(PARTS)
    rig.check(key)


def test_create(rig: DialectRig, client: Anthropic, key: str) -> None:
    rig.script(key, project.work(PLAIN, PARTS))
    folder = Folder(project.files(len(PARTS), 4_000))
    message = tool_loop(lambda posted: client.messages.create(messages=posted, **ASKED), folder)
    check(rig, key, folder, message)


def test_stream_helper(rig: DialectRig, client: Anthropic, key: str) -> None:
    rig.script(key, project.work(PLAIN, PARTS))
    folder, streamed = Folder(project.files(len(PARTS), 4_000)), list[str]()

    def ask(posted: list[Any]) -> Any:
        with client.messages.stream(messages=posted, **ASKED) as stream:
            streamed.append("".join(stream.text_stream))
            return stream.get_final_message()

    check(rig, key, folder, tool_loop(ask, folder))
    assert streamed[-1] == DONE


def test_events(rig: DialectRig, client: Anthropic, key: str) -> None:
    """The kinds of events come in the order in which the API sends them."""
    rig.script(key, [Say("A word.", (Call("run", {"command": "x"}),), "Why not.")])
    asked: Any = {**ASKED, "messages": [{"role": "user", "content": "hi"}], "stream": True}
    kinds = [event.type for event in client.messages.create(**asked)]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 3


@pytest.mark.long
def test_async_stream(rig: DialectRig, key: str) -> None:
    folder = Folder(project.files(len(PARTS), 4_000))

    async def session() -> Any:
        base = rig.url.removesuffix("/v1")
        messages: list[Any] = [{"role": "user", "content": TASK}]
        async with AsyncAnthropic(
            base_url=base, api_key=key, default_headers=ON, max_retries=0
        ) as client:
            while True:
                async with client.messages.stream(messages=messages, **ASKED) as stream:
                    message = await stream.get_final_message()
                if message.stop_reason != "tool_use":
                    return message
                messages.append({"role": "assistant", "content": message.content})
                messages.append({"role": "user", "content": results(folder, message)})

    rig.script(key, project.work(PLAIN, PARTS))
    check(rig, key, folder, asyncio.run(session()))


@pytest.mark.long
def test_tool_runner(rig: DialectRig, client: Anthropic, key: str) -> None:
    """The SDK's own tool loop, told to send the whole history."""
    rig.script(key, project.work(PLAIN, PARTS))
    folder = Folder(project.files(len(PARTS), 4_000))

    def read_file(path: str) -> str:
        """Read a file."""
        return folder.do("read_file", {"path": path})

    def run(command: str) -> str:
        """Run a command."""
        return folder.do("run", {"command": command})

    def write_file(path: str, text: str) -> str:
        """Write a file."""
        return folder.do("write_file", {"path": path, "text": text})

    own = [beta_tool(one) for one in (read_file, run, write_file)]
    runner = client.beta.messages.tool_runner(
        messages=[{"role": "user", "content": TASK}],
        thread=False,
        **{**ASKED, "tools": own},
    )
    check(rig, key, folder, runner.until_done())


def history(turns: int = 160) -> list[Any]:
    return [*chat(turns, words=60), {"role": "user", "content": "What about the river?"}]


def test_question_after_a_long_chat(rig: DialectRig, client: Anthropic, key: str) -> None:
    rig.script(key, [Say("It flows.")])
    asked = history()
    raw = client.messages.with_raw_response.create(messages=asked, model=MODEL, max_tokens=100)
    assert raw.parse().content[0].text == "It flows."
    assert raw.headers["x-memtree-state"] in ("packed", "provisional")
    assert rig.verdict(key).problems == []
    sent = rig.upstream.scripts[key].seen[0].body["messages"]
    assert sent[0]["role"] == "user"
    assert MEMORY in str(sent[0]["content"])


def test_short_history_passes_as_it_is(rig: DialectRig, client: Anthropic, key: str) -> None:
    rig.script(key, [Say("hello")])
    posted: Any = [{"role": "user", "content": "hi"}]
    raw = client.messages.with_raw_response.create(messages=posted, model=MODEL, max_tokens=100)
    assert raw.headers["x-memtree-state"] == "below-threshold"
    assert rig.upstream.scripts[key].seen[0].raw == rig.tap.of(key)[0].raw


def test_memory_off_passes_as_it_is(rig: DialectRig, key: str) -> None:
    rig.script(key, [Say("hello")])
    with made(rig, key, default_headers={}) as client:
        client.messages.create(messages=history(), model=MODEL, max_tokens=100)
    assert rig.upstream.scripts[key].seen[0].raw == rig.tap.of(key)[0].raw


@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.parametrize("named", ["api_key", "auth_token"])
def test_base_urls_and_credentials(rig: DialectRig, key: str, slash: str, named: str) -> None:
    rig.script(key, [Say("hello")])
    base = rig.url.removesuffix("/v1") + slash
    options: dict[str, Any] = {"api_key": None, named: key, "base_url": base}
    with made(rig, key, **options) as client:
        answer = client.messages.create(
            messages=[{"role": "user", "content": "hi"}], model=MODEL, max_tokens=100
        )
    assert answer.content[0].text == "hello"
    (seen,) = rig.upstream.scripts[key].seen
    assert key in (seen.headers.get("authorization", ""), seen.headers.get("x-api-key")) or (
        seen.headers["authorization"] == f"Bearer {key}"
    )


def test_rate_limits_are_waited_for(rig: DialectRig, key: str) -> None:
    rig.script(key, [Fail(429, "rate_limit_exceeded", 0), Say("It flows.")])
    with made(rig, key, max_retries=2) as client:
        answer = client.messages.create(messages=history(), model=MODEL, max_tokens=100)
    assert answer.content[0].text == "It flows."
    assert rig.verdict(key).problems == []


def test_a_rate_limit_without_retries(rig: DialectRig, client: Anthropic, key: str) -> None:
    rig.script(key, [Fail(429, "rate_limit_exceeded", 7)])
    with pytest.raises(RateLimitError) as told:
        client.messages.create(messages=history(), model=MODEL, max_tokens=100)
    assert told.value.response.headers["retry-after"] == "7"
    assert told.value.body["error"]["type"] == "rate_limit_error"  # type: ignore[index]


def test_an_upstream_that_finds_it_too_long(rig: DialectRig, key: str) -> None:
    """Without memory, the upstream's own words arrive."""
    rig.script(key, [Say("never")], window=250)
    with made(rig, key, default_headers={}) as client, pytest.raises(BadRequestError) as told:
        client.messages.create(messages=history(), model=MODEL, max_tokens=100)
    sent = len(rig.tap.of(key)[0].raw) // 4
    assert TOO_LONG.format(sent, 250) in told.value.message


def test_memory_fits_a_small_window(rig: DialectRig, client: Anthropic, key: str) -> None:
    """The upstream finds it too long once, and the client never hears of it."""
    rig.script(key, [Say("It flows.")], window=3_500)
    answer = client.messages.create(messages=history(), model=MODEL, max_tokens=100)
    assert answer.content[0].text == "It flows."
    assert rig.verdict(key).invalid == []


def test_an_error_in_a_stream(rig: DialectRig, client: Anthropic, key: str) -> None:
    rig.script(key, [stream_fault("overloaded_error", "Overloaded")])
    with (
        pytest.raises(APIStatusError) as told,
        client.messages.stream(messages=history(), model=MODEL, max_tokens=100) as stream,
    ):
        stream.get_final_message()
    assert "Overloaded" in str(told.value.body)


def test_a_stream_that_breaks_off(rig: DialectRig, client: Anthropic, key: str) -> None:
    rig.script(key, [Cut(), Say("a long answer, " * 20)])
    with (
        pytest.raises(Exception, match=r"(?i)incomplete|peer closed|protocol|connection"),
        client.messages.stream(messages=history(), model=MODEL, max_tokens=100) as stream,
    ):
        stream.get_final_message()
    assert rig.verdict(key).problems == []


def test_count_tokens(rig: DialectRig, client: Anthropic, key: str) -> None:
    rig.script(key, [])
    short = client.messages.count_tokens(messages=[{"role": "user", "content": "foo"}], model=MODEL)
    assert short.input_tokens > 0
    rig.script(key, [Say("It flows."), Say("Still.")])
    whole = client.messages.count_tokens(messages=history(), model=MODEL)
    client.messages.create(messages=history(), model=MODEL, max_tokens=100)
    folded = client.messages.count_tokens(messages=history(), model=MODEL)
    assert folded.input_tokens < whole.input_tokens / 2

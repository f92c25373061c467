"""The OpenAI Python SDK in front of a model that saves and recalls: it sees one normal answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from openai import AsyncOpenAI, OpenAI

from tests.clients.rig import Rig
from tests.made.scripted import MODEL, Call, Say
from tests.programs.server import PATIENCE
from tests.project import DEFINITIONS

pytestmark = [pytest.mark.slow, pytest.mark.clients]

HEADERS = {"x-chat-id": "chat-1"}
TEA = "User prefers tea in the morning"
SAVE = Call("save_memory", {"content": TEA, "category": "preference"})
RECALL = Call("recall_memory", {"query": "what does the user prefer in the morning"})
ASKED: Any = {"role": "user", "content": "Remember that I prefer tea in the morning."}


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    return f"chat-memory-{request.node.name}"


@pytest.fixture
def client(rig: Rig, key: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=rig.url, api_key=key, default_headers=HEADERS, max_retries=0) as made:
        yield made


def saved(rig: Rig, key: str) -> list[str]:
    root = rig.url.removesuffix("/v1")
    answer = httpx.get(
        f"{root}/chat/api/chat-1/memories",
        headers={"authorization": f"Bearer {key}"},
        timeout=PATIENCE,
        trust_env=False,
    )
    return [row["content"] for row in answer.json()["memories"]]


def test_create(rig: Rig, client: OpenAI, key: str) -> None:
    rig.script(key, [Say("I note it. ", (SAVE,)), Say("Done.")])
    answer = client.chat.completions.create(model=MODEL, messages=[ASKED])
    choice = answer.choices[0]
    assert (choice.message.content, choice.finish_reason) == ("I note it. Done.", "stop")
    assert choice.message.tool_calls is None
    assert saved(rig, key) == [TEA]


def test_stream_helper(rig: Rig, client: OpenAI, key: str) -> None:
    rig.script(key, [Say("", (SAVE,)), Say("", (RECALL,)), Say("Tea it is.")])
    kinds, text = set(), ""
    with client.chat.completions.stream(
        model=MODEL, messages=[ASKED], stream_options={"include_usage": True}
    ) as stream:
        for event in stream:
            kinds.add(event.type)
            text += event.delta if event.type == "content.delta" else ""
        answer = stream.get_final_completion()
    assert text == answer.choices[0].message.content == "Tea it is."
    assert answer.choices[0].finish_reason == "stop"
    assert kinds == {"chunk", "content.delta", "content.done"}
    assert answer.usage
    assert answer.usage.completion_tokens == 60
    assert saved(rig, key) == [TEA]
    result = rig.upstream.scripts[key].seen[2].body["messages"][-1]
    assert json.loads(result["content"])["memories"][0]["content"] == TEA


def test_a_save_beside_calls_of_the_client(rig: Rig, client: OpenAI, key: str) -> None:
    name = str(DEFINITIONS[0]["function"]["name"])  # type: ignore[index]
    rig.script(key, [Say("Both.", (SAVE, Call(name, {"path": "a"})))])
    with client.chat.completions.stream(
        model=MODEL,
        messages=[ASKED],
        tools=DEFINITIONS,  # type: ignore[arg-type]
    ) as stream:
        answer = stream.get_final_completion()
    choice = answer.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert [call.function.name for call in choice.message.tool_calls or ()] == [name]
    assert saved(rig, key) == [TEA]


async def test_async_stream_and_what_the_next_turn_knows(rig: Rig, key: str) -> None:
    rig.script(key, [Say("", (SAVE,)), Say("Noted."), Say("Tea.")])
    async with AsyncOpenAI(
        base_url=rig.url, api_key=key, default_headers=HEADERS, max_retries=0
    ) as client:
        texts = []
        # The second turn does not send the first one.
        for said in ("Remember that I prefer tea in the morning.",
                     "What does the user prefer in the morning?"):  # fmt: skip
            stream = await client.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": said}], stream=True
            )
            chunks = [chunk async for chunk in stream]
            assert len({chunk.id for chunk in chunks}) == 1
            assert all(not chunk.choices[0].delta.tool_calls for chunk in chunks)
            texts.append("".join(chunk.choices[0].delta.content or "" for chunk in chunks))
    assert texts == ["Noted.", "Tea."]
    first, _, third = (seen.body for seen in rig.upstream.scripts[key].seen)
    assert TEA in json.dumps(third["messages"])
    # What is saved can be taken back.
    more = [tool["function"]["name"] for tool in third["tools"][len(first["tools"]) :]]
    assert third["tools"][: len(first["tools"])] == first["tools"]
    assert more == ["forget_memory", "correct_memory"]

"""The OpenAI Python SDK in front of a model that searches its memory: it sees one normal answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from openai import AsyncOpenAI, OpenAI

from tests.clients.rig import Rig
from tests.made.scripted import MODEL, Call, Say
from tests.outgoing import problems, without_recall
from tests.programs.sessions import coding
from tests.project import DEFINITIONS

pytestmark = [pytest.mark.slow, pytest.mark.clients]

HEADERS = {"x-polychat-memory": "on", "x-memtree-recall-tools": "on"}
HISTORY: list[Any] = [*coding(40_000), {"role": "user", "content": "Thanks! What is left to do?"}]
FACT = next(m["content"] for m in HISTORY if str(m["content"]).startswith("SHOP-105 is done"))
SEARCH = Call("memory_search", {"query": "SHOP-105 is done limit"})
READ = Call("memory_read", {"first": 3, "last": 5})
LOOKS = Say("Let me look. ", (SEARCH, READ), reasoning="I forgot. ")
TEXT = "Let me look. It was SHOP-105."


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    return f"recall-{request.node.name}"


@pytest.fixture
def client(rig: Rig, key: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=rig.url, api_key=key, default_headers=HEADERS, max_retries=0) as made:
        yield made


def check(rig: Rig, key: str, requests: int) -> None:
    """Check that the requests to the model are sound, the fact came with the search alone, and each
    request of one answer begins with the one before."""
    seen = rig.upstream.scripts[key].seen
    posted = [json.loads(one.raw) for one in rig.tap.of(key)]
    assert len(seen) == requests
    for one in seen:
        stripped, found = without_recall(posted[-1 if len(posted) == 1 else 0], one.body)
        assert found == []
        if len(posted) == 1:
            assert problems(posted[0], stripped) == []
    assert FACT not in seen[0].raw.decode()
    assert FACT in seen[1].raw.decode()
    assert seen[1].body["messages"][: len(seen[0].body["messages"])] == seen[0].body["messages"]


def test_create(rig: Rig, client: OpenAI, key: str) -> None:
    rig.script(key, [LOOKS, Say("It was SHOP-105.")])
    answer = client.chat.completions.create(model=MODEL, messages=HISTORY)
    choice = answer.choices[0]
    assert (choice.message.content, choice.finish_reason) == (TEXT, "stop")
    assert choice.message.tool_calls is None
    assert answer.usage
    assert answer.usage.completion_tokens == 40
    check(rig, key, 2)


def test_stream_helper(rig: Rig, client: OpenAI, key: str) -> None:
    rig.script(key, [LOOKS, LOOKS, Say("It was SHOP-105.")])
    kinds, text = set(), ""
    with client.chat.completions.stream(
        model=MODEL, messages=HISTORY, stream_options={"include_usage": True}
    ) as stream:
        for event in stream:
            kinds.add(event.type)
            text += event.delta if event.type == "content.delta" else ""
        answer = stream.get_final_completion()
    assert text == answer.choices[0].message.content == "Let me look. " + TEXT
    assert answer.choices[0].finish_reason == "stop"
    assert kinds == {"chunk", "content.delta", "content.done"}
    assert answer.usage
    assert answer.usage.completion_tokens == 60
    check(rig, key, 3)


def test_calls_of_the_client_come_through_the_stream_helper(
    rig: Rig, client: OpenAI, key: str
) -> None:
    name = DEFINITIONS[0]["function"]["name"]  # type: ignore[index]
    mine = Call(str(name), {"path": "a"})
    rig.script(key, [LOOKS, Say("Now I know.", (SEARCH, mine, READ, mine))])
    with client.chat.completions.stream(
        model=MODEL,
        messages=HISTORY,
        tools=DEFINITIONS,  # type: ignore[arg-type]
    ) as stream:
        answer = stream.get_final_completion()
    choice = answer.choices[0]
    assert choice.finish_reason == "tool_calls"
    ids = rig.upstream.scripts[key].seen[1].ids
    assert [call.id for call in choice.message.tool_calls or ()] == [ids[1], ids[3]]
    assert answer.usage is None
    check(rig, key, 2)


async def test_async_stream_and_the_turn_after_it(rig: Rig, key: str) -> None:
    rig.script(key, [LOOKS, Say("It was SHOP-105."), Say("You are welcome.")])
    async with AsyncOpenAI(
        base_url=rig.url, api_key=key, default_headers=HEADERS, max_retries=0
    ) as client:
        messages, texts = list(HISTORY), []
        for _ in range(2):
            stream = await client.chat.completions.create(
                model=MODEL, messages=messages, stream=True
            )
            chunks = [chunk async for chunk in stream]
            assert len({chunk.id for chunk in chunks}) == 1
            assert all(not chunk.choices[0].delta.tool_calls for chunk in chunks)
            texts.append("".join(chunk.choices[0].delta.content or "" for chunk in chunks))
            messages += [{"role": "assistant", "content": texts[-1]},
                         {"role": "user", "content": "ok, thanks"}]  # fmt: skip
    assert texts == [TEXT, "You are welcome."]
    check(rig, key, 3)
    first, _, third = (seen.body for seen in rig.upstream.scripts[key].seen)
    assert third["messages"][: len(first["messages"])] == first["messages"]
    assert third["tools"] == first["tools"]

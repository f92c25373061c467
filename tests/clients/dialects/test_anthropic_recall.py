"""The Anthropic SDK in front of a model that searches its memory: it sees one normal answer."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic import Anthropic

from tests.clients.dialects.rig import DialectRig
from tests.clients.dialects.test_anthropic_sdk import MODEL, ON, TOOLS, made
from tests.made.scripted import Call, Say
from tests.programs.sessions import WORDS

pytestmark = [pytest.mark.slow, pytest.mark.clients]

FACT = "The limit of SHOP-105 is 42 parcels."
SEARCH = Call("memory_search", {"query": "limit of SHOP-105"})
READ = Call("memory_read", {"first": 1, "last": 3})
LOOKS = Say("Let me look. ", (SEARCH, READ), reasoning="I forgot. ")
TEXT = "Let me look. It is 42."


def history() -> list[Any]:
    """The fact stands where it is folded, with nothing about it in the newest message."""
    said = [" ".join(WORDS[n % 24 :] + WORDS[: n % 24]) * 3 + f" {n}." for n in range(300)]
    said[20] = FACT
    roles = ("user", "assistant")
    told = [{"role": roles[n % 2], "content": text} for n, text in enumerate(said)]
    return [*told, {"role": "user", "content": "Thanks! What is left to do?"}]


@pytest.fixture
def client(rig: DialectRig, key: str) -> Any:
    headers = {**ON, "x-memtree-recall-tools": "on"}
    with made(rig, key, default_headers=headers) as client:
        yield client


def asked(**more: Any) -> dict[str, Any]:
    return {"model": MODEL, "max_tokens": 1_000, "thinking": {"type": "adaptive"}, **more}


def check(rig: DialectRig, key: str, requests: int) -> None:
    seen = rig.upstream.scripts[key].seen
    assert rig.verdict(key).invalid == []
    assert len(seen) == requests
    assert "42 parcels" in seen[1].raw.decode()
    first, second = (one.body["messages"] for one in seen[:2])
    assert second[: len(first)] == first
    assert [b["type"] for b in second[-1]["content"]] == ["tool_result"] * 2


def test_create(rig: DialectRig, client: Anthropic, key: str) -> None:
    rig.script(key, [LOOKS, Say("It is 42.", reasoning="There it stands.")])
    answer = client.messages.create(messages=history(), **asked())
    assert "".join(b.text for b in answer.content if b.type == "text") == TEXT
    assert answer.stop_reason == "end_turn"
    assert all(block.type != "tool_use" for block in answer.content)
    assert answer.usage.output_tokens == 40
    check(rig, key, 2)


@pytest.mark.long
def test_stream_helper(rig: DialectRig, client: Anthropic, key: str) -> None:
    rig.script(key, [LOOKS, LOOKS, Say("It is 42.")])
    with client.messages.stream(messages=history(), **asked()) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert text == "Let me look. Let me look. It is 42."
    assert "".join(b.text for b in final.content if b.type == "text") == text
    assert final.stop_reason == "end_turn"
    check(rig, key, 3)


@pytest.mark.long
def test_goes_on_behind_such_an_answer(rig: DialectRig, client: Anthropic, key: str) -> None:
    """Thinking of a round that nobody can send again is not shown, so that the next is valid."""
    call = Call("run", {"command": "ls"})
    rig.script(key, [LOOKS, Say("Now I list.", (call,), reasoning="There."), Say("Done.")])
    messages = history()
    more = asked(tools=TOOLS)
    first = client.messages.create(messages=messages, **more)
    (used,) = (block for block in first.content if block.type == "tool_use")
    assert used.name == "run"
    result = {"type": "tool_result", "tool_use_id": used.id, "content": "a b"}
    messages += [
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": [result]},
    ]
    second = client.messages.create(messages=messages, **more)
    assert second.content[-1].text == "Done."
    check(rig, key, 3)

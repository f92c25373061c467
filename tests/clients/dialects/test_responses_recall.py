"""The OpenAI SDK's Responses in front of a model that searches its memory: one normal answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai import OpenAI

from tests.clients.dialects.rig import DialectRig
from tests.clients.dialects.test_anthropic_recall import LOOKS, TEXT, history
from tests.clients.dialects.test_responses_sdk import MODEL, ON, TOOLS, made
from tests.made.scripted import Call, Say

pytestmark = [pytest.mark.slow, pytest.mark.clients]


@pytest.fixture
def client(rig: DialectRig, key: str) -> Any:
    with made(rig, key, default_headers={**ON, "x-memtree-recall-tools": "on"}) as client:
        yield client


def check(rig: DialectRig, key: str, requests: int) -> None:
    seen = rig.upstream.scripts[key].seen
    assert rig.verdict(key).invalid == []
    assert len(seen) == requests
    assert "42 parcels" in json.dumps(seen[1].body)
    first, second = (one.body["input"] for one in seen[:2])
    assert second[: len(first)] == first
    assert [item["type"] for item in second[-2:]] == ["function_call_output"] * 2


@pytest.mark.long
def test_create(rig: DialectRig, client: OpenAI, key: str) -> None:
    rig.script(key, [LOOKS, Say("It is 42.", reasoning="There it stands.")])
    answer = client.responses.create(input=history(), model=MODEL)
    assert answer.output_text == TEXT
    assert answer.status == "completed"
    assert all(item.type != "function_call" for item in answer.output)
    assert answer.usage
    assert answer.usage.output_tokens == 40
    check(rig, key, 2)


def test_stream_helper(rig: DialectRig, client: OpenAI, key: str) -> None:
    rig.script(key, [LOOKS, LOOKS, Say("It is 42.")])
    with client.responses.stream(input=history(), model=MODEL) as stream:
        events = [*stream]
        final = stream.get_final_response()
    text = "Let me look. Let me look. It is 42."
    streamed = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(streamed) == final.output_text == text
    numbers = [event.sequence_number for event in events if hasattr(event, "sequence_number")]
    assert numbers == sorted(set(numbers))
    check(rig, key, 3)


@pytest.mark.long
def test_goes_on_behind_such_an_answer(rig: DialectRig, client: OpenAI, key: str) -> None:
    call = Call("run", {"command": "ls"})
    rig.script(key, [LOOKS, Say("Now I list.", (call,), reasoning="There."), Say("Done.")])
    items = history()
    asked: Any = {"model": MODEL, "tools": TOOLS, "store": False}
    asked["include"] = ["reasoning.encrypted_content"]
    first = client.responses.create(input=items, **asked)
    (used,) = (item for item in first.output if item.type == "function_call")
    assert used.name == "run"
    result = {"type": "function_call_output", "call_id": used.call_id, "output": "a b"}
    items += [*first.output, result]
    assert client.responses.create(input=items, **asked).output_text == "Done."
    check(rig, key, 3)

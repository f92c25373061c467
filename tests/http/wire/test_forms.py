"""The chat route with the settings and fields that decide how an answer is put together: what
reaches the upstream is sound, byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.dialects.fragment_caches import markers
from memtree.history.json_body import split
from tests.http.served.fakes import dumps, edge, real_memory
from tests.http.served.upstream import FakeUpstream
from tests.outgoing import problems_of_bytes
from tests.properties.strategies import conversation, prose

EPHEMERAL = {"type": "ephemeral"}
CARD = {"role": "user", "content": "You are Marigold, cook on a ship. Always answer in rhyme."}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
OTHERS = {
    "temperature": 0.50,
    "n": 2,
    "logprobs": True,
    "top_logprobs": 3,
    "response_format": {"type": "json_object"},
    "x-unknown": {"a": [1, None]},
    "target_tokens": 4_000,
    "stream": False,
}


def body(messages: list[Any], **more: Any) -> bytes:
    return dumps({"model": "m:memory-90:free", **OTHERS, **more, "messages": messages})


def monologue() -> list[Any]:
    return [{"role": "user", "content": prose(n, 70)} for n in range(150)]


def shapes(seed: int) -> list[Any]:
    return [CARD, *(message.fields for message in conversation(seed, 14_000))]


@pytest.mark.parametrize("mode", ["stable", "fresh"])
@pytest.mark.parametrize("alternate", [False, True])
@pytest.mark.parametrize("keep_first", [False, True])
@pytest.mark.parametrize("messages", [monologue(), shapes(1), shapes(2)], ids=["users", "1", "2"])
async def test_what_reaches_the_upstream_is_sound(
    base: str, upstream: FakeUpstream, mode: str, alternate: bool, keep_first: bool, messages: Any
):
    form = {"alternate": alternate, "keep_first": keep_first}
    async with edge(
        base, real_memory(), mode=mode, alternate=alternate, keep_first_message=keep_first
    ) as client:
        for _ in range(3):
            posted = body(messages, tools=[{**TOOL, "cache_control": EPHEMERAL}])
            answer = await client.post("/v1/chat/completions", content=posted)
            assert answer.headers["x-memtree-state"] == "packed"
            assert problems_of_bytes(posted, upstream.last.body, **form) == []
            messages = [*messages, {"role": "assistant", "content": "Aye."}, CARD]


async def test_response_formats_and_tools_take_their_room(base: str, upstream: FakeUpstream):
    """More than half of a small window is a schema: what is left is for messages."""
    schema = {"type": "json_schema", "json_schema": {"name": "s", "description": prose(1, 3_000)}}
    sizes = []
    for format_ in ({"type": "text"}, schema):
        posted = body(monologue(), model_context_limit=12_000, response_format=format_)
        async with edge(base, real_memory(), mode="fresh") as client:
            answer = await client.post("/v1/chat/completions", content=posted)
        sizes.append(int(answer.headers["x-memtree-sent-tokens"]))
        assert problems_of_bytes(posted, upstream.last.body) == []
    assert sizes[1] < 3_000


@pytest.mark.parametrize(
    ("more", "number"),
    [
        ({}, 0),
        ({"tools": [TOOL]}, 0),
        ({"tools": [{**TOOL, "cache_control": EPHEMERAL}, TOOL]}, 1),
        ({"tools": None, "functions": [{"name": "f", "cache_control": EPHEMERAL}]}, 1),
        ({"cache_control": EPHEMERAL}, 4),
        ({"cache_control": None}, 0),
    ],
)
def test_markers_beside_the_messages(more: dict[str, Any], number: int):
    assert markers(split(body([CARD], **more))) == number


async def test_a_request_with_automatic_caching_gets_no_marker(base: str, upstream: FakeUpstream):
    posted = body(monologue(), cache_control=EPHEMERAL)
    async with edge(base, real_memory(), mode="fresh") as client:
        await client.post("/v1/chat/completions", content=posted)
    assert problems_of_bytes(posted, upstream.last.body) == []
    assert "cache_control" not in json.dumps(json.loads(upstream.last.body)["messages"])

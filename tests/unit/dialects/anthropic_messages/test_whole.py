"""Answers of the Messages API that are not streamed. What they add up to over several rounds is
compared with the stream in `test_stream.py`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.dialects.tool_definitions import CONTEXT_TOOLS
from memtree_proxy.dialects.anthropic_messages.stream import MessagesReply
from memtree_proxy.server_tools.calls import ToolRound
from tests.wire.messages import messages_events as wire
from tests.wire.messages.messages_events import message, text, tool_use

OURS = tool_use("memory_search", "toolu_a", query="the limit")
THEIRS = tool_use("Read", "toolu_b", path="a.py")


def raw(*blocks: Any, **changes: Any) -> bytes:
    return json.dumps(message(*blocks, **changes), indent=1).encode()


@pytest.mark.parametrize(
    "body",
    [
        raw(wire.THINKING, text()),
        raw(THEIRS),
        raw(),
        b"",
        b"nonsense",
        b"[]",
        b"{}",
        b'{"content": 7}',
        b'{"content": [7]}',
        b'{"content": [{"type": "tool_use", "name": ["memory_search"]}], "usage": 7}',
        b'{"type": "error", "error": {"type": "overloaded_error", "message": "no"}}',
        b'{"content": ' + b"[" * 100_000,
        b"\xff",
    ],
)
def test_an_answer_without_calls_of_ours_stays_as_it_is(body):
    assert MessagesReply(CONTEXT_TOOLS.names).take(body) is body


def test_the_blocks_of_all_rounds_are_one_answer_byte_for_byte():
    reply = MessagesReply(CONTEXT_TOOLS.names)
    asked = reply.take(raw(wire.THINKING, text("One"), wire.SEARCHED, OURS))
    assert isinstance(asked, ToolRound)
    assert json.loads(asked.items[0])["content"][0] == wire.THINKING
    done = reply.take(raw(wire.THINKING, text("1e2 \u00e9"), id="msg_2", container={"id": "c"}))
    assert isinstance(done, bytes)
    answer = json.loads(done)
    assert answer["content"] == [wire.THINKING, text("One"), wire.SEARCHED, text("1e2 \u00e9")]
    assert (answer["id"], answer["stop_reason"]) == ("msg_1", "end_turn")
    assert answer["container"] == {"id": "c"}
    assert answer["usage"]["input_tokens"] == 200
    assert len(answer["usage"]["iterations"]) == 2


def test_calls_of_the_client_end_the_answer():
    reply = MessagesReply(CONTEXT_TOOLS.names)
    done = reply.take(raw(OURS, THEIRS))
    assert isinstance(done, bytes)
    assert json.loads(done)["content"] == [THEIRS]
    assert json.loads(done)["stop_reason"] == "tool_use"
    assert [call.name for call in reply.unanswered] == ["memory_search"]


def test_calls_that_are_not_answered_are_dropped():
    reply = MessagesReply(CONTEXT_TOOLS.names, offered=False)
    done = reply.take(raw(text(), OURS))
    assert isinstance(done, bytes)
    assert json.loads(done)["content"] == [text()]
    assert json.loads(done)["stop_reason"] == "end_turn"


@pytest.mark.parametrize("reason", ["max_tokens", "pause_turn", "refusal"])
def test_an_answer_that_is_not_whole_ends(reason):
    done = MessagesReply(CONTEXT_TOOLS.names).take(raw(text(), OURS, reason=reason))
    assert isinstance(done, bytes)
    assert json.loads(done)["stop_reason"] == reason

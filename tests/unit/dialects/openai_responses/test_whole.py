"""Answers of the Responses API that are not streamed. What they add up to over several rounds is
compared with the stream in `test_stream.py`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.dialects.tool_definitions import CONTEXT_TOOLS
from memtree_proxy.dialects.openai_responses.stream import ResponsesReply
from memtree_proxy.server_tools.calls import ToolRound
from tests.wire.responses.responses_events import call, reasoning, response, text

OURS = call("memory_search", "a", query="the limit")
THEIRS = call("shell", "b", cmd="ls")


def raw(*items: Any, **changes: Any) -> bytes:
    return json.dumps(response(*items, **changes), indent=1).encode()


@pytest.mark.parametrize(
    "body",
    [
        raw(reasoning(), text()),
        raw(THEIRS),
        raw(),
        b"",
        b"nonsense",
        b"[]",
        b"{}",
        b'{"output": 7}',
        b'{"output": [7, {"type": "function_call", "name": ["memory_search"]}]}',
        b'{"output": [], "status": 7, "usage": 7}',
        b'{"error": {"message": "no"}}',
        b'{"output": ' + b"[" * 100_000,
        b"\xff",
    ],
)
def test_an_answer_without_calls_of_ours_stays_as_it_is(body):
    assert ResponsesReply(CONTEXT_TOOLS.names).take(body) is body


def test_the_items_of_all_rounds_are_one_answer():
    reply = ResponsesReply(CONTEXT_TOOLS.names)
    asked = reply.take(raw(reasoning(), text("One"), OURS))
    assert isinstance(asked, ToolRound)
    done = reply.take(raw(reasoning("rs_2"), text("Two", "msg_2"), id="resp_2", created_at=9))
    assert isinstance(done, bytes)
    answer = json.loads(done)
    assert answer["output"] == [
        reasoning(), text("One"), reasoning("rs_2"), text("Two", "msg_2"),
    ]  # fmt: skip
    assert (answer["id"], answer["created_at"]) == ("resp_1", 5)
    assert answer["usage"]["total_tokens"] == 280


def test_an_answer_that_the_server_keeps_has_the_id_under_which_it_is_whole():
    reply = ResponsesReply(CONTEXT_TOOLS.names)
    reply.take(raw(OURS, store=True))
    done = reply.take(raw(text(), id="resp_2", store=True))
    assert isinstance(done, bytes)
    assert json.loads(done)["id"] == "resp_2"


def test_calls_of_the_client_end_the_answer():
    reply = ResponsesReply(CONTEXT_TOOLS.names)
    done = reply.take(raw(OURS, THEIRS))
    assert isinstance(done, bytes)
    assert json.loads(done)["output"] == [THEIRS]
    assert [call.name for call in reply.unanswered] == ["memory_search"]


@pytest.mark.parametrize(("offered", "status"), [(False, "completed"), (True, "incomplete")])
def test_calls_that_are_not_answered_are_dropped(offered, status):
    reply = ResponsesReply(CONTEXT_TOOLS.names, offered=offered)
    done = reply.take(raw(text(), OURS, status=status))
    assert isinstance(done, bytes)
    assert json.loads(done)["output"] == [text()]
    assert json.loads(done)["status"] == status

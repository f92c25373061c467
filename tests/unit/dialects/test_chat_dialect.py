"""Chats as a dialect: what is posted is canonical, and only what changes is written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.config import Settings
from memtree.context.answer import Answer, KeptMessage
from memtree.context.state import State
from memtree.errors import BadRequest, ContextOverflow, NotFound
from memtree.wire import json_body
from memtree_proxy.dialects.chat_dialect import ChatDialect
from memtree_proxy.server_tools.calls import StreamedCall, ToolRound
from memtree_proxy.server_tools.sse import is_error

DIALECT = ChatDialect(Settings(overflow_status=400))
BODY = json_body.split(
    b'{"model": "m", "messages": [{"role": "user",  "content": "a"}, {"role": "assistant",'
    b' "content": "b"}], "tools": [{"cache_control": {"type": "ephemeral"}}], "stream": true}'
)


def test_posted_messages_are_canonical_as_they_are():
    history = DIALECT.read(BODY, "t")
    assert [one.raw for one in history.messages] == [
        b'{"role": "user",  "content": "a"}', b'{"role": "assistant", "content": "b"}',
    ]  # fmt: skip
    assert (history.passes, history.side, history.markers) == ("", False, 1)
    assert history.tools_tokens > 0
    with pytest.raises(BadRequest, match="messages must be at most 1"):
        DIALECT.read(BODY, "t", 1)


def test_only_what_changes_is_written():
    history = DIALECT.read(BODY, "t")
    whole = Answer(State.PASSED, False, (KeptMessage(0), KeptMessage(1)), b"", 0, 0, 0)
    assert history.fields(None) == history.fields(whole) == {}
    assert history.fields(None, no_thinking_before=2) == {}
    shorter = Answer(State.PACKED, True, (KeptMessage(1),), b"", 0, 0, 0)
    kept = history.messages[1].raw
    assert history.fields(shorter, None, [b"5"]) == {"messages": b"[" + kept + b",5]"}
    posted = BODY.fragment("messages") or b""
    assert history.fields(whole, None, [b"5"]) == {"messages": posted[:-1] + b",5]"}


@pytest.mark.parametrize(
    "answer",
    [
        {"model": "m", "message": {"role": "assistant", "content": "a"}, "done": True},
        {"id": "0", "choices": [], "base_resp": {"status_code": 0, "status_msg": "success"}},
        {"base_resp": {"status_code": 0, "status_msg": ""}},
        {"candidates": [{}], "message": "a"},
        {"response": "a", "message": "b"},
        {"code": 0, "message": "success", "data": {"choices": [{}]}},
        {"error": None, "message": None, "detail": [], "errors": {}},
    ],
)
def test_an_answer_is_no_error(answer: dict[str, Any]):
    assert not is_error(answer)


def test_a_result_stands_under_the_id_of_its_call():
    asked = ToolRound((b"{}",), (StreamedCall(id="a"), StreamedCall(id="b")))
    assert [json.loads(raw) for raw in DIALECT.results(asked, ["x", "y"])] == [
        {"role": "tool", "tool_call_id": "a", "content": "x"},
        {"role": "tool", "tool_call_id": "b", "content": "y"},
    ]


def test_errors_are_openai_s():
    errors = DIALECT.errors
    assert errors.answer(ContextOverflow(10, 20), "r")[0] == 400
    status, body = errors.answer(NotFound("gone", param="p"), "r")
    assert (status, json.loads(body)["error"]["param"]) == (404, "p")
    assert errors.whole({"code": 1}) == b'{"error":{"code":1}}'
    assert errors.failed({"code": 1}) == b'data: {"error":{"code":1}}\n\ndata: [DONE]\n\n'
    assert errors.first_error(b'data: {"error": {"code": 400}}\n\n')
    assert errors.first_error(b'data: {"object": "error", "message": "too long"}\n\n')
    assert errors.first_error(b'data: {"detail": "too long"}\n\n')
    assert errors.first_error(b'data: {"base_resp": {"status_code": 2013}}\n\n')
    assert errors.first_error(b'error: {"code": 400, "message": "too long"}\n\n')
    assert errors.first_error(b'data: {"choices": [{"error": {"code": 400}}]}\n\n')
    full = b'"finish_reason": "model_context_window_exceeded"'
    assert errors.first_error(b'data: {"choices": [{"delta": {}, %b}]}\n\n' % full)
    said = errors.first_error(b'data: {"choices": [{"delta": {"content": "a"}, %b}]}\n\n' % full)
    assert said is False
    assert errors.first_error(b'data: {"choices": []}\n\n') is None
    assert errors.first_error(b"data: [DONE]\n\n") is False
    tools = b'data: {"choices": [{"delta": {"role": "assistant", "tool_calls": [{}]}}]}\n\n'
    assert errors.first_error(tools) is False
    assert errors.first_error(b": keep-alive") is None

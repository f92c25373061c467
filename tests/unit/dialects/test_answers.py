"""Errors and whole answers of the Responses API."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree import errors
from memtree.dialects.tool_definitions import CONTEXT_TOOLS
from memtree.errors import MemTreeError
from memtree_proxy.dialects.responses_stream import TOO_LONG, ResponsesErrors, ResponsesReply
from memtree_proxy.dialects.round_calls import ToolRound
from memtree_proxy.http import error_response
from tests.wire.responses.responses_events import call, reasoning, response, text

# ------------------------------------------------------------------------------------------------
# Errors in the words of the Responses API.


FORM = ResponsesErrors(clock=lambda: 1234.5)
CREATED = b'event: response.created\ndata: {"type":"response.created","response":{}}\n\n'
GOING = b'event: response.in_progress\ndata: {"type":"response.in_progress","response":{}}\n\n'
FAILED = b'event: response.failed\ndata: {"type":"response.failed","response":{}}\n\n'


def named(error: MemTreeError) -> dict[str, Any]:
    return {**error_response.body(error), "status": error.status}


def events(raw: bytes) -> list[dict[str, Any]]:
    found = []
    for event in raw.decode().split("\n\n")[:-1]:
        head, data = event.split("\n")
        value = json.loads(data.removeprefix("data: "))
        assert head == f"event: {value['type']}"
        found.append(value)
    return found


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.BadRequest("no", param="input[3]"), 400, "invalid_request"),
        (errors.Unauthorized("no"), 401, "invalid_api_key"),
        (errors.RequestTooLarge("no"), 400, "request_too_large"),
        (errors.RateLimited("no", retry_after=3), 429, "rate_limit_exceeded"),
        (error_response.internal(), 500, "internal_error"),
        (errors.NoUpstream("no"), 503, "no_upstream"),
    ],
)
def test_a_body_has_the_shape_of_openai(error, status, code):
    got, body = FORM.answer(error, "req_1")
    told = {
        "message": error.message, "type": error.kind, "param": error.param, "code": code,
        "request_id": "req_1",
    }  # fmt: skip
    assert (got, json.loads(body)) == (status, {"error": told})


def test_a_prompt_that_is_too_long_is_a_400_that_names_the_input():
    status, body = FORM.answer(errors.ContextOverflow(200_000, 219_305))
    told = json.loads(body)["error"]
    assert status == 400
    assert told["message"].startswith(TOO_LONG)
    assert "219305 tokens > 200000 maximum" in told["message"]
    assert (told["code"], told["param"]) == ("context_length_exceeded", "input")
    assert told["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ContextOverflow(10, 20), "context_length_exceeded"),
        (errors.BadRequest("no"), "invalid_prompt"),
        (errors.RateLimited("no", retry_after=3), "rate_limit_exceeded"),
        (error_response.internal(), "server_error"),
        (errors.UpstreamTimeout("no"), "server_error"),
    ],
)
def test_a_stream_ends_with_a_whole_response_that_failed(error, code):
    created, failed = events(FORM.failed(named(error)))
    assert [created["type"], failed["type"]] == ["response.created", "response.failed"]
    assert [created["sequence_number"], failed["sequence_number"]] == [0, 1]
    begun, ended = created["response"], failed["response"]
    assert (begun["status"], begun["error"], begun["created_at"]) == ("in_progress", None, 1234)
    assert (ended["status"], ended["error"]["code"]) == ("failed", code)
    assert ended["error"]["message"]
    assert begun["id"].startswith("resp_")
    same = {"status": "failed", "error": ended["error"]}
    assert ended == {**begun, **same}


def test_two_failures_have_two_ids():
    one, other = errors.BadRequest("a"), errors.BadRequest("b")
    ids = {events(FORM.failed(named(error)))[0]["response"]["id"] for error in (one, other)}
    assert len(ids) == 2


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"code": "rate_limit_exceeded", "message": "Try again in 2s."},
         {"code": "rate_limit_exceeded", "message": "Try again in 2s."}),
        ({"code": "context_length_exceeded", "message": "Their words"},
         {"code": "context_length_exceeded", "message": "Their words"}),
        ({"code": 502, "type": "upstream_error", "message": "m"},
         {"code": "server_error", "message": "m"}),
        ({"code": 422, "message": "m"}, {"code": "invalid_prompt", "message": "m"}),
        ({"code": None, "message": "m"}, {"code": "server_error", "message": "m"}),
    ],
)  # fmt: skip
def test_what_an_upstream_said_stays(error, told):
    assert events(FORM.failed(error))[-1]["response"]["error"] == told
    assert json.loads(FORM.whole(error)) == {"error": error}


@pytest.mark.parametrize("error", [{}, {"message": None, "code": []}])
def test_an_error_that_says_nothing_is_still_one(error):
    told = events(FORM.failed(error))[-1]["response"]["error"]
    assert told["code"] == "server_error"
    assert told["message"]


@pytest.mark.parametrize(
    ("beginning", "is_error"),
    [
        (b"", None),
        (b": waiting\n\n" + CREATED, None),
        (CREATED + GOING, None),
        (CREATED + FAILED[:-1], None),
        (FAILED, True),
        (CREATED + GOING + FAILED, True),
        (CREATED + b'data: {"type":"error","code":"x","message":"m"}\n\n', True),
        (b'data: {"error": {"message": "no"}}\n\n', True),
        (CREATED + b'data: {"type":"response.output_item.added"}\n\n' + FAILED, False),
        (b"data: nonsense\n\n", False),
        (b"data: [DONE]\n\n", False),
        (b'data: {"type": []}\n\n', False),
        (b"data: " + b"[" * 100_000 + b"\n\n", False),
    ],
)
def test_a_stream_begins_with_an_error_where_nothing_was_said_before(beginning, is_error):
    assert FORM.first_error(beginning) is is_error


# ------------------------------------------------------------------------------------------------
# Answers of the Responses API that are not streamed. What they add up to over several rounds is
# compared with the stream in `test_stream.py`.


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

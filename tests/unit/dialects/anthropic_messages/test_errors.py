"""Errors in the words of the Messages API."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from memtree import errors
from memtree.errors import MemTreeError
from memtree_proxy.dialects.anthropic_messages.errors import MessagesErrors
from memtree_proxy.http import error_response

FORM = MessagesErrors()
# What Claude Code looks for before it makes its history shorter
TOO_LONG = re.compile(r"^prompt is too long: \d+ tokens > \d+ maximum$")
PING = b'event: ping\ndata: {"type": "ping"}\n\n'
OVERLOADED = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n'


def named(error: MemTreeError) -> dict[str, Any]:
    return {**error_response.body(error), "status": error.status}


def said(event: bytes) -> dict[str, Any]:
    head, data, *rest = event.decode().split("\n")
    assert (head, rest) == ("event: error", ["", ""])
    return dict(json.loads(data.removeprefix("data: ")))


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (errors.BadRequest("no", param="messages[3]"), 400, "invalid_request_error"),
        (errors.Unauthorized("no"), 401, "authentication_error"),
        (errors.Forbidden("no"), 403, "permission_error"),
        (errors.NotFound("no"), 404, "not_found_error"),
        (error_response.MethodNotAllowed("GET", "POST"), 405, "invalid_request_error"),
        (errors.RequestTimeout("no"), 408, "timeout_error"),
        (errors.RequestTooLarge("no"), 413, "request_too_large"),
        (errors.UnsupportedMedia("no"), 415, "invalid_request_error"),
        (errors.RateLimited("no", retry_after=3), 429, "rate_limit_error"),
        (error_response.internal(), 500, "api_error"),
        (errors.UpstreamFailed("no"), 502, "api_error"),
        (errors.NoUpstream("no"), 503, "overloaded_error"),
        (errors.StoreUnavailable("no"), 503, "overloaded_error"),
        (errors.UpstreamTimeout("no"), 504, "timeout_error"),
    ],
)
def test_each_error_has_the_type_of_its_status(error, status, kind):
    got, body = FORM.answer(error, "req_1")
    told = {"type": kind, "message": error.message}
    assert got == status
    assert json.loads(body) == {"type": "error", "error": told, "request_id": "req_1"}
    assert said(FORM.failed(named(error)))["error"] == told


def test_a_prompt_that_is_too_long_is_a_400_in_the_words_that_clients_look_for():
    error = errors.ContextOverflow(200_000, 219_305)
    status, body = FORM.answer(error)
    told = json.loads(body)["error"]
    assert (status, told["type"]) == (400, "invalid_request_error")
    assert told["message"] == "prompt is too long: 219305 tokens > 200000 maximum"
    assert TOO_LONG.match(told["message"])
    assert said(FORM.failed(named(error)))["error"] == told


def test_a_body_that_is_too_large_is_in_other_words():
    """Claude Code would make its history shorter for nothing."""
    _, body = FORM.answer(errors.RequestTooLarge("The body is larger than 10 bytes."))
    assert not TOO_LONG.match(json.loads(body)["error"]["message"])
    assert json.loads(body)["request_id"] is None


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            {"code": 400, "type": "invalid_request_error", "message": "prompt is too long: 9",
             "details": {"error_code": "x"}},
            {"type": "invalid_request_error", "message": "prompt is too long: 9",
             "details": {"error_code": "x"}},
        ),
        ({"code": 529, "type": "overloaded_error", "message": "Overloaded"},
         {"type": "overloaded_error", "message": "Overloaded"}),
        ({"code": 529, "type": "upstream_error", "message": "m", "param": None},
         {"type": "overloaded_error", "message": "m"}),
        ({"code": "weird", "message": "m"}, {"type": "api_error", "message": "m"}),
        ({"code": 418, "message": "m", "type": 7}, {"type": "invalid_request_error",
                                                   "message": "m"}),
        ({"code": "context_length_exceeded", "message": "of a gateway", "type": "t"},
         {"type": "t", "message": "of a gateway"}),
    ],
)  # fmt: skip
def test_what_an_upstream_said_stays(error, told):
    assert json.loads(FORM.whole(error))["error"] == told


@pytest.mark.parametrize("error", [{}, {"message": None}, {"message": ["x"], "code": None}])
def test_an_error_that_says_nothing_is_still_one(error):
    told = json.loads(FORM.whole(error))
    assert told["type"] == "error"
    assert told["error"]["message"]
    assert told["error"]["type"] == "api_error"


@pytest.mark.parametrize(
    ("beginning", "is_error"),
    [
        (b"", None),
        (b": waiting\n\n", None),
        (PING, None),
        (PING + b": x\n\n" + PING, None),
        (OVERLOADED[:-1], None),
        (OVERLOADED, True),
        (PING + b": x\r\n\r\n" + OVERLOADED, True),
        (b'data: {"error": {"message": "no"}}\n\n', True),
        (b'event: message_start\ndata: {"type": "message_start", "error": null}\n\n', None),
        (b'event: message_start\ndata: {"type": "message_start"}\n\n' + OVERLOADED, True),
        (b'data: {"type": "content_block_start"}\n\n' + OVERLOADED, False),
        (b"data: nonsense\n\n" + OVERLOADED, False),
        (b"data: [1]\n\n", False),
        (b"data: " + b"[" * 100_000 + b"\n\n", False),
    ],
)
def test_a_stream_begins_with_an_error_where_nothing_was_said_before(beginning, is_error):
    assert FORM.first_error(beginning) is is_error

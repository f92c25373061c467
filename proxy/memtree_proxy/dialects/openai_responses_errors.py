"""Errors in the form of the Responses API, as a response body and as an event of a stream that has
begun.

A body is OpenAI's `{"error": {...}}`. A stream ends with `response.failed`, which holds a whole
response object: Codex reads the reason from nothing else, and retries any error it does not know.
The statuses are ones that Codex does not retry; it would repeat a 413 five times.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from memtree.errors import ContextOverflow, MemTreeError, RequestTooLarge
from memtree_proxy.dialects import sse
from memtree_proxy.http import error_response

Json = dict[str, Any]

SERVER, INVALID, RATE = "server_error", "invalid_prompt", "rate_limit_exceeded"
TOO_LONG = (
    "Your input exceeds the context window of this model. "
    "Please adjust your input and try again."
)  # fmt: skip
# Events that come before any output of the model
_HEADS = frozenset(
    {"response.created", "response.queued", "response.in_progress", "keepalive", "ping"}
)
_UNSAID = "The upstream answered with an error that says nothing."


class ResponsesErrors:
    """The `ErrorForm` of the Responses API. `clock`: seconds since 1970."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock

    def answer(self, error: MemTreeError, request_id: str = "") -> tuple[int, bytes]:
        """Return the HTTP status and the body for an error of the proxy itself."""
        status = 400 if isinstance(error, ContextOverflow | RequestTooLarge) else error.status
        said: Json = dict(error_response.body(error, request_id))
        if isinstance(error, ContextOverflow):
            numbers = f" ({error.tokens} tokens > {error.limit} maximum)"
            said |= {"message": TOO_LONG + numbers, "param": "input"}
        return status, msgspec.json.encode({"error": said})

    def whole(self, error: Mapping[str, Any]) -> bytes:
        """Return the body of an answer that is an error."""
        return msgspec.json.encode({"error": error})

    def failed(self, error: Mapping[str, Any]) -> bytes:
        """Return the bytes that end, with this error, a stream of which the client has no event
        yet."""
        now = self._clock()
        name = hashlib.sha256(repr((now, sorted(map(str, error.items())))).encode()).hexdigest()
        begun = response(f"resp_{name[:48]}", int(now))
        return made("response.created", 0, begun) + ended(begun, error, 1)

    def first_error(self, beginning: bytes) -> bool | None:
        """Return True if a stream begins with an error, False if it does not. Returns None if that
        cannot be decided yet, since the head of an answer comes first. `beginning`: decoded text,
        cut anywhere."""
        return sse.first_error(beginning, lambda said: str(said.get("type")) in _HEADS)


def response(id_: str, created_at: int) -> Json:
    """Return a response object that has begun and has no output yet."""
    return {
        "id": id_,
        "object": "response",
        "created_at": created_at,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "model": "",
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "store": False,
        "temperature": None,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "truncation": "disabled",
        "usage": None,
        "metadata": {},
    }


def ended(begun: Json, error: Mapping[str, Any], number: int) -> bytes:
    """Return the last event of a response that has begun and fails. `number`: the event's sequence
    number."""
    return made("response.failed", number, {**begun, "status": "failed", "error": error_of(error)})


def made(kind: str, number: int, whole: Json) -> bytes:
    return sse.named(kind, {"type": kind, "sequence_number": number, "response": whole})


def error_of(error: Mapping[str, Any]) -> Json:
    """Return the `error` object of a response. `error`: the proxy's own with its `status`, or an
    upstream's with its status, if any, as `code`."""
    message = error.get("message")
    said = message if isinstance(message, str) and message else _UNSAID
    code = error.get("code")
    if code == ContextOverflow.code:
        return {"code": code, "message": said if "status" not in error else TOO_LONG}
    status = error.get("status", code)
    if isinstance(code, str) and not isinstance(error.get("status"), int):
        return {"code": code, "message": said}
    return {"code": _code(status), "message": said}


def _code(status: Any) -> str:
    """Return the code of an error for which no HTTP status can be sent any more: Codex ends the
    turn if the prompt is wrong, and retries for all other codes."""
    if not isinstance(status, int):
        return SERVER
    if status == 429:
        return RATE
    return INVALID if 400 <= status < 500 else SERVER

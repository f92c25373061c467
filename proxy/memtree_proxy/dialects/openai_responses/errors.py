"""Errors as the Responses API tells them: as a body, and in a stream that has begun.

A body is OpenAI's `{"error": {...}}`. A stream ends with `response.failed`, which holds a whole
response object: Codex takes nothing else for the reason, and retries whatever it does not know.
Statuses are those that Codex does not send again: it repeats a 413 five times.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from memtree.errors import ContextOverflow, MemTreeError, RequestTooLarge
from memtree_proxy.http import error_response
from memtree_proxy.server_tools import sse

Json = dict[str, Any]

SERVER, INVALID, RATE = "server_error", "invalid_prompt", "rate_limit_exceeded"
TOO_LONG = (
    "Your input exceeds the context window of this model. "
    "Please adjust your input and try again."
)  # fmt: skip
# Events that come before a model has said anything
_HEADS = frozenset(
    {"response.created", "response.queued", "response.in_progress", "keepalive", "ping"}
)
_UNSAID = "The upstream answered with an error that says nothing."


class ResponsesErrors:
    """The `ErrorForm` of the Responses API. `clock`: seconds since 1970."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock

    def answer(self, error: MemTreeError, request_id: str = "") -> tuple[int, bytes]:
        """Status and body of an error of ours."""
        status = 400 if isinstance(error, ContextOverflow | RequestTooLarge) else error.status
        said: Json = dict(error_response.body(error, request_id))
        if isinstance(error, ContextOverflow):
            numbers = f" ({error.tokens} tokens > {error.limit} maximum)"
            said |= {"message": TOO_LONG + numbers, "param": "input"}
        return status, msgspec.json.encode({"error": said})

    def whole(self, error: Mapping[str, Any]) -> bytes:
        """The body of an answer that is an error."""
        return msgspec.json.encode({"error": error})

    def failed(self, error: Mapping[str, Any]) -> bytes:
        """All that still has to be said in a stream of which the client knows no event."""
        now = self._clock()
        name = hashlib.sha256(repr((now, sorted(map(str, error.items())))).encode()).hexdigest()
        begun = response(f"resp_{name[:48]}", int(now))
        return made("response.created", 0, begun) + ended(begun, error, 1)

    def first_error(self, beginning: bytes) -> bool | None:
        """Return True if a stream begins with an error; None where that cannot be told yet: the
        head of an answer comes first. `beginning`: decoded, ends anywhere."""
        return sse.first_error(beginning, _HEADS, ("response.failed", "error"))


def response(id_: str, created_at: int) -> Json:
    """A response of which nothing is known but that it has begun."""
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
    """The last event of a response that has begun, and fails. `number`: of the event."""
    return made("response.failed", number, {**begun, "status": "failed", "error": error_of(error)})


def made(kind: str, number: int, whole: Json) -> bytes:
    return sse.named(kind, {"type": kind, "sequence_number": number, "response": whole})


def error_of(error: Mapping[str, Any]) -> Json:
    """The `error` of a response. `error`: one of ours with its `status`, or what an upstream said,
    with its status as `code` where it gave none."""
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
    """Return the code of an error that cannot be a status any more: Codex ends the turn where the
    prompt is wrong, and tries again for all other reasons."""
    if not isinstance(status, int):
        return SERVER
    if status == 429:
        return RATE
    return INVALID if 400 <= status < 500 else SERVER

"""Errors in the form of the Messages API, as a response body and as an event of a stream that has
begun.

    {"type": "error", "error": {"type": ..., "message": ...}, "request_id": ...}

Clients react to the type, and to the wording for a prompt that is too long: Claude Code shortens
its history only if it reads exactly those words. An upstream's own words are passed on unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from memtree.errors import ContextOverflow, MemTreeError
from memtree_proxy.dialects import sse
from memtree_proxy.http import error_response

Json = dict[str, Any]

_HEADS = ("ping", "message_start")  # events that come before any content
INVALID, API, OVERLOADED = "invalid_request_error", "api_error", "overloaded_error"
TYPES = {
    400: INVALID,
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: API,
    503: OVERLOADED,
    504: "timeout_error",
    529: OVERLOADED,
}
# `ContextOverflow` as an `error` object, which has no fields for its two numbers
_OVERFLOW = re.compile(r"maximum context length is (\d+) tokens\..{1,40}resulted in (\d+) tokens")
_OVERFLOW_LENGTH = 200
_UNSAID = "The upstream answered with an error that says nothing."


class MessagesErrors:
    """The `ErrorForm` of the Messages API."""

    def answer(self, error: MemTreeError, request_id: str = "") -> tuple[int, bytes]:
        """Return the HTTP status and the body for an error of the proxy itself."""
        status = 400 if isinstance(error, ContextOverflow) else error.status
        said = {**error_response.body(error), "status": error.status}
        return status, _body(_told(said), request_id)

    def whole(self, error: Mapping[str, Any]) -> bytes:
        """Return the body of an answer that is an error."""
        return _body(_told(error))

    def failed(self, error: Mapping[str, Any]) -> bytes:
        """Return the bytes that end, with this error, a stream that has begun."""
        return b"event: error\ndata: " + self.whole(error) + b"\n\n"

    def first_error(self, beginning: bytes) -> bool | None:
        """Return True if a stream begins with an error, False if it does not, None if that cannot
        be decided yet because only comments and pings have arrived. `beginning`: decoded text, cut
        anywhere."""
        return sse.first_error(beginning, lambda said: said.get("type") in _HEADS)


def _body(error: Json, request_id: str = "") -> bytes:
    whole = {"type": "error", "error": error, "request_id": request_id or None}
    return msgspec.json.encode(whole)


def _told(error: Mapping[str, Any]) -> Json:
    """Translate an error into the `error` object of this API. `error`: the proxy's own with its
    `status`, or an upstream's with its status as `code`."""
    message = error.get("message")
    said = message if isinstance(message, str) and message else _UNSAID
    if error.get("code") == ContextOverflow.code and (numbers := _numbers(said)):
        limit, tokens = numbers
        return {
            "type": INVALID,
            "message": f"prompt is too long: {tokens} tokens > {limit} maximum",
        }
    return {"type": _type(error), "message": said, **_details(error)}


def _type(error: Mapping[str, Any]) -> str:
    status = error.get("status")
    if not isinstance(status, int):
        given = error.get("type")
        if isinstance(given, str) and given and given != "upstream_error":
            return given
        status = error.get("code")
    if not isinstance(status, int):
        return API
    return TYPES.get(status, INVALID if 400 <= status < 500 else API)


def _details(error: Mapping[str, Any]) -> Json:
    details = error.get("details")
    return {"details": details} if isinstance(details, dict) else {}


def _numbers(message: str) -> tuple[str, str] | None:
    match = _OVERFLOW.search(message[:_OVERFLOW_LENGTH])
    return (match[1], match[2]) if match else None

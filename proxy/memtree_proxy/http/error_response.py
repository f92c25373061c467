"""The only place where an error becomes an answer: a body in the form of the route's API, and
headers that go with it. Nearly all routes have OpenAI's form:

{"error": {"message": ..., "type": ..., "param": ..., "code": ...}}
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Protocol

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from memtree.errors import (
    ContextOverflow,
    MemTreeError,
    NotFound,
    RateLimited,
    Unauthorized,
    Unavailable,
)

LOOKED_UP = (413, 429)
BUSY_SECONDS = 2  # after which clients of agents ask again


class MethodNotAllowed(MemTreeError):
    """Raised for a route of ours that is called by a method that it does not have."""

    status = 405
    code = "method_not_allowed"
    kind = "invalid_request_error"

    def __init__(self, method: str, allowed: str) -> None:
        super().__init__(f"{method} is not allowed here; use {allowed}.")
        self.allowed = allowed


class UpgradeRequired(MemTreeError):
    """Another protocol was asked for; HTTP is spoken."""

    status = 426
    code = "upgrade_required"
    kind = "invalid_request_error"


class ErrorAnswers(Protocol):
    """How the API of a route tells errors."""

    def answer(self, error: MemTreeError, request_id: str) -> tuple[int, bytes]:
        """Status and body."""
        ...


class OpenAIErrors:
    """The errors of all routes that have no form of their own. `overflow_status`: what clients that
    only know 400 need for a `ContextOverflow`."""

    def __init__(self, overflow_status: int = ContextOverflow.status) -> None:
        self._overflow_status = overflow_status

    def answer(self, error: MemTreeError, request_id: str) -> tuple[int, bytes]:
        overflow = isinstance(error, ContextOverflow)
        status = self._overflow_status if overflow else error.status
        return status, msgspec.json.encode({"error": body(error, request_id)})


OPENAI_ERRORS = OpenAIErrors()


def render(
    error: Exception,
    form: ErrorAnswers = OPENAI_ERRORS,
    headers: Iterable[tuple[bytes, bytes]] = (),
    request_id: str = "",
    *,
    ends: bool = False,
) -> Response:
    """Render an error as an answer. An error that is no `MemTreeError` is a 500 that tells nothing
    about itself. `ends`: add the request's id to the messages of errors that somebody has to look
    up, because clients of chats show nothing else."""
    if not isinstance(error, MemTreeError):
        error = internal()
    if ends and (error.status in LOOKED_UP or error.status >= 500):
        error.message = f"{error.message} (request {request_id})"
    status, content = form.answer(error, request_id)
    response = Response(content, status_code=status, media_type="application/json")
    response.raw_headers.extend(headers)
    if isinstance(error, RateLimited):
        response.headers["retry-after"] = str(max(0, math.ceil(error.retry_after)))
    if isinstance(error, MethodNotAllowed):
        response.headers["allow"] = error.allowed
    if isinstance(error, UpgradeRequired):
        response.headers["upgrade"] = "HTTP/1.1"  # RFC 9110 section 15.5.22
    if isinstance(error, Unavailable) and not isinstance(form, OpenAIErrors):
        response.headers["retry-after"] = str(BUSY_SECONDS)
    if isinstance(error, Unauthorized):
        response.headers["www-authenticate"] = "Bearer"
    return response


def internal() -> MemTreeError:
    """Return what a client learns of an unexpected error."""
    return MemTreeError("The server had an error while processing your request.")


def body(error: MemTreeError, request_id: str = "") -> dict[str, str | None]:
    named = {"request_id": request_id} if request_id else {}
    return {
        "message": error.message,
        "type": error.kind,
        "param": error.param,
        "code": error.code,
        **named,
    }


async def not_found(request: Request) -> Response:
    """Answer 404 for an unknown path below a route of ours: such a path must not reach the
    upstream."""
    raise NotFound(f"There is no {request.method} {request.url.path[:200]} here.")

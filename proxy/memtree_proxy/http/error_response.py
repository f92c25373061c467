"""Turn an error into an answer: a body in the form of the route's API, with its headers.

No other module does so. Nearly all routes have OpenAI's form:

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
BUSY_SECONDS = 2  # after which agents' clients retry


class MethodNotAllowed(MemTreeError):
    """Raised if a route of ours does not support the request's method."""

    status = 405
    code = "method_not_allowed"
    kind = "invalid_request_error"

    def __init__(self, method: str, allowed: str) -> None:
        super().__init__(f"{method} is not allowed here; use {allowed}.")
        self.allowed = allowed


class UpgradeRequired(MemTreeError):
    """Raised if another protocol is requested; the server supports only HTTP."""

    status = 426
    code = "upgrade_required"
    kind = "invalid_request_error"


class ErrorAnswers(Protocol):
    """Form of errors in the API of a route."""

    def answer(self, error: MemTreeError, request_id: str) -> tuple[int, bytes]:
        """Return status and body."""
        ...


class OpenAIErrors:
    """OpenAI's form, for all routes without a form of their own. `overflow_status`: status of
    `ContextOverflow`, for clients that only understand 400."""

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
    """Render an error as an answer. Any error other than a `MemTreeError` becomes a 500 without
    details. `ends`: append the request's id to messages of errors that an operator must look up,
    because chat clients show nothing else."""
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
    """Return the error that a client gets for an unexpected exception."""
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

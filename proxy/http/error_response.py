"""The only place where an error becomes an answer: the OpenAI shape, and headers that go with it.

{"error": {"message": ..., "type": ..., "param": ..., "code": ...}}
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from memtree.errors import ContextOverflow, MemTreeError, NotFound, RateLimited, Unauthorized


class MethodNotAllowed(MemTreeError):
    """A route of ours under another method."""

    status = 405
    code = "method_not_allowed"
    kind = "invalid_request_error"

    def __init__(self, method: str, allowed: str) -> None:
        super().__init__(f"{method} is not allowed here; use {allowed}.")
        self.allowed = allowed


def render(
    error: Exception,
    overflow_status: int = ContextOverflow.status,
    headers: Iterable[tuple[bytes, bytes]] = (),
) -> Response:
    """`overflow_status`: what clients that only know 400 need for a `ContextOverflow`.

    Anything that is no `MemTreeError` is a 500 that says nothing about itself.
    """
    if not isinstance(error, MemTreeError):
        error = internal()
    overflow = isinstance(error, ContextOverflow)
    response = Response(
        msgspec.json.encode({"error": body(error)}),
        status_code=overflow_status if overflow else error.status,
        media_type="application/json",
    )
    response.raw_headers.extend(headers)
    if isinstance(error, RateLimited):
        response.headers["retry-after"] = str(max(0, math.ceil(error.retry_after)))
    if isinstance(error, MethodNotAllowed):
        response.headers["allow"] = error.allowed
    if isinstance(error, Unauthorized):
        response.headers["www-authenticate"] = "Bearer"
    return response


def internal() -> MemTreeError:
    """What a client learns of an unexpected error."""
    return MemTreeError("The server had an error while processing your request.")


def body(error: MemTreeError) -> dict[str, str | None]:
    return {
        "message": error.message,
        "type": error.kind,
        "param": error.param,
        "code": error.code,
    }


async def not_found(request: Request) -> Response:
    """For paths below a route of ours that are no routes: they must not reach the upstream."""
    raise NotFound(f"There is no {request.method} {request.url.path[:200]} here.")

"""Read what the client sent: the whole body under the size limit, or a stream; and the target."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from urllib.parse import unquote

from starlette.requests import Request
from starlette.types import Scope

from memtree.errors import BadRequest, RequestTooLarge
from memtree_proxy.http import content_encoding

_KEPT = "memtree_raw"  # key in the state of a request
# Key in the state of a request under a path of `memtree wrap`: the run that it belongs to. Such a
# path is opened by this machine's user, so its requests are that user's whatever credential they
# carry.
WRAP_RUN = "wrap_run"
# A posted file may decompress to this many times the received bytes plus a megabyte: real files
# reach ten times.
RATIO, SPARE = 20, 1 << 20
CHAT_ALIAS = "/chat_completions"  # ours alone: upstreams have no such path
PREFIXES = ("/api/v1", "/api", "/v1", "")  # longest first: /api/v1/models is /models


async def kept(request: Request, limit: int) -> bytes:
    """Return the whole body as it was sent, and keep it for later reads of the request. Raises as
    `read`."""
    raw = await read(request, limit)
    setattr(request.state, _KEPT, raw)
    return raw


async def read(request: Request, limit: int) -> bytes:
    """Return the whole body. Raises `RequestTooLarge`, before reading if the length is
    announced."""
    if (length(request) or 0) > limit:
        raise too_large(limit)
    known: bytes | None = getattr(request.state, _KEPT, None)
    if known is not None:
        return known
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > limit:
            raise too_large(limit)
        pieces.append(piece)
    return b"".join(pieces)


async def content(request: Request, limit: int) -> bytes:
    """Return the whole body without its content-encoding; neither form may exceed the limit. Raises
    `UnsupportedMedia` before reading, `RequestTooLarge`, and `BadRequest` for data that cannot be
    decoded.
    """
    given = encoded(request)
    content_encoding.names(given)
    raw = await read(request, limit)
    # In a thread whatever its size: a few bytes may take a second to decode.
    return await asyncio.to_thread(content_encoding.decoded, raw, given, limit) if given else raw


async def unpacked(
    request: Request, limit: int, unpack: Callable[[bytes, int], bytes] | None = None
) -> bytes:
    """Like `content`, for a file: the received size limits the output. `unpack`: decompresses the
    file itself, under a limit."""
    given = encoded(request)
    content_encoding.names(given)
    raw = await read(request, limit)
    most = min(limit, RATIO * len(raw) + SPARE)

    def whole() -> bytes:
        plain = content_encoding.decoded(raw, given, most) if given else raw
        return unpack(plain, most) if unpack else plain

    try:
        # In a thread whatever its size: a few bytes may take a second to decode.
        return await asyncio.to_thread(whole) if given or unpack else raw
    except RequestTooLarge as error:
        if most == limit:
            raise
        raise RequestTooLarge(
            f"The body unpacks to more than {RATIO} times its {len(raw):,} bytes and a megabyte; "
            "send it less packed."
        ) from error


def stream(request: Request) -> AsyncIterator[bytes] | None:
    """Return the body as a stream; None for a request without one."""
    if length(request) or "transfer-encoding" in request.headers:
        return _pieces(request)
    return None


def announced(scope: Scope) -> bool:
    """Return True if the head announces a body (RFC 9112 section 6)."""
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0 "))
        for name, value in scope["headers"]
    )


def length(request: Request) -> int | None:
    """Return the announced size of the body in bytes."""
    announced = request.headers.get("content-length", "")
    return int(announced) if announced.isascii() and announced.isdigit() else None


def encoded(request: Request) -> str:
    """Return the content-encoding of the body, "" for none. It may be unsupported."""
    given = ",".join(request.headers.getlist(content_encoding.HEADER))
    names = {name.strip().lower() for name in given.split(",")}
    return given if names - {"", content_encoding.IDENTITY} else ""


def target(request: Request) -> str:
    """Return path and query as they were sent, without our own prefix. Raises `BadRequest` for a
    path with `..`: with our key it must stay below the base path.
    """
    raw: bytes = request.scope.get("raw_path") or request.scope["path"].encode()
    path = without_prefix(raw.partition(b"?")[0].decode("latin-1"))
    if {".", ".."} & set(unquote(path).replace("\\", "/").split("/")):
        raise BadRequest("the path must not hold . or .. segments")
    if path == CHAT_ALIAS:
        path = "/chat/completions"
    query = request.scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path


def without_prefix(path: str) -> str:
    for prefix in PREFIXES:
        if path == prefix or path.startswith(prefix + "/"):
            return path.removeprefix(prefix)
    return path


def too_large(limit: int) -> RequestTooLarge:
    return RequestTooLarge(f"The request body is over the limit of {limit} bytes.")


async def _pieces(request: Request) -> AsyncIterator[bytes]:
    async for piece in request.stream():
        if piece:
            yield piece

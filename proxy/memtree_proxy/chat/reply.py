"""Read an upstream's reply: its headers, its body without content-encoding, its error.

`peek`, `keepalive` and `tool_rounds` are built on these. Each replaces one `RelayedReply` by
another: one whose beginning was read, one that begins with heartbeats, and one that continues
through several rounds.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec

from memtree.errors import BadRequest, UnsupportedMedia, UpstreamFailed
from memtree_proxy.http.headers import value_of
from memtree_proxy.http.request_body import Decoder
from memtree_proxy.upstream.relay import RelayedReply

EVENT_STREAM = "text/event-stream"


def header(reply: RelayedReply, name: bytes) -> str:
    """Return the value of a header, as `headers.value_of` does."""
    return value_of(reply.headers, name)


def is_encoded(reply: RelayedReply) -> bool:
    return header(reply, b"content-encoding") not in ("", "identity")


def is_event_stream(reply: RelayedReply) -> bool:
    return header(reply, b"content-type").startswith(EVENT_STREAM)


def is_json(reply: RelayedReply) -> bool:
    return "json" in header(reply, b"content-type")


async def decoded(reply: RelayedReply) -> AsyncIterator[bytes]:
    """Yield the body without its content-encoding. Raises `UpstreamFailed`."""
    if not is_encoded(reply):
        async for chunk in reply.chunks():
            yield chunk
        return
    try:
        decoder = Decoder(header(reply, b"content-encoding"))
        async for chunk in reply.chunks():
            for piece in decoder.pieces(chunk):
                yield piece
        decoder.finish()
    except (BadRequest, UnsupportedMedia) as error:
        raise UpstreamFailed("The upstream's answer cannot be decoded.") from error


async def beginning(reply: RelayedReply, most: int) -> bytes:
    """Return at most the first `most` bytes of the decoded body, without unreadable data."""
    read = bytearray()
    try:
        async for piece in decoded(reply):
            read += piece
            if len(read) >= most:
                break
    except UpstreamFailed:
        pass
    return bytes(read[:most])


def upstream_error(status: int, body: bytes) -> dict[str, Any]:
    """Return the `error` object of an upstream's answer, or one that names the status if the body
    has none."""
    try:
        answer = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        answer = None
    error = answer.get("error") if isinstance(answer, dict) else None
    if isinstance(error, dict):
        return {"code": status, **error}
    message = error if isinstance(error, str) else f"The upstream answered with status {status}."
    return {"message": message, "type": "upstream_error", "param": None, "code": status}

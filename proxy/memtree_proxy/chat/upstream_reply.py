"""Read an upstream's reply: headers, body, error, and its beginning before the client gets it.

    peeked = await peek(reply)          the beginning of an error, and the same answer whole again
    may_be_error(reply)                         an answer of status 200 that is short enough
    FirstEventReply(reply, failed, instead)     an answer of status 200 that may begin as an error
    WatchedReply(reply, failed, accepted)       relayed at once; says if it was no error

Bytes are relayed unchanged; the inspection uses a copy without content-encoding. `retry`,
`keepalive` and `tool_rounds` are built on these. Each replaces one `RelayedReply` by another: one
whose beginning was read, one that begins with heartbeats, and one that continues through several
rounds.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from memtree.errors import BadRequest, MemTreeError, UnsupportedMedia, UpstreamFailed
from memtree_proxy.chat import context_overflow
from memtree_proxy.dialects import sse
from memtree_proxy.dialects.round_calls import decoded
from memtree_proxy.dialects.sse import SseEvents
from memtree_proxy.http.headers import value_of
from memtree_proxy.http.request_body import Decoder
from memtree_proxy.upstream.relay import RelayedReply, ReplyAround

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


async def plain_pieces(reply: RelayedReply) -> AsyncIterator[bytes]:
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
        async for piece in plain_pieces(reply):
            read += piece
            if len(read) >= most:
                break
    except UpstreamFailed:
        pass
    return bytes(read[:most])


def upstream_error(status: int, body: bytes) -> dict[str, Any]:
    """Return the `error` object of an upstream's answer, or one that names the status if the body
    has none."""
    error = (decoded(body, dict) or {}).get("error")
    if isinstance(error, dict):
        return {"code": status, **error}
    message = error if isinstance(error, str) else f"The upstream answered with status {status}."
    return {"message": message, "type": "upstream_error", "param": None, "code": status}


# Bytes of a stream that are held back: the first events of a response repeat the request's
# instructions and tools before an error appears.
MOST_KEPT = 256 * 1024
_LONGEST_ENCODED = 4 * 1024  # bytes of an error that is encoded
_SPOKEN = re.compile(rb'data:(?! ?\{ ?"type": ?"ping" ?\})')  # matches more than a heartbeat


class PeekedReply(ReplyAround):
    """A reply of which the first chunks have been read. `beginning`: these, decoded."""

    def __init__(self, reply: RelayedReply, read: list[bytes], rest: AsyncIterator[bytes]) -> None:
        super().__init__(reply)
        self._read = read
        self._rest = rest
        self.beginning = _decoded(b"".join(read), header(reply, b"content-encoding"))

    async def chunks(self) -> AsyncIterator[bytes]:
        for chunk in self._read:
            yield chunk
        async for chunk in self._rest:
            yield chunk


async def peek(reply: RelayedReply, most: int = context_overflow.LONGEST) -> PeekedReply:
    """Read at least `most` bytes, or all. An answer that is interrupted raises again in
    `chunks`."""
    read: list[bytes] = []
    rest = reply.chunks()
    try:
        async for chunk in rest:
            read.append(chunk)
            if sum(map(len, read)) >= most:
                break
    except UpstreamFailed as error:
        rest = _broken(error)
    return PeekedReply(reply, read, rest)


def may_be_error(reply: RelayedReply) -> bool:
    """Return True if the whole body of a 200 is JSON and no longer than an error."""
    size = header(reply, b"content-length")
    most = _LONGEST_ENCODED if is_encoded(reply) else context_overflow.LONGEST
    return reply.status == 200 and size.isdecimal() and int(size) <= most and is_json(reply)


def is_unmeasured_json(reply: RelayedReply) -> bool:
    """Return True for JSON that comes without its length."""
    return is_json(reply) and not header(reply, b"content-length")


def is_error(body: bytes) -> bool:
    """Return True if a body of status 200 is an error."""
    return sse.is_error(decoded(body, dict) or {})


class FirstEventReply(ReplyAround):
    """A reply whose beginning is inspected, a stream or JSON of unknown length: some gateways
    answer 200 and only then report that the prompt is too long. `failed`: returns for a stream's
    beginning (raw, decoded) if it is an error, None if it is undecided; until then it is held back,
    except for heartbeats. After an error `instead` returns another reply, or None to continue with
    the first one."""

    def __init__(
        self,
        reply: RelayedReply,
        failed: Callable[[bytes], bool | None],
        instead: Callable[[bytes], Awaitable[RelayedReply | None]],
    ) -> None:
        super().__init__(reply)
        self._failed = failed
        self._instead = instead
        self._other: RelayedReply | None = None

    async def chunks(self) -> AsyncIterator[bytes]:
        chunks = self._reply.chunks()
        beginning: _Beginning | _JsonBeginning = (
            _Beginning(self._failed) if is_event_stream(self._reply) else _JsonBeginning()
        )
        failed = None
        try:
            async for chunk in chunks:
                failed = beginning.tells_error(chunk)
                if failed is not None or len(beginning) >= MOST_KEPT:
                    break
                if alive := beginning.signs_of_life():
                    yield alive
            else:
                failed = beginning.ends_as_error()
            if failed:
                self._other = await self._instead(beginning.error())
        except UpstreamFailed:  # the client gets what came before the interruption
            if beginning:
                yield beginning.rest()
            raise
        if self._other is not None:
            self._reply.close()
            chunks = self._other.chunks()
        elif beginning:
            yield beginning.rest()
        async for chunk in chunks:
            yield chunk

    def close(self) -> None:
        super().close()
        if self._other is not None:
            self._other.close()


class WatchedReply(ReplyAround):
    """A reply with status 200 that is relayed as it comes; an error may still be in its body.
    `failed`: as in `FirstEventReply`, for a stream. `accepted` is called as soon as the beginning
    shows an answer; not at all for an answer that cannot be read."""

    def __init__(
        self,
        reply: RelayedReply,
        failed: Callable[[bytes], bool | None],
        accepted: Callable[[], None],
    ) -> None:
        super().__init__(reply)
        self._accepted = accepted
        self._beginning: _Beginning | _JsonBeginning = (
            _Beginning(failed) if is_event_stream(reply) else _JsonBeginning()
        )

    async def chunks(self) -> AsyncIterator[bytes]:
        failed = True if is_encoded(self._reply) else None
        async for chunk in self._reply.chunks():
            if failed is None:
                failed = self._beginning.tells_error(chunk)
                if failed is None and len(self._beginning) >= MOST_KEPT:
                    failed = False
                if failed is False:
                    self._accepted()
            yield chunk


class _JsonBeginning:
    """Beginning of a body in JSON. White space before it is a heartbeat."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def __len__(self) -> int:
        return len(self._kept)

    def tells_error(self, chunk: bytes) -> bool | None:
        """Add `chunk`; returns as `_Beginning.tells_error`. A body that is longer than any error is
        an answer."""
        self._kept += chunk
        if len(self._kept) > context_overflow.LONGEST:
            return False
        said = decoded(bytes(self._kept), dict) if chunk.rstrip().endswith(b"}") else None
        return None if said is None else sse.is_error(said)

    def ends_as_error(self) -> bool:
        """Return True if the whole body is an error."""
        return is_error(self.error())

    def error(self) -> bytes:
        return bytes(self._kept)

    rest = error

    def signs_of_life(self) -> bytes:
        """Return white space, which is no longer held back."""
        alive = bytes(self._kept) if self._kept.isspace() else b""
        del self._kept[: len(alive)]
        return alive


class _Beginning:
    """Beginning of a stream, held back. Each event is inspected once, however it is split into
    chunks."""

    def __init__(self, failed: Callable[[bytes], bool | None]) -> None:
        self._failed = failed
        self._events = SseEvents()
        self._kept = bytearray()
        self._seen = 0  # bytes of its events that decide nothing
        self._alive = 0  # bytes of leading heartbeats
        self._spoken = False

    def __len__(self) -> int:
        return len(self._kept)

    def tells_error(self, chunk: bytes) -> bool | None:
        """Add `chunk`; returns True or False once it is decided if it is an error, None before."""
        self._kept += chunk
        events = self._events.feed(chunk)
        if not events and self._events.waiting > context_overflow.LONGEST:
            return None
        failed = self._failed(self._untold())
        if failed is None:
            for event in events:
                speaks = bool(_SPOKEN.search(event))
                if self._spoken and not speaks:  # the client waits for heartbeats from now on
                    return False
                self._spoken = speaks
                self._seen += len(event)
                self._alive += 0 if self._spoken else len(event)
        return failed

    def ends_as_error(self) -> bool:
        """Return True if the stream was an error without the end of an event, or bare JSON."""
        untold = self._untold()
        return bool(self._failed(untold + b"\n\n")) or is_error(untold)

    def error(self) -> bytes:
        """Return the error event."""
        untold = self._untold()
        return next((event for event in SseEvents().feed(untold) if self._failed(event)), untold)

    def signs_of_life(self) -> bytes:
        """Return leading events without content, which are no longer held back."""
        alive = bytes(self._kept[: self._alive])
        del self._kept[: self._alive]
        self._seen -= self._alive
        self._alive = 0
        return alive

    def rest(self) -> bytes:
        return bytes(self._kept)

    def _untold(self) -> bytes:
        return bytes(self._kept[self._seen :])


async def _broken(error: UpstreamFailed) -> AsyncIterator[bytes]:
    """Yield nothing and raise at once, as an interrupted body does."""
    for reason in (error,):
        raise reason
    yield b""  # makes this a generator


def _decoded(raw: bytes, encoding: str) -> bytes:
    """Decode as much of a beginning as possible."""
    try:
        return Decoder(encoding).feed(raw) if encoding else raw
    except MemTreeError:
        return b""

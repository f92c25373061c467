"""Looking into an upstream's answer without taking anything from it.

    peeked = await peek(reply)          the beginning of an error, and the same answer whole again
    FirstEventReply(reply, failed, instead)     a stream whose first event may be an error

Bytes go on as they came; what is looked at is a decoded copy.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable

from memtree.errors import MemTreeError, UpstreamFailed
from memtree_proxy.chat.reply import header
from memtree_proxy.chat.retrying import context_overflow
from memtree_proxy.http.content_encoding import Decoder
from memtree_proxy.server_tools.sse import SseEvents
from memtree_proxy.upstream.relay import RelayedReply, ReplyAround

# Bytes of a stream that are kept back: the first events of a response repeat what was asked for,
# instructions and tools, before an error is told.
MOST_KEPT = 256 * 1024
_SPOKEN = re.compile(rb'data:(?! ?\{ ?"type": ?"ping" ?\})')  # more than a sign of life


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
    """Read at least `most` bytes, or all. An answer that breaks off does so again in `chunks`."""
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


class FirstEventReply(ReplyAround):
    """A streamed reply whose beginning is looked at: some gateways answer 200 and only then say
    that the prompt is too long. `failed`: whether a beginning (raw, decoded) tells an error, None
    where it says nothing of that yet; until then it is kept back, but for signs of life. Then
    `instead` is asked for another stream; where it has none (None), the first one goes on."""

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
        beginning = _Beginning(self._failed)
        try:
            async for chunk in chunks:
                failed = beginning.tells_error(chunk)
                if failed and (other := await self._instead(beginning.error())) is not None:
                    self._other = other
                    break
                if failed is not None or len(beginning) >= MOST_KEPT:
                    break
                if alive := beginning.signs_of_life():
                    yield alive
        except UpstreamFailed:  # what came before the stream broke off is the client's
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


class _Beginning:
    """Beginning of a stream, which is kept back. Each event is looked at once, however it is cut
    up."""

    def __init__(self, failed: Callable[[bytes], bool | None]) -> None:
        self._failed = failed
        self._events = SseEvents()
        self._kept = bytearray()
        self._seen = 0  # bytes of the events in it that tell nothing
        self._alive = 0  # bytes of those in front that are signs of life
        self._spoken = False

    def __len__(self) -> int:
        return len(self._kept)

    def tells_error(self, chunk: bytes) -> bool | None:
        """With `chunk` behind all that came; None where that is not told yet."""
        self._kept += chunk
        events = self._events.feed(chunk)
        if not events and self._events.waiting > context_overflow.LONGEST:
            return None
        failed = self._failed(self._untold())
        if failed is None:
            for event in events:
                self._spoken = self._spoken or bool(_SPOKEN.search(event))
                self._seen += len(event)
                self._alive += 0 if self._spoken else len(event)
        return failed

    def error(self) -> bytes:
        """The event that tells it."""
        untold = self._untold()
        return next((event for event in SseEvents().feed(untold) if self._failed(event)), untold)

    def signs_of_life(self) -> bytes:
        """The events in front that say nothing; they are kept no longer."""
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
    """A body that breaks off at once."""
    for reason in (error,):
        raise reason
    yield b""  # makes it a generator


def _decoded(raw: bytes, encoding: str) -> bytes:
    """Decode as much as can be read of a beginning."""
    try:
        return Decoder(encoding).feed(raw) if encoding else raw
    except MemTreeError:
        return b""

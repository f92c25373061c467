"""Looking into an upstream's answer without taking anything from it.

    peeked = await peek(reply)          the beginning of an error, and the same answer whole again
    FirstEventReply(reply, instead)     a stream whose first event may be an error

Bytes go on as they came; what is looked at is a decoded copy.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

from memtree.errors import MemTreeError, UpstreamFailed
from proxy.chat import context_overflow
from proxy.chat.reply import header
from proxy.http.content_encoding import Decoder
from proxy.http.headers import Headers
from proxy.upstream.relay import RelayedReply

_DATA = b"data:"


class PeekedReply:
    """A reply of which the first chunks have been read. `beginning`: these, decoded."""

    def __init__(self, reply: RelayedReply, read: list[bytes], rest: AsyncIterator[bytes]) -> None:
        self._reply = reply
        self._read = read
        self._rest = rest
        self.beginning = _decoded(b"".join(read), header(reply, b"content-encoding"))

    @property
    def status(self) -> int:
        return self._reply.status

    @property
    def headers(self) -> Headers:
        return self._reply.headers

    async def chunks(self) -> AsyncIterator[bytes]:
        for chunk in self._read:
            yield chunk
        async for chunk in self._rest:
            yield chunk

    def close(self) -> None:
        self._reply.close()


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


class FirstEventReply:
    """A streamed reply whose first event is looked at: some gateways answer 200 and only then say
    that the prompt is too long. Then `instead` is asked for another stream; where it has none
    (None), the first one goes on."""

    def __init__(
        self, reply: RelayedReply, instead: Callable[[bytes], Awaitable[RelayedReply | None]]
    ) -> None:
        self._reply = reply
        self._instead = instead
        self._other: RelayedReply | None = None

    @property
    def status(self) -> int:
        return self._reply.status

    @property
    def headers(self) -> Headers:
        return self._reply.headers

    async def chunks(self) -> AsyncIterator[bytes]:
        looking = True
        async for chunk in self._reply.chunks():
            if looking and _DATA in chunk:
                looking = False
                if b'"error"' in chunk and (other := await self._instead(chunk)) is not None:
                    self._other = other
                    break
            yield chunk
        if self._other is not None:
            self._reply.close()
            async for chunk in self._other.chunks():
                yield chunk

    def close(self) -> None:
        self._reply.close()
        if self._other is not None:
            self._other.close()


async def _broken(error: UpstreamFailed) -> AsyncIterator[bytes]:
    """A body that breaks off at once."""
    for reason in (error,):
        raise reason
    yield b""  # makes it a generator


def _decoded(raw: bytes, encoding: str) -> bytes:
    """As much as can be read of a beginning."""
    try:
        return Decoder(encoding).feed(raw) if encoding else raw
    except MemTreeError:
        return b""

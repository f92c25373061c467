"""The rounds of one answer: the upstream's streams one after the other, with calls of our tools
answered in between.

    reply of round 1 -> AnswerStream / WholeReply -> the client
           calls of ours -> ToolSession.answer -> again() -> reply of round 2 -> ...

The thin shell around the dialect's `stream` and `whole`, which decide. One round runs at a time;
cancelling the answer cancels that round.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from memtree.errors import MemTreeError, UpstreamFailed
from memtree_proxy.chat import keepalive
from memtree_proxy.chat.reply import beginning, decoded, is_event_stream, is_json, upstream_error
from memtree_proxy.chat.tool_session import ToolSession
from memtree_proxy.http.headers import Headers
from memtree_proxy.upstream.relay import RelayedReply

# Bytes of one event, or of an unstreamed answer; models answer with some 100,000
LONGEST = 64 * 1024 * 1024
LINGER_SECONDS = 0.5
_OF_THE_BYTES = frozenset({b"content-length", b"content-encoding", b"content-md5", b"digest"})

Again = Callable[[], Awaitable[RelayedReply]]


async def answered(reply: RelayedReply, session: ToolSession, again: Again) -> RelayedReply:
    """Return the reply for the client. `again`: sends the request with the results that `session`
    has by then. Raises the errors of `again`, if nothing was sent to the client yet.
    """
    if reply.status != 200:
        return reply
    if is_event_stream(reply):
        return StreamedRounds(reply, session, again)
    if is_json(reply):
        return await _whole(reply, session, again)
    return reply


class StreamedRounds:
    """A streamed answer of several rounds. An error in a later round becomes an event, as in every
    stream that has begun; if the upstream breaks off, so does the answer."""

    def __init__(self, reply: RelayedReply, session: ToolSession, again: Again) -> None:
        self._reply = reply
        self._session = session
        self._again = again
        self.status = reply.status
        self.headers = _other_bytes(reply.headers)

    async def chunks(self) -> AsyncIterator[bytes]:
        stream = self._session.dialect.stream(self._session.names)
        while True:
            pieces = decoded(self._reply)
            async for chunk in pieces:
                shown = stream.feed(chunk)
                # Before the end of the answer: the client may disconnect as soon as it has that.
                if calls := stream.unanswered():
                    await self._session.settle(calls)
                if shown:
                    yield shown
                if stream.waiting > LONGEST:
                    raise _too_long()
                if stream.asks:
                    await _drained(pieces)
                    break
            shown, round_ = stream.end()
            await self._session.settle(stream.unanswered())
            if shown:
                yield shown
            if round_ is None:
                return
            self._reply.close()
            # The client got nothing from this round: a heartbeat keeps it waiting for the next.
            yield self._session.dialect.sign
            await self._session.answer(round_)
            stream.offered = self._session.offered
            if (error := await self._next()) is not None:
                yield stream.failed(error)
                return

    async def _next(self) -> Mapping[str, Any] | None:
        """Begin the next round; returns the error if that fails."""
        try:
            self._reply = await self._again()
        except MemTreeError as error:
            return keepalive.named(error)
        if self._reply.status == 200 and is_event_stream(self._reply):
            return None
        body = await beginning(self._reply, keepalive.MAX_ERROR)
        return upstream_error(self._reply.status, body)

    def close(self) -> None:
        self._reply.close()


class FinishedReply:
    """An answer whose bytes are complete."""

    def __init__(self, status: int, headers: Headers, body: bytes) -> None:
        self.status = status
        self.headers = [*headers, (b"content-length", str(len(body)).encode())]
        self._body = body

    async def chunks(self) -> AsyncIterator[bytes]:
        yield self._body

    def close(self) -> None:
        pass


async def _drained(pieces: AsyncIterator[bytes]) -> None:
    """Read an answer to its end after its last event, so that its connection can be reused; only
    briefly, since some servers keep it open."""
    with suppress(TimeoutError, MemTreeError):
        async with asyncio.timeout(LINGER_SECONDS):
            async for _ in pieces:
                pass


async def _whole(reply: RelayedReply, session: ToolSession, again: Again) -> RelayedReply:
    whole = session.dialect.whole(session.names)
    while True:
        try:
            outcome = whole.take(await _read(reply))
        finally:
            reply.close()
        if isinstance(outcome, bytes):
            await session.settle(whole.unanswered)
            return FinishedReply(reply.status, _other_bytes(reply.headers), outcome)
        await session.answer(outcome)
        whole.offered = session.offered
        reply = await again()
        if reply.status != 200 or not is_json(reply):
            return reply


async def _read(reply: RelayedReply) -> bytes:
    body = bytearray()
    async for piece in decoded(reply):
        body += piece
        if len(body) > LONGEST:
            raise _too_long()
    return bytes(body)


def _other_bytes(headers: Headers) -> Headers:
    """Return the headers of an answer whose bytes may differ from the upstream's."""
    return [(name, value) for name, value in headers if name.lower() not in _OF_THE_BYTES]


def _too_long() -> UpstreamFailed:
    return UpstreamFailed(f"The upstream's answer has an event of more than {LONGEST} bytes.")

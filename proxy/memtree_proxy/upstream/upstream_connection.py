"""One HTTP/1.1 connection to an upstream: sends a request, receives an answer.

One request at a time; answers are parsed by httptools (llhttp, as in aiohttp). Connections are
made, kept and used again by `upstream_client`.
"""

from __future__ import annotations

import asyncio
import select
import socket
from collections.abc import AsyncIterator, Callable

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from memtree_proxy.http.headers import Headers

MAX_HEAD = 256 * 1024  # some upstreams send long cookies and policies
HIGH_WATER = 128 * 1024  # unread bytes of an answer above which reading pauses
PIECE = 128 * 1024  # of a large body: writing a piece of this size does not block the event loop
_CLOSED = asyncio.InvalidStateError("a connection that is closed was written to")


class NoAnswer(Exception):
    """Raised if the connection ended before the first byte of an answer. The exception's cause is
    the reason, if it is known."""


class BadAnswer(Exception):
    """Raised for bytes that are not an HTTP answer, and for an interrupted answer."""


class IncomingAnswer:
    """An answer being received, after its head has arrived. `headers`: as they came."""

    __slots__ = (
        "_connection", "_error", "_reader", "_size", "_waiting", "ended", "headers", "status",
    )  # fmt: skip

    def __init__(self, status: int, headers: Headers, connection: UpstreamConnection) -> None:
        self.status, self.headers = status, headers
        self.ended = False
        self._connection = connection
        self._error: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._waiting: list[bytes] = []
        self._size = 0

    async def read(self) -> bytes:
        """Return the bytes of the body received since the last call; b"" at its end. Raises
        `BadAnswer`."""
        while not self._waiting:
            if self._error is not None:
                raise self._error
            if self.ended:
                return b""
            self._reader = asyncio.get_running_loop().create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        waiting, self._waiting = self._waiting, []
        if self._size > HIGH_WATER and not self.ended:
            self._connection.resume_reading()
        self._size = 0
        return waiting[0] if len(waiting) == 1 else b"".join(waiting)

    def close(self) -> None:
        """Discard the rest of the body. Does nothing once everything was received and sent."""
        self._connection.give_up(self)

    # -- for the connection ------------------------------------------------------------------

    def feed(self, piece: bytes) -> bool:
        """Add a piece of the body. Returns True if reading should pause."""
        self._waiting.append(piece)
        self._size += len(piece)
        self._wake()
        return self._size > HIGH_WATER

    def end(self, error: Exception | None = None) -> None:
        self.ended, self._error = True, error
        self._wake()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)


class UpstreamConnection(asyncio.Protocol):
    """`idle`: called when the next request may be sent; `lost`: called when the connection is
    closed. `used`: it has carried an earlier request."""

    def __init__(
        self,
        idle: Callable[[UpstreamConnection], None],
        lost: Callable[[UpstreamConnection], None],
    ) -> None:
        self._idle, self._lost = idle, lost
        self._loop = asyncio.get_running_loop()
        self._parser = HttpResponseParser(self)
        # Deviations of some servers, which aiohttp accepted as well.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )
        self._transport: asyncio.Transport | None = None
        self._answered: asyncio.Future[IncomingAnswer] | None = None  # set while waiting for a head
        self._answer: IncomingAnswer | None = None  # the answer whose body is being received
        self._current: IncomingAnswer | None = None  # the same, also after its end
        self._upload: asyncio.Task[None] | None = None
        self._writable: asyncio.Future[None] | None = None
        self._headers: Headers = []
        self._head_size = 0
        self._fed = 0  # bytes received since the last byte of a body: a head, or trailers
        self._bodiless = self._keeps = self._until_end = self._silent = self._reading_paused = False
        self.used = False
        self.idle_since = 0.0

    @property
    def closed(self) -> bool:
        return self._transport is None or self._transport.is_closing()

    def is_quiet(self) -> bool:
        """Return True if the connection is open and nothing waits to be read: neither its end, nor
        an unrequested answer that the next request would take for its own."""
        if self._transport is None or self._transport.is_closing():
            return False
        connected: socket.socket = self._transport.get_extra_info("socket")
        if not hasattr(select, "poll"):  # on Windows, where `select` accepts any descriptor
            return not select.select((connected,), (), (), 0)[0]
        poll = select.poll()
        poll.register(connected.fileno(), select.POLLIN)
        return not poll.poll(0)

    async def ask(
        self, head: bytes, body: AsyncIterator[bytes] | None, *, bodiless: bool
    ) -> IncomingAnswer:
        """Send a request: its head, with a small body, or a large body in pieces. `bodiless`: its
        answer has no body, whatever it says (HEAD).

        Returns when the head of the answer has arrived. Raises `NoAnswer`, `BadAnswer`, and the
        errors of `body`.
        """
        if self.closed:
            raise NoAnswer
        answered: asyncio.Future[IncomingAnswer] = self._loop.create_future()
        self._answered = answered
        self._bodiless, self._silent, self._current = bodiless, True, None
        self._fed = 0
        if body is None:
            self._write(head)
        else:
            self._upload = self._loop.create_task(self._send(head, body))
        try:
            return await answered
        except BaseException:
            if self._answered is answered:
                self.abort()
            elif answered.done() and not answered.cancelled() and answered.exception() is None:
                answered.result().close()  # it came while the request was being cancelled
            raise

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def give_up(self, answer: IncomingAnswer) -> None:
        """Close the connection if the answer or its request is unfinished, because the caller stops
        reading and sending."""
        if self._current is answer and (not answer.ended or self._upload is not None):
            self.abort()

    def abort(self) -> None:
        """Close without sending buffered bytes."""
        if self._upload is not None:
            self._upload.cancel()
        if self._transport is not None:
            self._transport.abort()

    def resume_reading(self) -> None:
        if self._reading_paused and not self.closed and self._transport is not None:
            self._reading_paused = False
            self._transport.resume_reading()

    # -- the request -------------------------------------------------------------------------

    async def _send(self, head: bytes, body: AsyncIterator[bytes]) -> None:
        """Send the request. The head is sent with the first piece, since a client's body may turn
        out to be empty."""
        try:
            async for piece in body:
                if self._writable is not None:
                    await self._writable
                elif not head:
                    await asyncio.sleep(0)  # an early answer is read before more is written
                if self.closed:
                    return
                self._write(head + piece if head else piece)
                head = b""
            if head:
                self._write(head)
        except Exception as error:  # noqa: BLE001  of whoever sends the body: told to the waiting
            self._fail(error)
            self.abort()
        else:
            self._upload = None
            self._settle()

    def _write(self, data: bytes) -> None:
        if self._transport is None:
            raise _CLOSED
        self._transport.write(data)

    def pause_writing(self) -> None:
        if self._writable is None:
            self._writable = self._loop.create_future()

    def resume_writing(self) -> None:
        writable, self._writable = self._writable, None
        if writable is not None and not writable.done():
            writable.set_result(None)

    # -- the connection ----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport

    def eof_received(self) -> None:
        """Handle the end of the server's stream: buffered bytes would be lost, and waiting to send
        them could take for ever."""
        if self._answer is not None and self._until_end:
            self._answer.end()
            self._answer = None
        self._break_off(None)
        self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Interrupt the answer, even one that would end with its connection: over TLS uvloop drops
        bytes when a server closes without a TLS closure alert (RFC 9112 section 9.8)."""
        self._transport = None
        self._break_off(exc)
        if self._upload is not None:
            self._upload.cancel()
            self._upload = None
        self.resume_writing()
        self._lost(self)

    def _break_off(self, exc: Exception | None) -> None:
        """Mark the answer as interrupted."""
        if self._answered is not None or self._answer is not None:
            error: Exception = (
                NoAnswer() if self._silent else BadAnswer("it closed the connection early")
            )
            error.__cause__ = exc
            self._fail(error)

    def data_received(self, data: bytes) -> None:
        if self._answered is None and self._answer is None:
            self.abort()  # no request was sent
            return
        self._silent = False
        self._fed += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            refused = BadAnswer("it sent what is no HTTP")
            refused.__cause__ = error
            self._fail(refused)
            self.abort()
            return
        if self._fed > MAX_HEAD and (self._answered is not None or self._answer is not None):
            self._fail(BadAnswer("it sent too much that is no body"))
            self.abort()

    def _fail(self, error: Exception) -> None:
        answered, self._answered = self._answered, None
        if answered is not None and not answered.done():
            answered.set_exception(error)
        if self._answer is not None:
            self._answer.end(error)
            self._answer = None

    # -- parser callbacks --------------------------------------------------------------------

    def on_message_begin(self) -> None:
        if self._answered is None:
            # Bytes after a complete answer, perhaps only the first of more: they would be taken for
            # the answer to the next request, which may be another tenant's.
            raise BadAnswer
        self._headers = []
        self._head_size = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._answer is not None:
            return  # a trailer
        self._head_size += len(name) + len(value)
        if self._head_size > MAX_HEAD or b"\0" in value:
            raise BadAnswer
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if 100 <= status < 200:
            return  # "A client MUST be able to parse one or more 1xx responses" (RFC 9110, 15.2)
        if self._answered is None or self._answered.done() or status < 100:
            raise BadAnswer  # a second answer to one request
        self._keeps = self._parser.should_keep_alive()
        # Else the head determines where the body ends (RFC 9112 section 6.3).
        self._until_end = not self._keeps and not any(
            name.lower() == b"content-length"
            or (name.lower() == b"transfer-encoding" and b"chunked" in value.lower())
            for name, value in self._headers
        )
        answered, self._answered = self._answered, None
        self._answer = self._current = IncomingAnswer(status, self._headers, self)
        answered.set_result(self._answer)
        self._fed = 0
        if self._bodiless:
            self._keeps = False  # the parser expects the body, which some servers do send
            self._complete()

    def on_body(self, body: bytes) -> None:
        if self._answer is None:
            raise BadAnswer
        self._fed = 0
        if self._answer.feed(body) and not self._reading_paused and self._transport is not None:
            self._reading_paused = True
            self._transport.pause_reading()

    def on_message_complete(self) -> None:
        if self._answer is not None:
            self._complete()

    # ----------------------------------------------------------------------------------------

    def _complete(self) -> None:
        """Mark the answer as complete."""
        answer, self._answer = self._answer, None
        if answer is not None:
            answer.end()
        self._settle()

    def _settle(self) -> None:
        """Release the connection at the end of the answer or of the request, once both are
        complete."""
        if self._answer is not None or self._answered is not None or self._upload is not None:
            return
        self.resume_reading()
        if not self._keeps:
            self.close()
            return
        self.used = True
        self.idle_since = self._loop.time()
        self._idle(self)

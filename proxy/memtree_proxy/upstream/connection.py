"""One HTTP/1.1 connection to an upstream: bytes of a request out, an answer in.

One request at a time; answers are parsed by httptools (llhttp, as aiohttp's are). What this file
does not do: connect, keep connections (`connection_pool`), or send anything twice (`client`).
"""

from __future__ import annotations

import asyncio
import select
import socket
from collections.abc import AsyncIterator, Callable

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from memtree_proxy.http.headers import Headers

MAX_HEAD = 256 * 1024  # some upstreams answer with long cookies and policies
HIGH_WATER = 128 * 1024  # bytes of an answer that wait for their reader before no more are read
PIECE = 128 * 1024  # of a large body: a write this size does not hold up the event loop
_CLOSED = asyncio.InvalidStateError("a connection that is closed was written to")


class NoAnswer(Exception):
    """Raised when the connection ended before the first byte of an answer. The exception's cause
    says why, if that is known."""


class BadAnswer(Exception):
    """Raised for bytes that are no answer, and for an answer that breaks off."""


class IncomingAnswer:
    """An answer as it comes in, from the moment its head is there. `headers` as they came."""

    __slots__ = (
        "_connection",
        "_error",
        "_reader",
        "_size",
        "_waiting",
        "ended",
        "headers",
        "status",
    )

    def __init__(self, status: int, headers: Headers, connection: UpstreamConnection) -> None:
        self.status, self.headers = status, headers
        self.ended = False
        self._connection = connection
        self._error: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._waiting: list[bytes] = []
        self._size = 0

    async def read(self) -> bytes:
        """Return the bytes of the body that have come since the last call; b"" at its end. Raises
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
        """Give up the rest. Does nothing once all has come in and gone out."""
        self._connection.give_up(self)

    # -- for the connection ------------------------------------------------------------------

    def feed(self, piece: bytes) -> bool:
        """Add a piece of the body. Returns True if the reader has enough for now."""
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
    """`idle`: called when the next request may be sent; `lost`: when the connection is gone.
    `used`: it has carried a request before the present one."""

    def __init__(
        self,
        idle: Callable[[UpstreamConnection], None],
        lost: Callable[[UpstreamConnection], None],
    ) -> None:
        self._idle, self._lost = idle, lost
        self._loop = asyncio.get_running_loop()
        self._parser = self._new_parser()
        self._transport: asyncio.Transport | None = None
        self._answered: asyncio.Future[IncomingAnswer] | None = None  # the head is waited for
        self._answer: IncomingAnswer | None = None  # whose body comes in
        self._current: IncomingAnswer | None = None  # the same, after its end, too
        self._upload: asyncio.Task[None] | None = None
        self._writable: asyncio.Future[None] | None = None
        self._headers: Headers = []
        self._head_size = 0
        self._fed = 0  # bytes that came since the last of a body: a head, or trailers
        self._bodiless = self._keeps = self._until_end = self._silent = self._reading_paused = False
        self.used = False
        self.idle_since = 0.0

    @property
    def closed(self) -> bool:
        return self._transport is None or self._transport.is_closing()

    def is_quiet(self) -> bool:
        """Return True if it is open and nothing waits to be read: neither its end, nor an answer
        that nobody asked for and that the next request would take for its own."""
        if self._transport is None or self._transport.is_closing():
            return False
        return not _is_readable(self._transport.get_extra_info("socket"))

    async def ask(
        self, head: bytes, body: AsyncIterator[bytes] | None, *, bodiless: bool
    ) -> IncomingAnswer:
        """Send a request: its head, with a body that is small, and a large one in pieces as they
        are written. `bodiless`: its answer has no body whatever it says (HEAD).

        Returns when the head of the answer is there. Raises `NoAnswer`, `BadAnswer`, and what
        `body` raises.
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
                answered.result().close()  # it came as the request was given up
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
        """Close without waiting for what was not sent yet."""
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
        """The head goes out with the first piece: a client's body may be none after all."""
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
        """Nothing more will come: what could still be sent would go nowhere, and waiting until it
        is out could take for ever."""
        if self._answer is not None and self._until_end:
            self._answer.end()
            self._answer = None
        self._break_off(None)
        self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Break off the answer, even one that would end with its connection: over TLS uvloop drops
        bytes when a server closes without saying so there (RFC 9112 section 9.8)."""
        self._transport = None
        self._break_off(exc)
        if self._upload is not None:
            self._upload.cancel()
            self._upload = None
        self.resume_writing()
        self._lost(self)

    def _break_off(self, exc: Exception | None) -> None:
        """No more of an answer will come."""
        if self._answered is not None or self._answer is not None:
            error: Exception = (
                NoAnswer() if self._silent else BadAnswer("it closed the connection early")
            )
            error.__cause__ = exc
            self._fail(error)

    def data_received(self, data: bytes) -> None:
        if self._answered is None and self._answer is None:
            self.abort()  # nothing was asked
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

    # -- callbacks of the parser -------------------------------------------------------------

    def on_message_begin(self) -> None:
        if self._answered is None:
            # Beside an answer that is complete, and perhaps only its first bytes: what follows
            # would be taken for the answer to the next request, which may be another tenant's.
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
        self._until_end = not (self._keeps or _is_framed(self._headers))
        answered, self._answered = self._answered, None
        self._answer = self._current = IncomingAnswer(status, self._headers, self)
        answered.set_result(self._answer)
        self._fed = 0
        if self._bodiless:
            self._keeps = False  # the parser waits for the body, which some servers do send
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
        """All of the answer is there."""
        answer, self._answer = self._answer, None
        if answer is not None:
            answer.end()
        self._settle()

    def _settle(self) -> None:
        """After the end of the answer, or of the request: the connection is free once both are
        out."""
        if self._answer is not None or self._answered is not None or self._upload is not None:
            return
        self.resume_reading()
        if not self._keeps:
            self.close()
            return
        self.used = True
        self.idle_since = self._loop.time()
        self._idle(self)

    def _new_parser(self) -> HttpResponseParser:
        parser = HttpResponseParser(self)
        # What some servers send, and aiohttp took as well.
        parser.set_dangerous_leniencies(
            lenient_headers=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )
        return parser


def _is_readable(connected: socket.socket) -> bool:
    if not hasattr(select, "poll"):  # Windows, where `select` takes any descriptor
        return bool(select.select((connected,), (), (), 0)[0])
    poll = select.poll()
    poll.register(connected.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def _is_framed(headers: Headers) -> bool:
    """Return True if the head says where the body ends (RFC 9112 section 6.3)."""
    return any(
        name.lower() == b"content-length"
        or (name.lower() == b"transfer-encoding" and b"chunked" in value.lower())
        for name, value in headers
    )

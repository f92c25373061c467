"""Limit uvicorn's HTTP protocol: for heads that are too large, never end, or are not HTTP.

uvicorn 0.54 reads headers of any size, for as long as they take, and answers broken ones in plain
text. Here a head has a size limit and a time limit, and refusals have the shape of all our errors.
No timer runs while an answer is sent: a stream may take hours. While the server stops, requests
already sent are answered before their connection is closed. Bodies that a handler reads are limited
by `request_body` and `edge.Upload`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar, cast

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from starlette.types import Message
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from memtree.config import Settings
from memtree.errors import BadRequest, HeadersTooLarge, MemTreeError, RequestTimeout
from memtree_proxy.http import error_response, log
from memtree_proxy.server.edge import AnswerWriter, HangUp

MAX_HEADERS = 200
MAX_QUEUED = 100  # requests sent ahead on one connection; no client of models sends any
READ_QUEUED = 10  # with so many sent ahead, reading pauses until an answer is sent
LINGER_SECONDS = 2.0
FIRST_REQUEST_SECONDS = 5.0  # from connecting, while the server stops; Go's net/http allows as much


class GuardedProtocol(HttpToolsProtocol):
    """HTTP protocol of one connection, with limits on sizes and times. uvicorn makes the object, so
    the limits are attributes of a class."""

    max_header_bytes: ClassVar[int]  # of request line and headers together
    seconds: ClassVar[float]  # for a head, and for the rest of a body that nobody reads any more

    _timer: asyncio.TimerHandle | None = None
    _deaf = False  # set to discard all further input
    _refused: MemTreeError | None = None
    _in_head = False
    _in_message = False
    _stopping = False
    _measured = 0  # bytes of this head (or of the trailers) that the parser has reported
    _fed = 0  # bytes of this head received so far, without the chunk it began in
    _chunk = 0  # size of the last chunk

    # ---------------------------------------------------------------- the connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._made = self.loop.time()
        self._hang_up = HangUp()
        self._writer = AnswerWriter(transport, self.loop)
        self._rest()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)
        self._hang_up.tell()

    def data_received(self, data: bytes) -> None:
        if not self._deaf:
            self._unset_keepalive_if_required()
            self._chunk = len(data)
            self._feed(data)
            self._look_after(len(data))

    def shutdown(self) -> None:
        """Stop the server's side: answer received requests, and the first request of a new
        connection.

        uvicorn closes the connection if no answer is being sent. That resets a connection on which
        a request has arrived that was not read yet, or whose head is half read.
        """
        self._stopping = True
        self.timeout_keep_alive = 0  # even so, the loop reads received data before the timer ends
        if self._deaf or self._in_head:
            return  # a timer is running
        if self._answering:
            # If the head of the answer is sent, the client does not expect the connection to end:
            # it may have sent its next request, which is then answered too.
            self.cycle.keep_alive = self.cycle.keep_alive and self.cycle.response_started
        elif self._in_message:
            self._start(LINGER_SECONDS, self.transport.close)
        else:
            self._rest()

    def _feed(self, data: bytes) -> None:
        while data:
            try:
                self.parser.feed_data(data)
                return
            except HttpParserUpgrade as offered:
                data = self._declined() + data[offered.args[0] :]
            except HttpParserError:
                self._refuse(self._refused or BadRequest("The request is not valid HTTP."))
                return

    def _declined(self) -> bytes:
        """Return the head that was just read, without its offer to upgrade, for a separate parser.

        RFC 9110 section 7.8: "A server MAY ignore a received Upgrade header field". Java's client
        and Ktor offer h2c with every first request; httptools then takes the request for one
        without a body, and the following bytes for another protocol.
        """
        version = self.parser.get_http_version().encode()
        line = self.parser.get_method() + b" " + self.url + b" HTTP/" + version + b"\r\n"
        kept = [name + b": " + value for name, value in self.headers if name != b"upgrade"]
        self.parser = HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
        return line + b"".join(header + b"\r\n" for header in kept) + b"\r\n"

    def _look_after(self, size: int) -> None:
        if self._deaf or self.transport.is_closing():
            return
        if self._in_head:
            # An incomplete header stays in the parser, which sets it no limit.
            self._fed += size
            if self._fed > self.max_header_bytes:
                self._refuse(self._too_large())
            elif self._timer is None:
                self._start(self.seconds, self._late)
        elif not self._in_message and not self._answering:
            self._rest()  # an empty line, for example, begins no request

    # ---------------------------------------------------------------- parser callbacks

    def on_message_begin(self) -> None:
        if len(self.pipeline) >= MAX_QUEUED:
            raise self._refusal(BadRequest("Too many requests were sent ahead of their answers."))
        super().on_message_begin()
        cast("dict[str, object]", self.scope)[HangUp.KEY] = self._hang_up
        self._in_head = self._in_message = True
        self._measured = 0
        self._fed = -self._chunk

    def on_url(self, url: bytes) -> None:
        self._measure(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._measure(len(name) + len(value) + 4)
        if not self._in_head:
            return  # a trailer: uvicorn would put it among the headers that were already checked
        if len(self.headers) >= MAX_HEADERS:
            raise self._refusal(HeadersTooLarge(f"There are more than {MAX_HEADERS} headers."))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():
            if self.parser.get_method() == b"CONNECT":
                raise self._refusal(BadRequest("CONNECT is not supported here."))
            return  # called again, see `_declined`
        super().on_headers_complete()  # may find that the target is invalid
        self.cycle.transport = cast("asyncio.Transport", self._writer)  # its task has not begun
        if self.scope["http_version"] < "1.1":
            answer_before_chunks(self.cycle)
        if self._stopping:
            self.cycle.keep_alive = False
        self._in_head = False
        self._measured = 0
        self._stop()
        self._read_on()

    def on_body(self, body: bytes) -> None:
        super().on_body(body)
        if self.pipeline and self._queued > HIGH_WATER_LIMIT:
            self.flow.pause_reading()

    def on_message_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        self._in_message = False
        self._stop()
        super().on_message_complete()
        self._read_on()

    def on_response_complete(self) -> None:
        self._writer.end()
        super().on_response_complete()
        if self._in_message and not self._in_head and self._timer is None:
            # Answered before the whole body was received: closing at once would reset the
            # connection, and the client would see that instead of the answer.
            self._start(self.seconds, self.transport.close)

    # ---------------------------------------------------------------- own methods

    @property
    def _answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # None before the first head
        return cycle is not None and not cycle.response_complete

    @property
    def _queued(self) -> int:
        """Return the bytes of the bodies that were sent ahead."""
        return sum(len(cycle.body) for cycle, _ in self.pipeline)

    def _read_on(self) -> None:
        """Continue reading while an answer is sent: only a read shows that the client has
        disconnected.

        uvicorn pauses reading at a body of over 64 KiB and at a request that is sent ahead, and
        resumes when the answer is sent. Requests sent ahead are limited here by their number and
        bytes.
        """
        if len(self.pipeline) < READ_QUEUED and self._queued <= HIGH_WATER_LIMIT:
            self.flow.resume_reading()

    def _measure(self, size: int) -> None:
        self._measured += size
        if self._measured > self.max_header_bytes:
            raise self._refusal(self._too_large())

    def _too_large(self) -> HeadersTooLarge:
        return HeadersTooLarge(
            f"Request line and headers are over the limit of {self.max_header_bytes} bytes."
        )

    def _refusal(self, error: MemTreeError) -> MemTreeError:
        """Store the error, since the parser raises one of its own for it."""
        self._refused = error
        return error

    def _late(self) -> None:
        self._refuse(RequestTimeout(f"The headers were not complete in {self.seconds:.0f} s."))

    def _refuse(self, error: MemTreeError) -> None:
        """Answer with `error`, and ignore all further input on this connection."""
        self._deaf = True
        self._stop()
        log.event(log.REFUSED, status=error.status, code=error.code)
        in_body = self._in_message and not self._in_head
        if not self._answering:
            if in_body:
                self.transport.close()  # the request has its answer already
            else:
                self._say(error)
        elif in_body and not self.pipeline:
            # The active request has begun its answer. Its handler sees a disconnected client.
            if self.cycle.response_started:
                self.transport.close()
            else:
                self._say(error)
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        else:
            self.cycle.keep_alive = False  # earlier requests are answered to the end

    def _say(self, error: MemTreeError) -> None:
        response = error_response.render(error)
        head = [name + b": " + value + b"\r\n" for name, value in response.raw_headers]
        head.append(b"connection: close\r\n\r\n")
        self._writer.flush()
        self.transport.write(STATUS_LINE[error.status] + b"".join(head) + bytes(response.body))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        # Read on for a moment, for the reason given above.
        self.flow.resume_reading()
        self._start(LINGER_SECONDS, self.transport.close)

    def _rest(self) -> None:
        """Start the keep-alive timer, since no request is active."""
        self._unset_keepalive_if_required()
        seconds: float = self.timeout_keep_alive
        if cast("RequestResponseCycle | None", self.cycle) is None:  # the first request
            seconds = max(seconds, self._made + FIRST_REQUEST_SECONDS - self.loop.time())
        self.timeout_keep_alive_task = self.loop.call_later(
            seconds, self.timeout_keep_alive_handler
        )

    def _start(self, seconds: float, then: Callable[[], None]) -> None:
        self._stop()
        self._timer = self.loop.call_later(seconds, then)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def answer_before_chunks(cycle: Any) -> None:
    """Answer a client of HTTP/1.0, which understands neither chunks nor an interim `100 Continue`
    (RFC 9112 section 6.1, RFC 9110 section 10.1.1): an answer of unknown length ends with its
    connection, which uvicorn closes after each of these requests. `cycle`: of uvicorn, whose task
    has not begun."""
    send, cycle.waiting_for_100_continue = cycle.send, False
    unframed = False

    async def send_unframed(message: Message) -> None:
        nonlocal unframed
        if message["type"] == "http.response.start":
            unframed = all(name.lower() != b"content-length" for name, _ in message["headers"])
            cycle.chunked_encoding = False if unframed else None
        elif unframed:
            cycle.expected_content_length = len(message.get("body", b""))
        await send(message)

    cycle.send = send_unframed


def guarded(settings: Settings) -> type[GuardedProtocol]:
    """Return the protocol class with the limits of `settings`."""

    class BoundProtocol(GuardedProtocol):
        max_header_bytes = settings.max_header_bytes
        seconds = float(settings.upload_seconds)

    return BoundProtocol

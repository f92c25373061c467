"""Parts of a client's connection: the writer of its answers, its hang-up, the time limits of its
uploads.

uvicorn writes a head, a body and an end separately, which are three system calls for a small
answer; here the head is sent together with the data after it, and a head without data waits for at
most one turn of the event loop. A request is told that its client has disconnected without a task
that waits for it. An upload is limited in its pauses and in its whole time. Only time in which the
server waits for the client counts: a body that is relayed to a slow upstream is read slowly, and
that is not the client's fault.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from starlette.types import Message, Receive

from memtree.errors import RequestTimeout

MIN_BYTES_PER_SECOND = 1_000
CRAWL = 4  # factor for the longest pause: how long a body may arrive more slowly than that


class AnswerWriter:
    """Writer of one connection, whose answers come one after the other. It implements the part of a
    transport that uvicorn's `RequestResponseCycle` uses."""

    __slots__ = ("_head", "_loop", "_next_is_head", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._head = b""
        self._next_is_head = True

    def write(self, data: bytes) -> None:
        if self._next_is_head:
            self._next_is_head = False
            self._head = data
            self._loop.call_soon(self.flush)
        elif self._head:
            head, self._head = self._head, b""
            self._transport.write(head + data)
        elif data:
            self._transport.write(data)

    def flush(self) -> None:
        head, self._head = self._head, b""
        if head:
            self._transport.write(head)

    def end(self) -> None:
        """Mark the end of the answer."""
        self.flush()
        self._next_is_head = True

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()


class HangUp:
    """Watches one connection for a disconnect; the connection has one active request at a time."""

    KEY = "memtree.hang_up"  # key in the scope of a request
    __slots__ = ("_gone", "_told")

    def __init__(self) -> None:
        self._gone = False
        self._told: Callable[[], None] | None = None

    def watch(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the client disconnects, also if it did so before its request
        began."""
        self._told = callback
        if self._gone:
            self.tell()

    def unwatch(self, callback: Callable[[], None]) -> None:
        """Stop watching for `callback`. The next request of the connection may watch already: a
        handler may still have work after its answer is sent."""
        if self._told == callback:
            self._told = None

    def tell(self) -> None:
        self._gone = True
        callback, self._told = self._told, None
        if callback is not None:
            callback()


class Upload:
    """The body of one request while it is received. `seconds`: the longest pause."""

    def __init__(self, seconds: float, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._monotonic = monotonic
        self._waited = 0.0
        self._size = 0

    async def next(self, receive: Receive) -> Message:
        """Receive the next message. Raises `RequestTimeout`."""
        started = self._monotonic()
        try:
            async with asyncio.timeout(self._seconds):
                message = await receive()
        except TimeoutError as error:
            raise RequestTimeout(
                f"No more of the request body arrived in {self._seconds:.0f} s."
            ) from error
        self._waited += self._monotonic() - started
        self._size += len(message.get("body", b""))
        slow = self._size < self._waited * MIN_BYTES_PER_SECOND
        if slow and self._waited > CRAWL * self._seconds and message.get("more_body"):
            raise RequestTimeout(
                f"The request body arrived at less than {MIN_BYTES_PER_SECOND} bytes a second."
            )
        return message

"""The transport of a client for its answers: the head is sent together with the data after it.

uvicorn writes a head, a body and an end separately, which are three system calls for a small
answer; here a head without data waits for at most one turn of the event loop.
"""

from __future__ import annotations

import asyncio


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

"""Serves the memory tools over standard input and output, one JSON-RPC message a line.

Serving ends with the input. Importing this module loads the SDK.

A thread blocked in `read()` of a Python file cannot be cancelled, and holds a lock that the
interpreter needs at exit. So a daemon thread reads the descriptor directly, and either stream can
be abandoned at any time.

Three things are added that the SDK lacks. A line that is no message gets an error, with its id if
it has one, since its client would wait forever. Calls under way when the input ends are answered;
the SDK cancels them, and `... | memtree mcp` would print only some answers. A client may ask for
the newer protocol, give up after a second, and start the older handshake while this process is
still starting; the first request is then refused, since the SDK would otherwise refuse the older
handshake.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Any, cast

import anyio
import msgspec
from mcp.server.stdio import stdio_server
from mcp_types import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from memtree_proxy.mcp import sdk_server
from memtree_proxy.mcp.tools import Caller, MemoryTools

MAX_LINE_BYTES = 4 * 1024 * 1024
PIECE_BYTES = 64 * 1024
AHEAD = 8  # lines buffered before they are taken
TOO_LONG = b"(too long)"  # replaces a line over the limit; it is not valid JSON
END_SECONDS = 10.0  # to finish calls when the input ends
CANCELLED = "notifications/cancelled"
DISCOVER, INITIALIZE = "server/discover", "initialize"  # first requests: newer, older protocol
OPENING_SECONDS = 0.05  # to read lines that the client already sent


class LineSplitter:
    """Splits pieces of bytes into whole lines, in linear time."""

    def __init__(self, most: int = MAX_LINE_BYTES) -> None:
        self._most = most
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Yield the lines that this piece completes, without line ends."""
        *whole, rest = piece.split(b"\n")
        for part in whole:
            self._add(part)
            yield self._taken()
        self._add(rest)

    def end(self) -> Iterator[bytes]:
        """Yield the last line if it has no line end."""
        if self._size:
            yield self._taken()

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= self._most:
            self._pieces.append(part)
        else:
            self._pieces.clear()

    def _taken(self) -> bytes:
        line = b"".join(self._pieces) if self._size <= self._most else TOO_LONG
        self._pieces.clear()
        self._size = 0
        return line


class InputLines:
    """Lines of a descriptor, read by a thread as they are taken. Bound to one event loop."""

    def __init__(self, descriptor: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: deque[bytes] = deque()
        self._came = asyncio.Event()
        self._ended = False
        self._room = threading.Semaphore(AHEAD)
        self._descriptor = descriptor
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    async def next(self) -> bytes | None:
        """Return the next line, or None at the end of the input."""
        while not self._lines and not self._ended:
            self._came.clear()
            await self._came.wait()
        if not self._lines:
            return None
        self._room.release()
        return self._lines.popleft()

    async def coming(self, seconds: float) -> tuple[bytes, ...]:
        """Return the lines that wait to be taken; if there are none, wait up to `seconds` for the
        next."""
        if not self._lines and not self._ended:
            self._came.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._came.wait(), seconds)
        return tuple(self._lines)

    def end(self) -> None:
        """Behave from now on as if the input had ended."""
        self._ended = True
        self._came.set()

    def _read(self) -> None:
        splitter = LineSplitter()
        with contextlib.suppress(OSError, RuntimeError):  # the loop may be closed
            while piece := os.read(self._descriptor, PIECE_BYTES):
                self._put(splitter.feed(piece))
            self._put(splitter.end())
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.end)

    def _put(self, lines: Iterable[bytes]) -> None:
        """Hand over as many lines at once as there is room for, so that `coming` sees all lines
        that were sent together."""
        together: list[bytes] = []
        for line in lines:
            if not self._room.acquire(blocking=False):
                self._loop.call_soon_threadsafe(self._take, together)
                self._room.acquire()
                together = []
            together.append(line)
        self._loop.call_soon_threadsafe(self._take, together)

    def _take(self, lines: Sequence[bytes]) -> None:
        if lines and not self._ended:
            self._lines.extend(lines)
            self._came.set()


class OutputLines:
    """Writes whole lines to a descriptor. `closed`: its reader has gone."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._turn = asyncio.Lock()
        self.closed = False

    async def write(self, line: bytes) -> None:
        async with self._turn:
            if not self.closed:
                await asyncio.to_thread(self._write, line + b"\n")

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError:
            self.closed = True


@contextlib.contextmanager
def own_streams() -> Iterator[tuple[int, int]]:
    """Yield descriptors of the process's standard input and output. Until exit, output of libraries
    goes to standard error and their input is empty, so that only messages pass."""
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_RDONLY)
    given, taken = os.dup(0), os.dup(1)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield given, taken
    finally:
        sys.stdout.flush()
        # Keep `given` open: the thread may still read it, so its number must not be reused.
        os.dup2(given, 0)
        os.dup2(taken, 1)
        os.close(taken)


class Answered(msgspec.Struct):
    """Part of an answer: the id of its request."""

    id: int | str | None = None


async def serve(
    tools: MemoryTools,
    caller: Caller,
    given: int,
    taken: int,
    stoppable: Callable[[Callable[[], None]], None] = lambda stop: None,
) -> None:
    """Read messages from the descriptor `given` and answer on `taken`, until the input ends or the
    output has no reader. `stoppable` receives a function that stops serving early."""
    lines = InputLines(given)
    wire = Wire(lines, OutputLines(taken))
    stoppable(lines.end)
    server = sdk_server.build(tools, lambda _: caller)
    streams = stdio_server(stdin=cast(Any, wire), stdout=cast(Any, wire))
    async with streams as (read, write):
        await server.run(read, write, server.create_initialization_options())


class Wire:
    """Stand-in for the SDK's text files: an iterator of lines, `write` and `flush`."""

    def __init__(self, given: InputLines, taken: OutputLines) -> None:
        self._given, self._taken = given, taken
        self._waiting: set[int | str] = set()  # requests without an answer yet
        self._quiet = asyncio.Event()
        self._quiet.set()

    async def __aiter__(self) -> AsyncIterator[str]:
        opening = True
        while (line := await self._given.next()) is not None:
            if not line.strip():
                continue
            message = read(line)
            if isinstance(message, bytes):
                await self._taken.write(message)
                continue
            if opening and isinstance(message, JSONRPCRequest):
                opening = False
                if message.method == DISCOVER and await self._went_on():
                    error = _error(message.id, METHOD_NOT_FOUND, "Answered as the older protocol")
                    await self._taken.write(error)
                    continue
            self._note(message)
            yield line.decode()
        with anyio.move_on_after(END_SECONDS):
            await self._quiet.wait()

    async def _went_on(self) -> bool:
        """Return True if the client has already sent the older handshake."""
        coming = map(read, await self._given.coming(OPENING_SECONDS))
        return any(isinstance(m, JSONRPCRequest) and m.method == INITIALIZE for m in coming)

    async def write(self, text: str) -> None:
        line = text.rstrip("\n").encode()
        await self._taken.write(line)
        self._settle(msgspec.json.decode(line, type=Answered).id)
        if self._taken.closed:
            self._waiting.clear()
            self._quiet.set()
            self._given.end()

    async def flush(self) -> None:
        """Do nothing: `write` does not buffer."""

    def _note(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            self._waiting.add(message.id)
            self._quiet.clear()
        elif isinstance(message, JSONRPCNotification) and message.method == CANCELLED:
            self._settle((message.params or {}).get("requestId"))

    def _settle(self, id_: object) -> None:
        if isinstance(id_, int | str):
            self._waiting.discard(id_)
        if not self._waiting:
            self._quiet.set()


def read(line: bytes) -> JSONRPCMessage | bytes:
    """Return the line's message, or the error that answers an invalid line."""
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        pass
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, "Parse error")
    id_ = content.get("id") if isinstance(content, dict) else None
    known = id_ if isinstance(id_, int | str) and not isinstance(id_, bool) else None
    return _error(known, INVALID_REQUEST, "This is no JSON-RPC message that can be read")


def _error(id_: int | str | None, code: int, message: str) -> bytes:
    body = {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}
    return json.dumps(body).encode()

"""Read standard input and write standard output by lines, so that either can be abandoned at any
time.

A thread blocked in `read()` of a Python file cannot be cancelled, and holds a lock that the
interpreter needs at exit. So a daemon thread reads the descriptor directly.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

MAX_LINE_BYTES = 4 * 1024 * 1024
PIECE_BYTES = 64 * 1024
AHEAD = 8  # lines buffered before they are taken
TOO_LONG = b"(too long)"  # replaces a line over the limit; it is not valid JSON


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

"""Standard input as lines, standard output as a place for lines: both can be left at any moment.

A thread that waits for input in `read()` of a Python file cannot be cancelled and holds a lock that
the interpreter wants at its end. So a daemon thread reads the descriptor itself.
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
AHEAD = 8  # lines that are read before anybody takes them
TOO_LONG = b"(too long)"  # stands for a line over the limit; it is no JSON


class LineSplitter:
    """Pieces of bytes in, whole lines out. Linear: no byte is looked at twice."""

    def __init__(self, most: int = MAX_LINE_BYTES) -> None:
        self._most = most
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The lines that this piece completes, without their ends."""
        *whole, rest = piece.split(b"\n")
        for part in whole:
            self._add(part)
            yield self._taken()
        self._add(rest)

    def end(self) -> Iterator[bytes]:
        """Yield the last line, if it has no end."""
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
    """The lines of a descriptor, read by a thread as they are taken. Of one event loop."""

    def __init__(self, descriptor: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: deque[bytes] = deque()
        self._came = asyncio.Event()
        self._ended = False
        self._room = threading.Semaphore(AHEAD)
        self._descriptor = descriptor
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    async def next(self) -> bytes | None:
        """Return the next line, None at the end of the input."""
        while not self._lines and not self._ended:
            self._came.clear()
            await self._came.wait()
        if not self._lines:
            return None
        self._room.release()
        return self._lines.popleft()

    async def coming(self, seconds: float) -> tuple[bytes, ...]:
        """The lines that wait to be taken; where there is none, after at most that time."""
        if not self._lines and not self._ended:
            self._came.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._came.wait(), seconds)
        return tuple(self._lines)

    def end(self) -> None:
        """Behave from here on like an input that has ended."""
        self._ended = True
        self._came.set()

    def _read(self) -> None:
        splitter = LineSplitter()
        with contextlib.suppress(OSError, RuntimeError):  # the loop may be gone
            while piece := os.read(self._descriptor, PIECE_BYTES):
                self._put(splitter.feed(piece))
            self._put(splitter.end())
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.end)

    def _put(self, lines: Iterable[bytes]) -> None:
        """All that there is room for at once: whoever looks at what is `coming` behind a line sees
        what was sent with it."""
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
    """Whole lines to a descriptor. `closed`: nobody reads them any more."""

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
    """Descriptors of the process's standard input and output. Meanwhile what libraries print goes
    to standard error, and what they read is empty: the wire carries messages alone."""
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
        # `given` stays open: the thread may still wait on it, and its number must not be reused.
        os.dup2(given, 0)
        os.dup2(taken, 1)
        os.close(taken)

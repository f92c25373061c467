"""Lines over descriptors: whole, bounded, and left at any moment."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from memtree_proxy.mcp.stdio_lines import AHEAD, TOO_LONG, InputLines, LineSplitter, OutputLines


def split(*pieces: bytes, most: int = 10) -> list[bytes]:
    splitter = LineSplitter(most)
    lines = [line for piece in pieces for line in splitter.feed(piece)]
    return [*lines, *splitter.end()]


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        ((b"a\nb\n",), [b"a", b"b"]),
        ((b"a", b"b\nc", b"d"), [b"ab", b"cd"]),
        ((b"\n\n",), [b"", b""]),
        ((b"a\r\n",), [b"a\r"]),
        ((), []),
        ((b"0123456789\n",), [b"0123456789"]),
        ((b"01234567890\nb\n",), [TOO_LONG, b"b"]),
        ((b"01234", b"5678901", b"234", b"\nb"), [TOO_LONG, b"b"]),
        ((b"x" * 50,), [TOO_LONG]),
    ],
)
def test_split(pieces, lines):
    assert split(*pieces) == lines


def test_a_line_without_end_takes_no_memory():
    splitter = LineSplitter(100)
    for _ in range(1_000):
        assert list(splitter.feed(b"x" * 1_000)) == []
    assert list(splitter.feed(b"\nshort\n")) == [TOO_LONG, b"short"]


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """The reader's thread ends before its descriptor is given back: a thread that comes late would
    read from whatever has that number next."""
    read, write = os.pipe()
    inode = os.fstat(read).st_ino

    def close(end: int) -> None:
        with contextlib.suppress(OSError):
            if os.fstat(end).st_ino == inode:  # not closed by the test, nor another's by now
                os.close(end)

    yield read, write
    close(write)
    for thread in threading.enumerate():
        if thread.name == "stdin":
            thread.join()
    close(read)


async def test_lines_come_until_the_input_ends(pipe):
    read, write = pipe
    lines = InputLines(read)
    os.write(write, b"one\ntwo\nthr")
    assert [await lines.next(), await lines.next()] == [b"one", b"two"]
    os.write(write, b"ee")
    os.close(write)
    assert [await lines.next() for _ in range(3)] == [b"three", None, None]


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty")
async def test_lines_that_were_sent_together_come_together(pipe):
    read, write = pipe
    lines = InputLines(read)
    for _ in range(200):
        os.write(write, b"one\ntwo\nthree\n")
        assert await lines.next() == b"one"
        assert await lines.coming(0.0) == (b"two", b"three")
        assert [await lines.next(), await lines.next()] == [b"two", b"three"]


async def test_no_more_is_read_than_there_is_room_for(pipe):
    read, write = pipe
    lines = InputLines(read)
    sent = await asyncio.to_thread(flood, write)
    os.set_blocking(write, True)
    os.close(write)
    seen = 0
    while await lines.next() is not None:
        seen += 1
    assert seen == sent


def flood(descriptor: int) -> int:
    """Write lines until nobody takes more; how many."""
    os.set_blocking(descriptor, False)
    line = b"x" * 4_095 + b"\n"  # of a size that a pipe takes whole or not at all
    sent = tries = 0
    while tries < 20:
        try:
            sent += os.write(descriptor, line) // len(line)
            tries = 0
        except BlockingIOError:
            tries += 1
            time.sleep(0.005)
    assert sent > AHEAD
    return sent


async def test_waiting_for_a_line_can_be_left(pipe):
    lines = InputLines(pipe[0])
    waiting = asyncio.create_task(lines.next())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    lines.end()
    assert await lines.next() is None


async def test_lines_are_written_whole(pipe):
    read, write = pipe
    out = OutputLines(write)
    big = b"x" * 300_000
    both = asyncio.gather(out.write(big), out.write(b"second"))
    got = b""
    while got.count(b"\n") < 2:
        got += await asyncio.to_thread(os.read, read, 65_536)
    await both
    assert got == big + b"\nsecond\n"
    assert not out.closed


async def test_nobody_reads_any_more(pipe):
    read, write = pipe
    out = OutputLines(write)
    os.close(read)
    await out.write(b"lost")
    assert out.closed
    await out.write(b"not tried")

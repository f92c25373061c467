"""Bodies that come in and answers that go out, by the clock of a script."""

from __future__ import annotations

import asyncio

import pytest

from memtree.errors import RequestTimeout
from memtree_proxy.server.edge import CRAWL, MIN_BYTES_PER_SECOND, AnswerWriter, HangUp, Upload

# ------------------------------------------------------------------------------------------------
# Check what goes out together.


class Wire(asyncio.Transport):
    """Keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.closed
        self.written.append(bytes(data))

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


def lines() -> tuple[AnswerWriter, Wire]:
    wire = Wire()
    return AnswerWriter(wire, asyncio.get_running_loop()), wire


async def test_a_head_goes_out_with_its_body():
    writer, wire = lines()
    for _ in range(2):  # the next answer of the connection, too
        writer.write(b"head ")
        writer.write(b"body")
        writer.write(b"")
        writer.end()
    await asyncio.sleep(0)
    assert wire.written == [b"head body", b"head body"]


async def test_a_head_alone_waits_for_one_turn():
    writer, wire = lines()
    writer.write(b"head")
    assert wire.written == []
    await asyncio.sleep(0)
    assert wire.written == [b"head"]
    writer.write(b"event")
    assert wire.written == [b"head", b"event"]


async def test_an_answer_without_a_body_is_out_at_its_end():
    writer, wire = lines()
    writer.write(b"head")
    writer.end()
    assert wire.written == [b"head"]


async def test_closing_writes_what_waits():
    writer, wire = lines()
    writer.write(b"head")
    writer.close()
    assert (wire.written, writer.is_closing()) == ([b"head"], True)


# ------------------------------------------------------------------------------------------------
# Who is told that a client has gone.


def test_who_watches_is_told_once():
    told: list[str] = []
    connection = HangUp()
    connection.watch(lambda: told.append("first"))
    connection.watch(lambda: told.append("second"))
    connection.tell()
    connection.tell()
    assert told == ["second"]


def test_a_request_that_is_over_is_not_told():
    told: list[str] = []
    connection = HangUp()

    def over() -> None:
        told.append("over")

    connection.watch(over)
    connection.unwatch(over)
    connection.tell()
    assert told == []


def test_the_next_request_watches_before_the_first_has_ended():
    told: list[str] = []

    def first() -> None:
        told.append("first")

    connection = HangUp()
    connection.watch(first)
    connection.watch(lambda: told.append("next"))
    connection.unwatch(first)
    connection.tell()
    assert told == ["next"]


def test_a_client_that_went_before_its_request_began():
    told: list[str] = []
    connection = HangUp()
    connection.tell()
    connection.watch(lambda: told.append("late"))
    assert told == ["late"]


# ------------------------------------------------------------------------------------------------
# How long a body may take, by the clock of a script.


class Sender:
    """A client: pieces of `size` bytes, one in `pause` seconds of a clock of its own."""

    def __init__(self, size: int, pause: float, count: int = 10_000) -> None:
        self.size, self.pause, self.left = size, pause, count
        self.now = 0.0

    def clock(self) -> float:
        return self.now

    async def receive(self):
        self.now += self.pause
        self.left -= 1
        return {"type": "http.request", "body": b"x" * self.size, "more_body": self.left > 0}


async def sent(sender: Sender, between: float = 0.0) -> float:
    """When all of it was there. `between`: seconds in which nobody waits for it."""
    upload = Upload(10.0, sender.clock)
    while (await upload.next(sender.receive))["more_body"]:
        sender.now += between
    return sender.now


async def test_a_body_that_crawls_is_cut_after_a_while():
    sender = Sender(MIN_BYTES_PER_SECOND - 1, 1.0)
    with pytest.raises(RequestTimeout, match="1000 bytes a second"):
        await sent(sender)
    assert CRAWL * 10 < sender.now <= CRAWL * 10 + 2


@pytest.mark.slow
async def test_a_body_that_is_fast_enough_may_take_for_ever():
    assert await sent(Sender(MIN_BYTES_PER_SECOND, 1.0)) == 10_000


async def test_what_nobody_waits_for_does_not_count():
    """A slow upstream takes a piece a minute; the client had them all ready."""
    assert await sent(Sender(100, 0.0, count=50), between=60) > 2_000


async def test_a_small_body_may_come_slowly():
    assert await sent(Sender(1, 1.0, count=30)) == 30


async def test_the_last_piece_is_never_too_late():
    assert await sent(Sender(1, 9.9, count=5)) > CRAWL * 10


async def test_a_pause_has_an_end():
    upload = Upload(0.02)
    with pytest.raises(RequestTimeout, match="No more of the request body"):
        await upload.next(asyncio.Event().wait)  # type: ignore[arg-type]


async def test_who_is_cancelled_gets_no_timeout():
    upload = Upload(10.0)
    waiting = asyncio.create_task(upload.next(asyncio.Event().wait))  # type: ignore[arg-type]
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

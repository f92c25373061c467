"""How long a body may take, by the clock of a script."""

from __future__ import annotations

import asyncio

import pytest

from memtree.errors import RequestTimeout
from memtree_proxy.server.connection import CRAWL, MIN_BYTES_PER_SECOND, Upload


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

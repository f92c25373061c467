"""A client that goes while its answer begins leaves no answer of the upstream open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from memtree.config import Settings
from memtree_proxy.chat.keepalive import JsonKeepalive, KeepaliveResponse
from memtree_proxy.dialects.chat_dialect import ChatDialect


class Endless:
    """An upstream's answer whose head and first byte are there."""

    status = 200

    def __init__(self) -> None:
        self.headers = [(b"content-type", b"application/json")]
        self.closed = False

    async def chunks(self) -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    def close(self) -> None:
        self.closed = True


async def given_up(at_piece: bytes, answer: Endless) -> None:
    """Answer a client that goes as soon as `at_piece` was sent to it; with no piece, as the head of
    the upstream's answer comes."""
    task: asyncio.Task[None]

    async def reply() -> Endless:
        await asyncio.sleep(0)
        if not at_piece:
            task.cancel()
        return answer

    async def send(message: Any) -> None:
        if at_piece and message.get("body") == at_piece:
            task.cancel()
            await asyncio.sleep(0)

    response = KeepaliveResponse(reply, JsonKeepalive(ChatDialect(Settings())), 60.0, lambda: None)
    task = asyncio.ensure_future(response({}, None, send))  # type: ignore[arg-type]
    with suppress(asyncio.CancelledError):
        await task


async def test_the_answer_is_closed_that_comes_as_the_client_goes():
    answer = Endless()
    await given_up(b"", answer)
    assert answer.closed


async def test_the_answer_is_closed_that_is_under_way():
    answer = Endless()
    await given_up(b"{", answer)
    assert answer.closed

"""Clients that each ask again as soon as they have their answer, on a connection of their own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.speed.clients.connection import END, LAST_CHUNK

SECONDS = 120.0


class Timing(NamedTuple):
    """Seconds until the first byte of the body, and until the last one."""

    first: float
    took: float


class Client(asyncio.Protocol):
    """One connection. `answered` is set anew with each request."""

    def __init__(self) -> None:
        self.answered: asyncio.Future[Timing] = asyncio.get_running_loop().create_future()
        self._transport: asyncio.Transport | None = None
        self._got = bytearray()
        self._body, self._wanted = 0, -1  # where the body begins, and its length; -1: in chunks
        self._began = self._first = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def ask(self, raw: bytes) -> asyncio.Future[Timing]:
        assert self._transport
        self.answered = asyncio.get_running_loop().create_future()
        self._got.clear()
        self._body, self._first = 0, 0.0
        self._began = time.perf_counter()
        self._transport.write(raw)
        return self.answered

    def data_received(self, data: bytes) -> None:
        self._got += data
        if not self._body and not self._headed():
            return
        if not self._first and len(self._got) > self._body:
            self._first = time.perf_counter()
        whole = len(self._got) - self._body >= self._wanted
        if whole if self._wanted >= 0 else self._got.endswith(LAST_CHUNK):
            now = time.perf_counter()
            self.answered.set_result(Timing((self._first or now) - self._began, now - self._began))

    def _headed(self) -> bool:
        at = self._got.find(END)
        if at < 0:
            return False
        self._body = at + len(END)
        head = bytes(self._got[:at]).lower()
        if not head.startswith(b"http/1.1 200"):
            self.answered.set_exception(ConnectionError(head[:80].decode("latin-1")))
            return False
        _, named, rest = head.partition(b"content-length:")
        self._wanted = int(rest.split(b"\r\n")[0]) if named else -1
        return True

    def connection_lost(self, error: Exception | None) -> None:
        if not self.answered.done():
            self.answered.set_exception(error or ConnectionError("closed without an answer"))

    def close(self) -> None:
        if self._transport:
            self._transport.close()


async def ask(port: int, raw: bytes, connections: int, count: int) -> list[Timing]:
    """`count` requests by so many clients. Raises `ConnectionError` where one is refused."""
    loop, left = asyncio.get_running_loop(), iter(range(count))
    found: list[Timing] = []
    clients = [
        (await loop.create_connection(Client, "127.0.0.1", port))[1] for _ in range(connections)
    ]
    try:
        async with asyncio.timeout(SECONDS):
            await asyncio.gather(*(_asking(client, raw, left, found) for client in clients))
    finally:
        for client in clients:
            client.close()
    return found


async def _asking(client: Client, raw: bytes, left: Iterator[int], found: list[Timing]) -> None:
    for _ in left:
        found.append(await client.ask(raw))

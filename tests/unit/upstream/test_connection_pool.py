"""Check which connections are kept."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from memtree_proxy.upstream.client import ConnectionPool, UpstreamAddress
from memtree_proxy.upstream.connection import UpstreamConnection

HEAD = b"GET / HTTP/1.1\r\n\r\n"


@asynccontextmanager
async def pool() -> AsyncIterator[ConnectionPool]:
    """To a server that answers each head with an empty 200, on a loopback port of its own."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.append(asyncio.current_task())
        with contextlib.suppress(ConnectionError):
            while await reader.read(1_000):
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    served: list[asyncio.Task[None] | None] = []
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    made = ConnectionPool(UpstreamAddress("127.0.0.1", server.sockets[0].getsockname()[1], False))
    try:
        yield made
    finally:
        await made.close()
        server.close()
        await asyncio.gather(*filter(None, served))
        await server.wait_closed()


async def asked(connection: UpstreamConnection) -> UpstreamConnection:
    answer = await connection.ask(HEAD, None, bodiless=False)
    assert await answer.read() == b""
    return connection


async def test_a_connection_is_kept_for_the_next_request():
    async with pool() as connections:
        assert connections.kept() is None
        first = await asked(await connections.connect())
        assert first.used
        assert connections.kept() is first
        assert connections.kept() is None


async def test_the_one_used_last_comes_first():
    async with pool() as connections:
        one, other = await connections.connect(), await connections.connect()
        await asked(one)
        await asked(other)
        assert connections.kept() is other


async def test_one_that_was_closed_is_not_kept():
    async with pool() as connections:
        one = await asked(await connections.connect())
        one.close()
        assert connections.kept() is None


@pytest.mark.parametrize("unasked", [b"HTTP/1.1 200 OK\r\n", b""], ids=["answer", "end"])
async def test_one_that_says_something_unasked_is_not_kept(unasked: bytes):
    """It lies in the socket, and no turn of the event loop has read it yet."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = UpstreamAddress("127.0.0.1", listener.getsockname()[1], secure=False)
        connections = ConnectionPool(address)
        one = await connections.connect()
        accepted, _ = listener.accept()
        with accepted:
            accepted.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
            await asked(one)
            accepted.sendall(unasked)
            accepted.shutdown(socket.SHUT_WR)
            assert connections.kept() is None
            await connections.close()


async def test_closing_the_pool_ends_what_is_under_way():
    async with pool() as connections:
        one = await connections.connect()
        await connections.close()
        assert one.closed


async def test_nobody_listens():
    with pytest.raises(ConnectionRefusedError):
        await ConnectionPool(UpstreamAddress("127.0.0.1", 1, secure=False)).connect()

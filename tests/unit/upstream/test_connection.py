"""Connections to an upstream, by themselves and kept."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from memtree_proxy.upstream.upstream_client import ConnectionPool, UpstreamAddress
from memtree_proxy.upstream.upstream_connection import (
    HIGH_WATER,
    MAX_HEAD,
    BadAnswer,
    IncomingAnswer,
    NoAnswer,
    UpstreamConnection,
)

# ------------------------------------------------------------------------------------------------
# One connection to an upstream, fed by hand: what it makes of an answer however that is cut.


HEAD = b"POST /x HTTP/1.1\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3;n=1\r\nabc\r\n2\r\nde\r\n0\r\nx-sum: 5\r\n\r\n"
)


class Wire(asyncio.Transport):
    """Keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.closing = False
        self.reads = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written.append(bytes(data))

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True

    def abort(self) -> None:
        self.closing = True

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True


class Line:
    """A connection with a wire at its end. `free`: how often it was free for the next request."""

    def __init__(self) -> None:
        self.free = 0
        self.lost = False
        self.wire = Wire()
        self.connection = UpstreamConnection(self._idle, self._lost)
        self.connection.connection_made(self.wire)

    def _idle(self, _: UpstreamConnection) -> None:
        self.free += 1

    def _lost(self, _: UpstreamConnection) -> None:
        self.lost = True

    async def ask(
        self, body: AsyncIterator[bytes] | None = None, *, bodiless: bool = False
    ) -> asyncio.Task[IncomingAnswer]:
        task = asyncio.create_task(self.connection.ask(HEAD, body, bodiless=bodiless))
        await asyncio.sleep(0)
        return task

    def feed(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.connection.data_received(piece)


async def whole(answer: IncomingAnswer) -> bytes:
    read = b""
    while piece := await answer.read():
        read += piece
    return read


@pytest.mark.parametrize(("raw", "body"), [(OK, b"hello"), (CHUNKED, b"abcde")])
@pytest.mark.parametrize("size", [1, 2, 7, 1_000])
async def test_an_answer_is_the_same_however_it_is_cut(raw: bytes, body: bytes, size: int):
    line = Line()
    asked = await line.ask()
    line.feed(*(raw[at : at + size] for at in range(0, len(raw), size)))
    answer = await asked
    assert (answer.status, await whole(answer)) == (200, body)
    assert answer.headers == [*([(b"X-A", b"1")] * (raw is OK)), answer.headers[-1]]
    assert (line.free, line.wire.closing) == (1, False)


async def test_two_requests_on_one_connection():
    line = Line()
    for _ in range(2):
        asked = await line.ask()
        line.feed(OK)
        assert await whole(await asked) == b"hello"
    assert (line.free, line.wire.written, line.connection.used) == (2, [HEAD, HEAD], True)


@pytest.mark.parametrize("version", [b"HTTP/1.0 200 OK\r\n", b"HTTP/1.1 200 OK\r\n"])
async def test_a_body_that_ends_with_its_connection(version: bytes):
    line = Line()
    asked = await line.ask()
    line.feed(version + b"\r\nhel", b"lo")
    line.connection.eof_received()
    line.connection.connection_lost(None)
    assert await whole(await asked) == b"hello"
    assert (line.free, line.lost) == (0, True)


async def test_a_body_whose_end_was_not_told_is_not_whole():
    """A connection of TLS drops what was still to be read."""
    line = Line()
    asked = await line.ask()
    line.feed(b"HTTP/1.0 200 OK\r\n\r\nhel")
    line.connection.connection_lost(None)
    answer = await asked
    assert await answer.read() == b"hel"
    with pytest.raises(BadAnswer):
        await answer.read()


async def test_an_answer_to_head_has_no_body():
    line = Line()
    asked = await line.ask(bodiless=True)
    line.feed(OK.removesuffix(b"hello"))
    assert await whole(await asked) == b""
    assert (line.free, line.wire.closing) == (0, True), "some servers send the body, too"


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-x\r\n\r\n",
        b"HTTP/1.1 099 No\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * MAX_HEAD + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * MAX_HEAD,
        b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * MAX_HEAD,
        b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: a\rset-cookie: b\r\n\r\n",
    ],
    ids=["ssh", "099", "101", "large", "endless", "many", "length", "nul", "cr"],
)
async def test_what_is_no_answer(raw: bytes):
    line = Line()
    asked = await line.ask()
    line.feed(raw)
    with pytest.raises(BadAnswer):
        await asked
    assert (line.free, line.wire.closing) == (0, True)


async def test_a_connection_that_ends_before_its_answer_says_so():
    line = Line()
    asked = await line.ask()
    line.connection.connection_lost(ConnectionResetError(104, "reset"))
    with pytest.raises(NoAnswer) as caught:
        await asked
    assert isinstance(caught.value.__cause__, ConnectionResetError)


@pytest.mark.parametrize("sent", [OK[:4], OK[:-2], CHUNKED[:-2]], ids=["head", "body", "chunks"])
async def test_an_answer_that_breaks_off(sent: bytes):
    line = Line()
    asked = await line.ask()
    line.feed(sent)
    line.connection.connection_lost(None)
    with pytest.raises(BadAnswer):
        await whole(await asked)


async def test_what_nobody_asked_for_closes_the_connection():
    line = Line()
    asked = await line.ask()
    line.feed(OK + OK)
    assert await whole(await asked) == b"hello"
    assert line.wire.closing
    line = Line()
    line.feed(OK)
    assert line.wire.closing


@pytest.mark.parametrize("size", range(1, len(OK)))
async def test_the_first_bytes_of_a_second_answer_close_the_connection(size: int):
    """The next request would get the rest of it for its own answer."""
    line = Line()
    asked = await line.ask()
    line.feed(OK + OK[:size])
    assert await whole(await asked) == b"hello"
    assert line.wire.closing
    with pytest.raises(NoAnswer):
        await (await line.ask())


@pytest.mark.parametrize("start", [b"0\r\nx: ", b"3;"], ids=["trailer", "extension"])
async def test_what_is_no_body_has_bounds(start: bytes):
    line = Line()
    asked = await line.ask()
    line.feed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n" + start)
    line.feed(*[b"y" * 1_000] * (1 + MAX_HEAD // 1_000))
    answer = await asked
    assert await answer.read() == b"hello"
    with pytest.raises(BadAnswer):
        await answer.read()
    assert (line.free, line.wire.closing) == (0, True)


async def test_a_long_body_in_small_chunks_has_none():
    line = Line()
    asked = await line.ask()
    line.feed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    size = MAX_HEAD // 1_000 + 2
    line.feed(*[b"1;" + b"n" * 994 + b"\r\nx\r\n"] * size, b"0\r\n\r\n")
    assert await whole(await asked) == b"x" * size
    assert line.free == 1


async def test_the_end_of_what_comes_is_the_end_of_the_answer():
    """Also where the upstream reads no more of the request, so that it cannot all go out."""

    async def body() -> AsyncIterator[bytes]:
        yield b"a"
        await asyncio.Event().wait()

    line = Line()
    asked = await line.ask(body())
    await asyncio.sleep(0)
    line.feed(b"HTTP/1.1 413 Too Large\r\n\r\nbig")
    line.connection.eof_received()
    assert await whole(await asked) == b"big"
    assert line.wire.closing
    line = Line()
    asked = await line.ask(body())
    line.connection.eof_received()
    with pytest.raises(NoAnswer):
        await asked
    assert line.wire.closing


async def test_an_upload_lets_an_early_answer_in():
    """Who writes to a connection that was reset loses what had come before."""

    async def body() -> AsyncIterator[bytes]:
        for piece in (b"a", b"b", b"c"):
            yield piece

    line = Line()
    asked = await line.ask(body())
    await asyncio.sleep(0)
    assert b"".join(line.wire.written) == HEAD + b"a"
    line.feed(b"HTTP/1.1 413 Too Large\r\nconnection: close\r\n\r\nbig")
    line.connection.eof_received()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert b"".join(line.wire.written) == HEAD + b"a"
    assert await whole(await asked) == b"big"


async def test_a_slow_reader_slows_the_upstream():
    line = Line()
    asked = await line.ask()
    piece = b"x" * (HIGH_WATER // 2)
    line.feed(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (5 * len(piece)), piece, piece)
    assert line.wire.reads
    line.feed(piece)
    assert not line.wire.reads
    answer = await asked
    assert len(await answer.read()) == 3 * len(piece)
    assert line.wire.reads
    line.feed(piece + piece)
    assert len(await whole(answer)) == 2 * len(piece)
    assert (line.free, line.wire.reads) == (1, True)


async def test_a_request_that_is_given_up_closes_its_connection():
    line = Line()
    asked = await line.ask()
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    assert line.wire.closing


async def test_a_request_that_is_given_up_late_leaves_the_next_one_alone():
    """Its answer is all there already, and the connection has gone to another."""
    line = Line()
    late = await line.ask()
    line.feed(OK)
    other = await line.ask()
    late.cancel()
    await asyncio.gather(late, return_exceptions=True)
    line.feed(OK)
    assert await whole(await other) == b"hello"
    assert not line.wire.closing


async def test_closing_an_answer_that_is_over_leaves_the_next_one_alone():
    line = Line()
    asked = await line.ask()
    line.feed(OK)
    over = await asked
    asked = await line.ask()
    over.close()
    line.feed(OK[:-1])
    answer = await asked
    assert not line.wire.closing
    answer.close()
    assert line.wire.closing


async def test_a_large_body_waits_for_the_upstream():
    async def body() -> AsyncIterator[bytes]:
        for piece in (b"a", b"b", b"c"):
            yield piece

    line = Line()
    line.connection.pause_writing()
    asked = await line.ask(body())
    await asyncio.sleep(0)
    assert line.wire.written == []
    line.connection.resume_writing()
    for _ in range(4):
        await asyncio.sleep(0)
    assert b"".join(line.wire.written) == HEAD + b"abc"
    line.feed(OK)
    assert await whole(await asked) == b"hello"
    assert line.free == 1


async def test_an_answer_before_the_body_is_sent():
    """The connection is free when both are out; who is not interested any more gives it up."""
    go = asyncio.Event()

    async def body() -> AsyncIterator[bytes]:
        yield b"a"
        await go.wait()
        yield b"b"

    for waits in (True, False):
        go.clear()
        line = Line()
        asked = await line.ask(body())
        await asyncio.sleep(0)
        line.feed(OK)
        answer = await asked
        assert await whole(answer) == b"hello"
        assert line.free == 0
        if waits:
            go.set()
            for _ in range(6):
                await asyncio.sleep(0)
        answer.close()
        assert (line.free, line.wire.closing) == ((1, False) if waits else (0, True))


async def test_a_body_that_fails_is_told_as_it_is():
    async def body() -> AsyncIterator[bytes]:
        yield b"a"
        raise LookupError

    line = Line()
    asked = await line.ask(body())
    with pytest.raises(LookupError):
        await asked
    assert line.wire.closing


# ------------------------------------------------------------------------------------------------
# Check which connections are kept.


CONNECTION_POOL_HEAD = b"GET / HTTP/1.1\r\n\r\n"


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
    answer = await connection.ask(CONNECTION_POOL_HEAD, None, bodiless=False)
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

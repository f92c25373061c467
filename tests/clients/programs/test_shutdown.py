"""A server that is told to stop finishes what it can, closes its parts, and ends in peace."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.programs.server import PATIENCE, Server, running
from tests.programs.sessions import chat

pytestmark = [pytest.mark.slow, pytest.mark.clients]


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stopping_drains_the_queue_and_leaves_nothing_behind(
    tmp_path: Path, number: signal.Signals
) -> None:
    store = tmp_path / "stop.db"
    server = Server(store, "--upstream", "none")
    # The first is embedded in time, the second is long enough for the child process.
    small = {"messages": chat(40, words=60), "index_only": True}
    body = {"messages": [*chat(6, words=3_500), *chat(1_100, words=60)], "index_only": True}
    assert server.post("/v1/context_memory", small, authorization="Bearer b").status_code == 202
    assert server.post("/v1/context_memory", body, authorization="Bearer a").status_code == 202
    server.process.send_signal(number)
    assert server.process.wait(PATIENCE) == 0
    log = server.log.read_text()
    assert "leaked" not in log
    assert "Traceback" not in log
    with sqlite3.connect(store) as base:
        (vectors,) = base.execute("SELECT count(*) FROM vectors").fetchone()
    base.close()
    assert vectors > 0
    assert not store.with_name("stop.db-wal").exists(), "the store was not closed"


PIECE = b'data: {"choices":[{"index":0,"delta":{"content":"and so on"}}]}\n\n'


class Slow:
    """An upstream whose stream goes on until it is told to end."""

    def __init__(self) -> None:
        self.end = asyncio.Event()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        )
        writer.write(PIECE)
        await self.end.wait()
        writer.write(b"data: [DONE]\n\n")
        writer.close()


def refused(server: Server) -> None:
    """Until it listens no more. A connection that is made in the moment in which it closes what it
    listens on is reset by the kernel: no server can answer that one."""
    with contextlib.suppress(httpx.TransportError):
        while server.get("/health").status_code == 200:
            time.sleep(0.05)


@pytest.mark.parametrize(
    ("seconds", "whole"), [(600, True), pytest.param(1, False, marks=pytest.mark.long)]
)
async def test_a_stream_has_time_to_end(tmp_path: Path, seconds: int, whole: bool) -> None:
    slow = Slow()
    upstream = await asyncio.start_server(slow.answer, "127.0.0.1")
    port = upstream.sockets[0].getsockname()[1]
    server = await asyncio.to_thread(
        Server,
        tmp_path / "stop.db",
        *("--upstream", f"http://127.0.0.1:{port}/v1", "--shutdown-seconds", str(seconds)),
    )
    body = {"model": "m", "messages": chat(1), "stream": True}
    client = httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=PATIENCE)
    try:
        async with client, client.stream("POST", "/v1/chat/completions", json=body) as answer:
            pieces = answer.aiter_raw()
            assert await anext(pieces) == PIECE
            server.process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(refused, server)
            if whole:
                slow.end.set()
                assert [piece async for piece in pieces] == [b"data: [DONE]\n\n"]
            else:
                with pytest.raises(httpx.RemoteProtocolError):
                    await anext(pieces)
        assert await asyncio.to_thread(server.process.wait, PATIENCE) == 0
    finally:
        slow.end.set()
        server.process.kill()
        upstream.close()
        await upstream.wait_closed()


GET = b"GET /health HTTP/1.1\r\nhost: here\r\n\r\n"
BACKLOG = 40


@contextlib.contextmanager
def frozen(server: Server) -> Iterator[None]:
    """Freeze the server like a machine that gives it no time: it finds all that happens meanwhile
    at once."""
    server.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, server.process.pid, os.WSTOPPED | os.WNOWAIT)
    try:
        yield
    finally:
        server.process.send_signal(signal.SIGCONT)


def connected(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)


def one_answer(connection: socket.socket) -> bytes:
    """All that there is of the next answer. Its body has no newline."""
    answer = connection.recv(65_536)
    while not answer.partition(b"\r\n\r\n")[2].endswith(b"}"):
        answer += connection.recv(65_536)
    return answer


def to_the_end(connection: socket.socket) -> bytes:
    """Return what comes until the server closes. Raises `ConnectionResetError`."""
    return b"".join(iter(lambda: connection.recv(65_536), b""))


@pytest.mark.long
def test_requests_that_came_before_the_end_are_answered(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(running(tmp_path / "stop.db", "--upstream", "none"))
        kept, idle = (stack.enter_context(connected(server)) for _ in range(2))
        for connection in (kept, idle):
            connection.sendall(GET)
            assert one_answer(connection).startswith(b"HTTP/1.1 200 ")
        with frozen(server):
            late = [stack.enter_context(connected(server)) for _ in range(BACKLOG)]
            server.process.send_signal(signal.SIGTERM)
            for connection in (kept, *late):
                connection.sendall(GET)
        answers = [to_the_end(connection) for connection in (kept, *late)]
        assert [answer[:13] for answer in answers] == [b"HTTP/1.1 200 "] * (BACKLOG + 1)
        assert to_the_end(idle) == b""
        assert server.process.wait(PATIENCE) == 0

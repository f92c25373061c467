"""Check what a server that is told to stop still answers, and which connections it closes."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from memtree.config import Settings
from memtree_proxy.server import http_protocol, serve
from memtree_proxy.server.listener import bound, listen
from memtree_proxy.server.serve import Server, listening
from tests.programs.server import PATIENCE

GET = b"GET /a HTTP/1.1\r\nhost: edge\r\n\r\n"
BODY = b"so be it"


async def come(true: Callable[[], bool]) -> None:
    while not true():  # noqa: ASYNC110  uvicorn tells nobody
        await asyncio.sleep(0.001)


class Held:
    """An app whose answers wait for `go`, between their head and their body."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.asked = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        self.asked += 1
        length = (b"content-length", b"%d" % len(BODY))
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        if scope["path"] == "/held":
            await self.go.wait()
        await send({"type": "http.response.body", "body": BODY})


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    def send(self, raw: bytes) -> None:
        self._writer.write(raw)

    async def answer(self) -> bytes:
        return await self._reader.readuntil(BODY)

    async def head(self) -> bytes:
        return await self._reader.readuntil(b"\r\n\r\n")

    async def rest(self) -> bytes:
        """Until the server closes."""
        return await self._reader.read()

    def close(self) -> None:
        self._writer.close()


class Stopping:
    """A server and its clients, all in this loop."""

    def __init__(self, server: Server, app: Held, port: int) -> None:
        self.server, self.app = server, app
        self.at = ("127.0.0.1", port)
        self.clients: list[Client] = []

    async def client(self) -> Client:
        """Connected, and the server knows."""
        before = len(self.server.server_state.connections)
        self.clients.append(Client(*await asyncio.open_connection(*self.at)))
        await come(lambda: len(self.server.server_state.connections) > before)
        return self.clients[-1]

    async def stop(self) -> None:
        """Tell it to, and wait until it has told its connections."""
        self.server.should_exit = True
        await come(lambda: not self.server.servers[0].is_serving())
        for _ in range(20):
            await asyncio.sleep(0)


@asynccontextmanager
async def stopping() -> AsyncIterator[Stopping]:
    app = Held()
    settings = Settings(shutdown_seconds=int(PATIENCE), upload_seconds=int(PATIENCE))
    with bound("127.0.0.1", 0) as sockets:
        server = Server(listening(app, settings), lambda: None)
        port = listen(sockets, "127.0.0.1")
        serving = asyncio.create_task(server.serve(sockets))
        here = Stopping(server, app, port)
        try:
            async with asyncio.timeout(PATIENCE):
                await come(lambda: server.started)
                yield here
                await serving
        finally:
            for client in here.clients:
                client.close()
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


def last(answer: bytes) -> bool:
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(BODY)
    return b"\r\nconnection: close\r\n" in answer


async def test_a_new_connection_may_send_its_first_request(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(http_protocol, "FIRST_REQUEST_SECONDS", 600.0)
    async with stopping() as here:
        new, empty = await here.client(), await here.client()
        await here.stop()
        new.send(GET)
        assert last(await new.rest())
        empty.send(b"\r\n" + GET)
        assert last(await empty.rest())


async def test_a_new_connection_that_asks_nothing_is_closed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(http_protocol, "FIRST_REQUEST_SECONDS", 0.0)
    async with stopping() as here:
        new = await here.client()
        await here.stop()
        assert await new.rest() == b""
    assert here.app.asked == 0


async def test_an_idle_connection_is_closed():
    async with stopping() as here:
        idle = await here.client()
        idle.send(GET)
        assert not last(await idle.answer())
        await here.stop()
        assert await idle.rest() == b""


async def test_half_a_head_is_waited_for():
    async with stopping() as here:
        half, kept = await here.client(), await here.client()
        half.send(GET[:10])
        kept.send(GET + GET[:10])
        await kept.answer()
        await here.stop()
        half.send(GET[10:])
        kept.send(GET[10:])
        assert last(await half.rest())
        assert last(await kept.rest())


async def test_a_request_behind_an_answer_whose_head_is_out_is_answered():
    async with stopping() as here:
        client = await here.client()
        client.send(GET.replace(b"/a", b"/held"))
        assert b"connection" not in await client.head()
        await here.stop()
        client.send(GET)
        here.app.go.set()
        assert await client.answer() == BODY
        assert last(await client.rest())


async def test_connections_that_the_loop_has_not_accepted_are_answered():
    async with stopping() as here:
        with contextlib.ExitStack() as stack:
            new = [stack.enter_context(socket.create_connection(here.at)) for _ in range(200)]
            for each in new:
                each.sendall(GET)
            here.server.should_exit = True
            time.sleep(0.2)  # noqa: ASYNC251  the loop finds all of it at once, and that it is time to look
            for each in new:
                reader, writer = await asyncio.open_connection(sock=each)
                here.clients.append(Client(reader, writer))
                last(await here.clients[-1].rest())
        assert here.app.asked == 200


async def test_a_client_that_has_gone_keeps_no_other_from_its_answer(
    monkeypatch: pytest.MonkeyPatch,
):
    loop = asyncio.get_running_loop()
    connect = loop.connect_accepted_socket
    async with stopping() as here:
        with contextlib.ExitStack() as stack:
            pairs = [socket.socketpair() for _ in range(2)]
            ends = [stack.enter_context(one) for pair in pairs for one in pair]
            for one in ends:
                one.setblocking(False)
            (gone, _), (waiting, client) = pairs

            async def refuse(protocol: Any, one: socket.socket) -> Any:
                if one is gone:
                    raise OSError(errno.EINVAL, "as macOS says it")
                return await connect(protocol, one)

            monkeypatch.setattr(serve, "accept_backlog", lambda _: [gone, waiting])
            monkeypatch.setattr(loop, "connect_accepted_socket", refuse)
            client.send(GET)
            here.clients.append(Client(*await asyncio.open_connection(sock=client)))
            here.server.should_exit = True
            last(await here.clients[-1].rest())
            assert gone.fileno() < 0

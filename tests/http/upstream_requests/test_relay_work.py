"""Check what a request costs with memory off, counted and not timed: calls of Python functions, a
coroutine that goes on again among them, and the tasks that are made for it."""

from __future__ import annotations

import asyncio
import selectors
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from memtree_proxy.server.app import create_app
from tests.http.served.fakes import dumps, services, turn
from tests.http.served.rawupstream import Connection, raw_upstream
from tests.http.served.running import PATIENCE

# The event loop's own; uvloop's have no Python functions.
UNCOUNTED = (str(Path(asyncio.__file__).parent), selectors.__file__, str(Path(__file__).parents[2]))
CHAT = dumps(turn(2))
OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\nok"
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
EVENT = b"9\r\ndata: 1\n\n\r\n"
# A twentieth above what was counted, for an event a tenth. With aiohttp
# (docs/decisions/archive.md#0035) it was 600 and 1,013, with 4 and 3 tasks, and 41 for an event.
MOST_CALLS = {"/v1/chat/completions": 354, "/v1/embeddings": 232}
MOST_CALLS_OF_EVENT = 25.3


class Work:
    """Counts while it is entered."""

    def __init__(self) -> None:
        self.calls = self.tasks = 0

    def __enter__(self) -> Work:
        loop = asyncio.get_running_loop()
        loop.set_task_factory(self._task)
        sys.setprofile(self._profile)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        asyncio.get_running_loop().set_task_factory(None)

    def _profile(self, frame: FrameType, event: str, _: object) -> None:
        self.calls += event == "call" and not frame.f_code.co_filename.startswith(UNCOUNTED)

    def _task(self, loop: asyncio.AbstractEventLoop, coroutine: Any, **more: Any) -> Any:
        self.tasks += 1
        return asyncio.Task(coroutine, loop=loop, **more)


async def ask(app: Any, path: str, told: threading.Semaphore | None = None) -> bytes:
    """One request, as uvicorn hands it on. `told`: released for each piece of the answer."""
    sent = [{"type": "http.request", "body": CHAT, "more_body": False}]
    answer: list[bytes] = []

    async def receive() -> Any:
        if not sent:
            await asyncio.Event().wait()  # the client stays
        return sent.pop()

    async def send(message: Any) -> None:
        answer.append(message.get("body", b""))
        if told is not None and answer[-1]:
            told.release()

    headers = {"host": "127.0.0.1", "content-type": "application/json",
               "content-length": str(len(CHAT)), "authorization": "Bearer k"}  # fmt: skip
    await app(
        {
            "type": "http", "method": "POST", "path": path, "raw_path": path.encode(),
            "query_string": b"", "root_path": "", "scheme": "http", "http_version": "1.1",
            "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 9),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        },
        receive,
        send,
    )  # fmt: skip
    return b"".join(answer)


@pytest.mark.parametrize("path", MOST_CALLS)
async def test_a_small_request(path: str):
    def script(connection: Connection, _: int) -> None:
        while connection.request():
            connection.send(OK)

    with raw_upstream(script) as base:
        built = services(base)
        app = create_app(built)
        counted = []
        for _ in range(6):
            with Work() as work:
                assert await ask(app, path) == b"ok"
            counted.append((work.calls, work.tasks))
        await built.upstreams.close()
    calls, tasks = min(counted)
    assert 0 < calls <= MOST_CALLS[path]
    assert tasks == 0


async def test_an_event_of_a_stream():
    """Each comes by itself; what a stream costs as a whole is taken off."""
    relayed = threading.Semaphore(0)
    lengths = [2, 2, 42]  # the first makes what all others use again

    def script(connection: Connection, _: int) -> None:
        for length in lengths:
            connection.request()
            connection.send(STREAM)
            for _ in range(length):
                connection.send(EVENT)
                assert relayed.acquire(timeout=PATIENCE)
            connection.send(b"0\r\n\r\n")
        connection.request()

    with raw_upstream(script) as base:
        built = services(base)
        app = create_app(built)
        calls = []
        for length in lengths:
            with Work() as work:
                assert await ask(app, "/v1/chat/completions", relayed) == b"data: 1\n\n" * length
            calls.append(work.calls)
        await built.upstreams.close()
    assert 0 < (calls[2] - calls[1]) / (lengths[2] - lengths[1]) <= MOST_CALLS_OF_EVENT

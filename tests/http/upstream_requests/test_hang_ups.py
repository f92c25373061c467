"""A client that hangs up is noticed at once, whatever it had sent: its upstream is closed too."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from memtree.config import Settings
from memtree.stores import Memories, RamStore, open_memories
from memtree_proxy.server.app import create_app
from tests.http.served.fakes import FakeMemory, services
from tests.http.served.rawupstream import Connection, raw_upstream
from tests.http.served.running import PATIENCE, running, wait_for
from tests.http.served.sockets import HOST, connect

DIALECTS = {"chat/completions": "messages", "messages": "messages", "responses": "input"}
SIZES = (0, 60_000, 300_000, 3_000_000)  # bytes of one message
CASES = [
    f"{path} {size} {memory} {kind} {when}"
    for path, size, memory, kind, when in product(
        DIALECTS, SIZES, ("on", "off"), ("stream", "whole"), ("before", "after")
    )
]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: 9999\r\n\r\n"
STARTS = {
    "stream": HEAD % b"text/event-stream" + b"event: ping\ndata: {}\n\n",
    "whole": HEAD % b"application/json" + b'{"id":',
}


class Events(dict[str, threading.Event]):
    """One event a case, whichever thread asks for it first. A `defaultdict` gives two threads that
    ask at the same time two events, and who waits for the lost one waits in vain."""

    def __missing__(self, case: str) -> threading.Event:
        return self.setdefault(case, threading.Event())


class Endless:
    """An upstream that never ends its answers; tells by case who has come and who has gone."""

    def __init__(self) -> None:
        self.reached, self.gone = Events(), Events()

    def __call__(self, connection: Connection, _: int) -> None:
        if not (raw := connection.request()):
            return
        case = named[1].decode() if (named := re.search(rb"(?i)x-case: (.*?)\r\n", raw)) else ""
        if case.endswith("after"):
            connection.send(STARTS[case.split()[3]])
        self.reached[case].set()
        if connection.gone():
            self.gone[case].set()


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[str, Endless]]:
    upstream = Endless()
    with raw_upstream(upstream) as base:
        built = services(base, FakeMemory())
        with running(create_app(built), built.upstreams, Settings()) as address:
            yield address, upstream


def request(case: str) -> bytes:
    path, size, memory, kind, *_ = case.split()
    said = {"role": "user", "content": "word " * (int(size) // 5)}
    body = json.dumps(
        {"model": "m", "max_tokens": 9, "stream": kind == "stream", DIALECTS[path]: [said]}
    )
    return (
        f"POST /v1/{path} HTTP/1.1\r\nhost: edge\r\nx-case: {case}\r\nx-polychat-memory: {memory}"
        f"\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n{body}"
    ).encode()


def test_every_hang_up_closes_the_upstream(
    served: tuple[str, Endless], caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO")
    address, upstream = served
    connections: list[socket.socket] = []
    for case in CASES:
        connections.append(connect(address))
        connections[-1].sendall(request(case))
    for case in CASES:
        assert upstream.reached[case].wait(PATIENCE), case
    for connection in connections:
        connection.close()
    unnoticed = [case for case in CASES if not upstream.gone[case].wait(PATIENCE)]
    assert unnoticed == []
    wait_for(lambda: caplog.text.count("status=499") == len(CASES))


@contextmanager
def under_way(served: tuple[str, Endless], name: str) -> Iterator[socket.socket]:
    """A connection whose first request, of 300 kB, has reached the upstream."""
    address, upstream = served
    case = f"chat/completions 300000 off whole {name}"
    with connect(address) as connection:
        connection.sendall(request(case))
        assert upstream.reached[case].wait(PATIENCE)
        yield connection


def test_a_client_that_has_sent_another_request_is_seen_to_go(served: tuple[str, Endless]):
    with under_way(served, "ahead") as connection:
        connection.sendall(b"GET /v1/models HTTP/1.1\r\n" + HOST + b"\r\n")
    assert served[1].gone["chat/completions 300000 off whole ahead"].wait(PATIENCE)


def test_what_is_sent_ahead_of_an_answer_stays_small(served: tuple[str, Endless]):
    """The server keeps 64 KiB of it and lets the client wait."""
    body = b"x" * 10_000
    ahead = b"POST /v1/files HTTP/1.1\r\n" + HOST + b"content-length: 10000\r\n\r\n" + body
    with under_way(served, "much") as connection:
        connection.settimeout(1.0)
        with pytest.raises(TimeoutError):
            connection.sendall(ahead * 5_000)  # the system's buffers take some


# -- what is no chat ---------------------------------------------------------------------------


class Held:
    """A method of the store that never answers; tells who has come and who was stopped."""

    def __init__(self, memories: Memories, name: str) -> None:
        self.reached, self.stopped = threading.Event(), threading.Event()
        setattr(memories, name, self)

    async def __call__(self, *_: Any, **__: Any) -> Any:
        self.reached.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.stopped.set()
            raise


LINES = b"".join(b'{"text": "I have been to town %06d"}\n' % at for at in range(15_000))
BATCH = {"queries": [{"query": "tea", "filters": {"agentId": "a"}}]}
TALK = [{"role": "user", "content": f"I live in town {at}."} for at in range(9_000)]
WORK = {
    "import": ("add_many", "POST", "memories/import", LINES),
    "agent's import": ("write", "POST", "memories/import?agentId=a", LINES),
    "export": ("records", "GET", "memories/export", b""),
    "search": ("search_rows", "GET", "memories/search?query=tea", b""),
    "agents' search": ("scope_totals", "GET", "memories/search?query=tea&agentId=*", b""),
    "batch of searches": (
        "search_rows",
        "POST",
        "memories/batch/search",
        json.dumps(BATCH).encode() + b" " * 300_000,
    ),
    "extraction": (
        "extracted",
        "POST",
        "memories/extract",
        json.dumps({"messages": TALK}).encode(),
    ),
    "agent's extraction": (
        "extracted",
        "POST",
        "memories",
        json.dumps({"agentId": "a", "conversation": TALK}).encode(),
    ),
}


@pytest.mark.parametrize("name", WORK)
def test_work_ends_with_its_client(name: str, caplog: pytest.LogCaptureFixture):
    caplog.set_level("INFO")
    method, verb, path, body = WORK[name]
    memories = open_memories(RamStore())
    held = Held(memories, method)
    built = services(None, FakeMemory(), memories=memories)
    head = (
        f"{verb} /v1/{path} HTTP/1.1\r\nhost: edge\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    with running(create_app(built), built.upstreams, Settings()) as address:
        with connect(address) as connection:
            connection.sendall(head.encode() + body)
            assert held.reached.wait(PATIENCE), name
        assert held.stopped.wait(PATIENCE), name
        wait_for(lambda: "status=499" in caplog.text)
    assert caplog.text.count("status=499") == 1


def test_a_file_that_is_parsed_ends_with_its_client(caplog: pytest.LogCaptureFixture):
    """Its process is gone when the line is written."""
    caplog.set_level("INFO")
    built = services(None, FakeMemory())
    body = b"[" + b'{"role": "user", "content": "a"},' * 400_000
    head = b"POST /v1/context_memory/parse HTTP/1.1\r\n" + HOST
    with running(create_app(built), built.upstreams, Settings()) as address:
        before = children()
        with connect(address) as connection:
            connection.sendall(head + b"content-length: %d\r\n\r\n" % (len(body) + 1) + body + b"]")
            wait_for(lambda: children() > before)
        wait_for(lambda: "status=499" in caplog.text)
        wait_for(lambda: children() <= before)


def children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()) | {
        child
        for task in Path("/proc/self/task").iterdir()
        for child in (task / "children").read_text().split()
    }

"""On real sockets: streams arrive as they are made, and nobody works for a client that is gone."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx
import pytest

from memtree_proxy.server.app import create_app
from tests.http.served.fakes import FakeMemory, dumps, services, turn
from tests.http.served.running import PATIENCE, running, wait_for
from tests.http.served.upstream import FakeUpstream, event

ON = {"x-polychat-memory": "on"}
CHAT = "/v1/chat/completions"


@contextmanager
def proxy(base: str, memory: FakeMemory | None = None) -> Iterator[str]:
    built = services(base, memory)
    with running(create_app(built), built.upstreams) as address:
        yield address


@pytest.fixture
def address(base: str, upstream: FakeUpstream) -> Iterator[str]:
    with proxy(base) as address:
        yield address


@contextmanager
def connection(
    address: str, body: bytes, path: str = CHAT, headers: Mapping[str, str] = ON
) -> Iterator[socket.socket]:
    """A client that can hang up whenever it likes."""
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as client:
        head = f"POST {path} HTTP/1.1\r\nhost: x\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        client.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        yield client


def read_until(client: socket.socket, mark: bytes) -> bytes:
    got = b""
    while mark not in got:
        piece = client.recv(65536)
        assert piece, "closed too early"
        got += piece
    return got


def test_events_arrive_while_the_stream_goes_on(address: str, upstream: FakeUpstream):
    upstream.mode = "silent_sse"
    with httpx.stream("POST", address + CHAT, json=turn(1), timeout=PATIENCE) as answer:
        assert next(answer.iter_raw()) == event("one")
    wait_for(upstream.gone.is_set)


def test_hanging_up_in_mid_body_is_no_error(
    address: str, upstream: FakeUpstream, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO")
    body = dumps(turn(1))
    host, port = address.removeprefix("http://").split(":")
    for path in (CHAT, "/v1/files"):
        with socket.create_connection((host, int(port))) as client:
            head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 99999\r\n\r\n"
            client.sendall(head.encode() + body)
            time.sleep(0.1)
        line = f"route={path} status=499"
        wait_for(lambda: line in caplog.text)  # noqa: B023  called here and now
    assert "Traceback" not in caplog.text
    assert "File " not in caplog.text


@pytest.mark.parametrize("mode", ["cut", "cut-length"])
def test_a_stream_cut_upstream_never_ends_cleanly(
    mode: str, address: str, upstream: FakeUpstream, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO")
    upstream.mode = mode
    with httpx.stream("POST", address + CHAT, json=turn(1), timeout=PATIENCE) as answer:
        assert answer.status_code == 200
        with pytest.raises(httpx.RemoteProtocolError):
            answer.read()
    wait_for(lambda: f"http.cut route={CHAT} why=UpstreamFailed" in caplog.text)
    assert "Exception in ASGI application" not in caplog.text


def test_request_bodies_are_streamed_not_gathered(address: str, upstream: FakeUpstream):
    def slow() -> Iterator[bytes]:
        """Each piece when the one before it has arrived."""
        for number in range(4):
            wait_for(lambda: sum(len(seen.body) for seen in upstream.seen) == 1000 * number)  # noqa: B023
            yield b"x" * 1000

    upstream.mode = "echo"
    answer = httpx.post(address + "/v1/files", content=slow(), timeout=PATIENCE)
    assert answer.content == b"x" * 4000


def test_an_upstream_that_answers_before_the_body_is_read(address: str, upstream: FakeUpstream):
    upstream.mode = "early"
    answer = httpx.post(address + "/v1/files", content=b"x" * 300_000, timeout=PATIENCE)
    assert answer.status_code == 413


def test_one_connection_serves_many_requests(address: str, upstream: FakeUpstream):
    with httpx.Client(base_url=address, timeout=PATIENCE) as client:
        for mode in ("json", "sse", "gzip", "error", "not-modified"):
            upstream.mode = mode
            answer = client.post(CHAT, json=turn(1))
            assert answer.headers["x-memtree-state"] == "off"
        too_large = client.post("/v1/context_memory", content=b"[" * 10)
        assert too_large.status_code == 400


def test_a_refused_large_body_still_gets_its_answer(base: str, upstream: FakeUpstream):
    built = services(base, max_body_bytes=1_000)
    with running(create_app(built), built.upstreams) as address:
        for path in (CHAT, "/context_memory"):
            answer = httpx.post(address + path, content=b"x" * 5_000_000, timeout=PATIENCE)
            assert answer.json()["error"]["code"] == "request_too_large"

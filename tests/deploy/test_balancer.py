"""The balancer of compose.yaml, a real Caddy with the same file, in front of small servers.

What a front balancer can spoil: streams held back, a client that hangs up unnoticed, a chat sent
twice, a large body refused, a dead proxy still asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx
import pytest
import uvicorn

from deploy.topology import balancer
from tests.deploy.programs import DEPLOY, program, run
from tests.programs.server import PATIENCE, free_port

pytestmark = pytest.mark.slow


@dataclass
class Behind:
    """A small server in place of a proxy. It streams a piece, then waits until it is told to go
    on ("silent": without a piece, `reached` says that it waits); `gone` is set when its client
    hung up before."""

    hits: list[str] = field(default_factory=list)
    bodies: list[int] = field(default_factory=list)
    reached: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)
    gone: threading.Event = field(default_factory=threading.Event)

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return
        size = await self._read(receive)
        if scope["path"] == "/health":
            await self._answer(send, b'{"status": "ok"}', b"application/json")
            return
        self.hits.append(scope["path"])
        self.bodies.append(size)
        if scope["path"].startswith("/stream"):
            await self._stream(scope["path"], receive, send)
        else:
            await self._answer(send, json.dumps({"size": size}).encode(), b"application/json")

    async def _read(self, receive):
        size, more = 0, True
        while more:
            message = await receive()
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
        return size

    async def _answer(self, send, body, kind):
        headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _stream(self, path, receive, send):
        kind = b"text/event-stream" if path.endswith("/events") else b"application/json"
        if not path.endswith("/silent"):
            head = [(b"content-type", kind)]
            await send({"type": "http.response.start", "status": 200, "headers": head})
            piece = {"type": "http.response.body", "body": b"data: first\n\n", "more_body": True}
            await send(piece)
        self.reached.set()
        end = asyncio.ensure_future(asyncio.to_thread(self.go_on.wait, PATIENCE))
        hung_up = asyncio.ensure_future(receive())
        await asyncio.wait({end, hung_up}, return_when=asyncio.FIRST_COMPLETED)
        if hung_up.done() and not end.done():
            self.gone.set()
            self.go_on.set()
            return
        hung_up.cancel()
        await send({"type": "http.response.body", "body": b"data: last\n\n"})


@contextlib.contextmanager
def served(app: Behind) -> Iterator[str]:
    held = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([held],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{held.getsockname()[1]}"
    finally:
        app.go_on.set()
        server.should_exit = True
        thread.join(PATIENCE)
        held.close()


@pytest.fixture
def front(tmp_path):
    """The balancer before two servers, and these."""
    program("caddy")
    one, two = Behind(), Behind()
    with served(one) as first, served(two) as second:
        caddy = balancer(tmp_path, [first, second])
        caddy.start()
        with httpx.Client(base_url=caddy.url, timeout=PATIENCE, trust_env=False) as client:
            yield client, one, two
        one.go_on.set()
        two.go_on.set()
        caddy.close()


def test_the_file_is_valid_and_formatted():
    caddy = program("caddy")
    file = str(DEPLOY / "Caddyfile")
    checked = run(
        caddy, "validate", "--config", file, "--adapter", "caddyfile", MEMTREE_PROXIES="a:1 b:2"
    )
    assert checked.returncode == 0, checked.stderr
    assert "warn" not in checked.stderr, checked.stderr
    assert run(caddy, "fmt", file).stdout == (DEPLOY / "Caddyfile").read_text("utf-8")


@pytest.mark.parametrize("path", ["/stream/events", "/stream/spaces"])
def test_a_piece_of_a_stream_comes_before_the_next_is_there(front, path):
    client, one, two = front
    with client.stream("GET", path) as answer:
        pieces = answer.iter_bytes()
        assert next(pieces) == b"data: first\n\n"
        one.go_on.set()
        two.go_on.set()
        assert b"".join(pieces) == b"data: last\n\n"


def test_who_hangs_up_is_hung_up_on(front):
    client, one, two = front
    with client.stream("POST", "/stream/events") as answer:
        next(answer.iter_bytes())
    asked = one if one.hits else two
    assert asked.gone.wait(PATIENCE)


def test_who_hangs_up_before_the_first_word_is_hung_up_on(tmp_path):
    program("caddy")
    one = Behind()
    with served(one) as behind:
        caddy = balancer(tmp_path, [behind])
        caddy.start()
        with socket.create_connection(("127.0.0.1", int(caddy.url.rpartition(":")[2]))) as hasty:
            hasty.sendall(b"POST /stream/silent HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx")
            assert one.reached.wait(PATIENCE)
        assert one.gone.wait(PATIENCE)
        caddy.close()


def test_a_second_stream_goes_to_the_other(front):
    client, one, two = front
    with client.stream("GET", "/stream/events") as first:
        held = first.iter_bytes()  # without a name it ends at once, and the stream with it
        next(held)
        with client.stream("GET", "/stream/events") as second:
            also_held = second.iter_bytes()
            next(also_held)
            assert (len(one.hits), len(two.hits)) == (1, 1)


@pytest.mark.long
def test_a_large_body_comes_whole(front):
    client, _, _ = front
    size = 100 << 20
    assert client.post("/v1/chat/completions", content=b"x" * size).json() == {"size": size}


@pytest.mark.long
def test_a_body_beyond_the_limit_is_refused(front):
    client, one, two = front
    # Chunked, so that the size is not known before; the limit is met while it is read.
    pieces = (b"x" * (16 << 20) for _ in range(17))
    with contextlib.suppress(httpx.WriteError, httpx.ReadError):
        assert client.post("/v1/chat/completions", content=pieces).status_code in (413, 502)
    assert max([*one.bodies, *two.bodies], default=0) <= 256 << 20


def test_metrics_are_not_for_the_outside(front):
    client, one, two = front
    assert client.get("/metrics").status_code == 404
    assert not one.hits + two.hits


def test_a_dead_proxy_is_not_asked_and_no_chat_is_sent_twice(tmp_path):
    program("caddy")
    one = Behind()
    dead = f"http://127.0.0.1:{free_port()}"
    with served(one) as alive:
        caddy = balancer(tmp_path, [dead, alive])
        caddy.start()
        for _ in range(10):
            answer = httpx.post(
                f"{caddy.url}/v1/x", content=b"a", timeout=PATIENCE, trust_env=False
            )
            assert answer.json() == {"size": 1}
        caddy.close()
    assert len(one.hits) == 10


WELL = b'HTTP/1.1 200 OK\r\ncontent-length: 16\r\nconnection: close\r\n\r\n{"status": "ok"}'


def test_what_no_proxy_answers_is_an_error_in_the_usual_shape(tmp_path):
    program("caddy")
    with socket.create_server(("127.0.0.1", 0)) as killed:

        def hang_up():
            """Well, and dead as soon as it is asked anything."""
            with contextlib.suppress(OSError):
                while True:
                    connection = killed.accept()[0]
                    with connection:
                        if b" /health " in connection.recv(65_536):
                            connection.sendall(WELL)

        threading.Thread(target=hang_up, daemon=True).start()
        caddy = balancer(tmp_path, [f"http://127.0.0.1:{killed.getsockname()[1]}"])
        caddy.start()
        answer = httpx.post(f"{caddy.url}/v1/x", content=b"a", timeout=PATIENCE, trust_env=False)
        caddy.close()
        killed.shutdown(socket.SHUT_RDWR)
    assert answer.status_code == 502
    assert answer.headers["retry-after"] == "1"
    assert answer.json()["error"]["code"] == "balancer_error"
    assert "502" in answer.json()["error"]["message"]


def test_the_log_names_no_header(tmp_path):
    program("caddy")
    with served(Behind()) as behind:
        caddy = balancer(tmp_path, [behind])
        caddy.start()
        headers = {"x-api-key": "odd-secret", "authorization": "Bearer plain-secret"}
        url = f"{caddy.url}/stream/events"
        with httpx.stream(
            "POST", url, headers=headers, timeout=PATIENCE, trust_env=False
        ) as answer:
            next(answer.iter_bytes())  # and hang up, of which Caddy tells
        caddy.close()
    said = caddy.log.read_text("utf-8")
    assert "/stream/events" in said
    assert "secret" not in said

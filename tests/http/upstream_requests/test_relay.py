"""Relaying on real sockets at both ends: what lies on the wire, byte for byte."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from memtree.config import Settings
from memtree_proxy.server.app import create_app
from memtree_proxy.upstream import upstream_client
from memtree_proxy.upstream.upstream_client import STALE_SECONDS
from tests.http.served.fakes import dumps, services, turn
from tests.http.served.rawupstream import Connection, Script, raw_upstream
from tests.http.served.running import PATIENCE, running
from tests.http.served.sockets import HOST, ask, connect, talk, until

GET = b"GET /v1/models HTTP/1.1\r\n" + HOST + b"\r\n"
CHAT = dumps(turn(9))
MEGA = 1024 * 1024


def post(path: bytes, body: bytes, *headers: bytes) -> bytes:
    lines = [b"POST " + path + b" HTTP/1.1", HOST.strip(), *headers]
    lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


POSTS = {
    "chat": post(b"/v1/chat/completions", CHAT),
    "memory": post(b"/v1/chat/completions", CHAT, b"x-polychat-memory: on"),
    "stream": post(b"/v1/chat/completions", dumps(turn(9, stream=True)), b"x-polychat-memory: on"),
    "through": post(b"/v1/embeddings", b"{}"),
}
ASKS = {"get": GET, **POSTS}
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@contextmanager
def edge(script: Script) -> Iterator[str]:
    with raw_upstream(script) as base:
        built = services(base)
        with running(create_app(built), built.upstreams, Settings()) as address:
            yield address


def answering(answer: bytes) -> Script:
    def script(connection: Connection, _: int) -> None:
        while connection.request():
            connection.send(answer)

    return script


def parts(raw: bytes) -> tuple[bytes, list[bytes], bytes]:
    head, _, body = raw.partition(b"\r\n\r\n")
    status, *headers = head.split(b"\r\n")
    ours = [header for header in headers if header.startswith(b"x-memtree-request: ")]
    assert len(ours) == 1  # the one that is ours on a relayed answer
    return status, [header for header in headers if header not in ours], body


# ---------------------------------------------------------------- answers


def test_informational_answers_are_passed_over():
    early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
    with edge(answering(early + OK)) as address:
        status, headers, body = parts(ask(address, GET))
    assert (status, body) == (b"HTTP/1.1 200 OK", b"ok")
    assert headers == [b"content-length: 2"]


def test_trailers_are_dropped_and_chunks_kept():
    answer = (
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n"
        b"3;note=1\r\nabc\r\n2\r\nde\r\n0\r\nx-sum: 5\r\n\r\n"
    )
    with edge(answering(answer)) as address:
        status, headers, body = parts(ask(address, GET))
    assert status == b"HTTP/1.1 200 OK"
    assert headers == [b"transfer-encoding: chunked"]
    assert b"x-sum" not in body
    assert body.endswith(b"0\r\n\r\n")


def test_hop_by_hop_headers_of_an_answer_end_here():
    answer = (
        b"HTTP/1.1 200 OK\r\nConnection: X-Own, keep-alive\r\nX-Own: 1\r\nKeep-Alive: timeout=5\r\n"
        b"Proxy-Authenticate: Basic\r\nUpgrade: h2c\r\nSet-Cookie: a=1\r\nX-Kept: yes\r\n"
        b"Set-Cookie: b=2\r\nX-Long: %s\r\nContent-Length: 2\r\n\r\nok"
    ) % (b"y" * 20_000)
    with edge(answering(answer)) as address:
        _, headers, _ = parts(ask(address, GET))
    assert headers.pop(3) == b"x-long: " + b"y" * 20_000
    assert headers == [b"set-cookie: a=1", b"x-kept: yes", b"set-cookie: b=2", b"content-length: 2"]


def test_an_answer_that_ends_with_its_connection_becomes_chunks():
    def script(connection: Connection, _: int) -> None:
        connection.request()
        connection.send(b"HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\n\r\nhello")

    with edge(script) as address:
        _, headers, body = parts(ask(address, GET))
    assert headers == [b"content-type: text/plain", b"transfer-encoding: chunked"]
    assert body == b"5\r\nhello\r\n0\r\n\r\n"


@pytest.mark.parametrize(
    ("request_", "answer", "headers"),
    [
        (GET.replace(b"GET", b"HEAD"), b"200 OK\r\ncontent-length: 99", [b"content-length: 99"]),
        (GET, b"204 No Content\r\nx: 1", [b"x: 1"]),
        (GET, b"304 Not Modified\r\netag: 1\r\ncontent-length: 99", [b"etag: 1"]),
        (GET, b"200 OK\r\ncontent-length: 0", [b"content-length: 0"]),
    ],
    ids=["head", "204", "304", "empty"],
)
def test_answers_without_a_body(request_: bytes, answer: bytes, headers: list[bytes]):
    """And the connection can be used for the next one."""
    with edge(answering(b"HTTP/1.1 " + answer + b"\r\n\r\n")) as address:
        raw = ask(address, request_ * 2, count=2, bodies=False)
    assert raw.count(b"HTTP/1.1 ") == 2
    assert parts(raw)[1] == headers


@pytest.mark.parametrize("kind", POSTS)
@pytest.mark.parametrize("status", [400, 401, 402, 404, 408, 409, 429, 500, 502, 503, 504, 529])
def test_errors_pass_as_they_are(status: int, kind: str):
    body = b'{ "error" : {"message":"no",  "code":null} }'
    answer = (
        b"HTTP/1.1 %d Whatever\r\nretry-after: 7\r\nretry-after-ms: 6500\r\n"
        b"x-ratelimit-remaining-tokens: 0\r\ncontent-type: application/json\r\n"
        b"content-length: %d\r\n\r\n"
    ) % (status, len(body))
    seen: list[bytes] = []

    def script(connection: Connection, _: int) -> None:
        while raw := connection.request():
            seen.append(raw)
            connection.send(answer + body)

    with edge(script) as address:
        shown, headers, told = parts(ask(address, POSTS[kind]))
    assert len(seen) == 1, "errors are the client's to retry"
    assert shown.startswith(b"HTTP/1.1 %d" % status)
    assert told == body
    theirs = [line for line in headers if not line.startswith(b"x-memtree")]
    assert theirs == [
        b"retry-after: 7",
        b"retry-after-ms: 6500",
        b"x-ratelimit-remaining-tokens: 0",
        b"content-type: application/json",
        b"content-length: %d" % len(body),
    ]


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 999 No\r\ncontent-length: 0\r\n\r\n",
        b"SSH-2.0-x\r\n\r\n",
        b"HTTP/1.1 2x0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-le",
        b"",
    ],
)
@pytest.mark.parametrize("kind", ASKS)
def test_what_is_no_answer_is_a_502(kind: str, answer: bytes):
    def script(connection: Connection, _: int) -> None:
        connection.request()
        connection.send(answer)

    with edge(script) as address:
        raw = ask(address, ASKS[kind])
    assert raw.startswith(b"HTTP/1.1 502")
    assert b'"upstream_unreachable"' in raw


# ---------------------------------------------------------------- requests


@pytest.mark.parametrize("prefix", [b"", b"/v1", b"/api", b"/api/v1"])
def test_the_request_as_it_arrives(prefix: bytes):
    seen: list[bytes] = []

    def script(connection: Connection, _: int) -> None:
        while raw := connection.request():
            seen.append(raw)
            connection.send(OK)

    target = prefix + b"/a%2Fb%20%c3%a9;x=1,2/~'()*!?q=%20+a&&b=%26#".rstrip(b"#")
    raw = (
        b"PROPFIND " + target + b" HTTP/1.1\r\nHost: edge\r\nConnection: close, X-Own\r\n"
        b"X-Own: 1\r\nTE: trailers\r\nX-Kept: yes\r\nAccept-Encoding: gzip, br\r\n"
        b"Content-Length: 3\r\n\r\n\x00\xff\n"
    )
    with edge(script) as address:
        talk(address, raw)
    head, _, body = seen[0].partition(b"\r\n\r\n")
    line, *headers = head.split(b"\r\n")
    assert line == b"PROPFIND /up/v1" + target.removeprefix(prefix) + b" HTTP/1.1"
    assert body == b"\x00\xff\n"
    names = {header.split(b":")[0].lower() for header in headers}
    assert names == {b"host", b"x-kept", b"accept-encoding", b"content-length"}


def test_a_target_that_is_no_path_goes_nowhere():
    seen = []
    with edge(lambda connection, _: seen.append(connection.request())) as address:
        raw = ask(address, b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n")
    assert raw.startswith(b"HTTP/1.1 404")
    assert not seen


@pytest.mark.parametrize("kind", POSTS)
def test_expect_100_continue(kind: str):
    """A client that waits to be asked for its body, as curl does with large ones."""
    seen: list[bytes] = []

    def script(connection: Connection, _: int) -> None:
        while raw := connection.request():
            seen.append(raw)
            connection.send(OK)

    head, _, body = POSTS[kind].partition(b"\r\n\r\n")
    with edge(script) as address, connect(address) as connection:
        connection.sendall(head + b"\r\nExpect: 100-continue\r\n\r\n")
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
    assert b"expect" not in seen[0].lower()


# ---------------------------------------------------------------- kept connections


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kept connection is taken for a stale one however long it takes to notice its end."""
    monkeypatch.setattr(upstream_client, "STALE_SECONDS", PATIENCE)


class Stale:
    """Answers the first request of the first connection; then, `delay` after the second one has
    come, it is gone. Connections after that answer."""

    def __init__(self, delay: float = 0.0, *, first: bool = False, reset: bool = True) -> None:
        self.delay, self.first, self.reset = delay, first, reset
        self.requests: list[tuple[int, bytes]] = []

    def __call__(self, connection: Connection, number: int) -> None:
        while raw := connection.request():
            self.requests.append((number, raw))
            if number == 0 and (self.first or len(self.requests) > 1):
                time.sleep(self.delay)
                if self.reset:
                    connection.reset()
                return
            connection.send(OK)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("reset", [True, False])
@pytest.mark.parametrize("kind", POSTS)
def test_a_stale_connection_does_not_show(kind: str, reset: bool):
    upstream = Stale(reset=reset)
    with edge(upstream) as address:
        first, second = ask(address, GET), ask(address, POSTS[kind])
    assert first.startswith(b"HTTP/1.1 200")
    assert second.startswith(b"HTTP/1.1 200")
    assert [number for number, _ in upstream.requests] == [0, 0, 1]
    once, again = (raw for _, raw in upstream.requests[1:])
    assert again.replace(b"Connection: close\r\n", b"") == once


@pytest.mark.usefixtures("patient")
def test_a_large_chat_finds_a_stale_connection():
    body = dumps(turn(9, padding="x" * 3 * MEGA))
    upstream = Stale()
    with edge(upstream) as address:
        ask(address, GET)
        answer = ask(address, post(b"/v1/chat/completions", body))
    assert answer.startswith(b"HTTP/1.1 200")
    assert upstream.requests[-1][0] == 1
    assert upstream.requests[-1][1].endswith(body)


@pytest.mark.slow
@pytest.mark.parametrize(
    "upstream",
    [lambda: Stale(delay=STALE_SECONDS + 0.5), lambda: Stale(first=True)],
    ids=["late", "fresh"],
)
def test_a_chat_is_not_sent_twice_where_work_may_have_begun(upstream):
    upstream = upstream()
    with edge(upstream) as address:
        if not upstream.first:
            ask(address, GET)
        answer = ask(address, POSTS["chat"])
    assert answer.startswith(b"HTTP/1.1 502")
    assert sum(b"POST" in raw for _, raw in upstream.requests) == 1


# ---------------------------------------------------------------- who hangs up


class Watching:
    """Answers with `answer` and says when the other side hung up."""

    def __init__(self, answer: bytes = b"", *, read: bool = True) -> None:
        self.answer, self.read = answer, read
        self.reached, self.gone = threading.Event(), threading.Event()

    def __call__(self, connection: Connection, _: int) -> None:
        if self.read:
            connection.request()
        else:
            connection.inner.recv(1_000)
        if self.answer:
            connection.send(self.answer)
        self.reached.set()
        if connection.gone():
            self.gone.set()


SSE = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\n"


@pytest.mark.parametrize("answer", [b"", SSE], ids=["before the head", "in mid-stream"])
@pytest.mark.parametrize("kind", ASKS)
def test_a_client_that_hangs_up_ends_the_upstreams_work(kind: str, answer: bytes):
    upstream = Watching(answer)
    with edge(upstream) as address:
        with connect(address) as connection:
            connection.sendall(ASKS[kind])
            assert upstream.reached.wait(PATIENCE)
            if answer:
                assert connection.recv(65536)
        assert upstream.gone.wait(PATIENCE)


def test_a_client_that_hangs_up_in_its_upload():
    upstream = Watching(read=False)
    head = b"POST /v1/files HTTP/1.1\r\n" + HOST + b"Content-Length: 99999999\r\n\r\n"
    with edge(upstream) as address:
        with connect(address) as connection:
            connection.sendall(head + b"x" * MEGA)
            assert upstream.reached.wait(PATIENCE)
        assert upstream.gone.wait(PATIENCE)


# ---------------------------------------------------------------- many, and much


@pytest.mark.slow
def test_three_hundred_streams_at_once():
    count = 300
    barrier = threading.Barrier(count, timeout=PATIENCE)

    def script(connection: Connection, _: int) -> None:
        connection.request()
        connection.send(SSE)
        barrier.wait()  # none ends before all are there
        connection.send(b"data: [DONE]\n\n")

    with edge(script) as address:
        connections = [connect(address) for _ in range(count)]
        for connection in connections:
            connection.sendall(POSTS["chat"])
        for connection in connections:
            assert b"[DONE]" in until(connection, b"0\r\n\r\n")
            connection.close()


class Flood:
    """Sends as much as is taken."""

    def __init__(self, total: int) -> None:
        self.total, self.sent = total, 0

    def __call__(self, connection: Connection, _: int) -> None:
        connection.request()
        connection.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % self.total)
        block = b"x" * 65536
        try:
            while self.sent < self.total:
                connection.send(block)
                self.sent += len(block)
        except OSError:
            return


def settled(amount: Callable[[], int], seconds: float = 1.0) -> int:
    """An amount that has not changed for so long."""
    since, before = time.monotonic(), amount()
    while time.monotonic() - since < seconds:
        time.sleep(0.05)
        if (now := amount()) != before:
            since, before = time.monotonic(), now
    return before


BUFFERS = 40 * MEGA  # the system may hold 10 MB for each of two connections; ours are 0.5 MB


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind == "chat" else pytest.mark.long) for kind in ASKS]
)
def test_a_slow_reader_slows_the_upstream(kind: str):
    upstream = Flood(200 * MEGA)
    with edge(upstream) as address, connect(address) as connection:
        connection.sendall(ASKS[kind])
        connection.recv(1_000)
        held = settled(lambda: upstream.sent)
        assert 0 < held < BUFFERS
        read = 0
        while read <= held:  # it goes on where the reader does
            piece = connection.recv(MEGA)
            assert piece
            read += len(piece)


@pytest.mark.slow
def test_a_slow_upstream_slows_the_upload():
    go = threading.Event()
    taken = [0]

    def script(connection: Connection, _: int) -> None:
        connection.inner.recv(1_000)
        go.wait(PATIENCE)
        while piece := connection.inner.recv(65536):
            taken[0] += len(piece)

    total = 200 * MEGA
    head = b"POST /v1/files HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % total
    sent = 0
    with edge(script) as address, connect(address) as connection:
        connection.sendall(head)
        connection.settimeout(1)
        with contextlib.suppress(TimeoutError):
            while sent < total:
                sent += connection.send(b"x" * 65536)
        assert 0 < sent < BUFFERS
        go.set()
        connection.settimeout(PATIENCE)
        for _ in range(200):
            connection.send(b"x" * 65536)
    assert taken[0] > 0

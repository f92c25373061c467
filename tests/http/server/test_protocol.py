"""Heads on real sockets: their size, their time, what is no HTTP, and what follows them."""

from __future__ import annotations

import itertools
import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from memtree.config import Settings
from memtree_proxy.server import edge, http_protocol
from memtree_proxy.server.app import create_app
from memtree_proxy.server.http_protocol import MAX_HEADERS, MAX_QUEUED
from tests.http.served.fakes import FakeMemory, dumps, services, turn
from tests.http.served.running import PATIENCE, running
from tests.http.served.sockets import HOST, answers, ask, connect, drip, rest, talk, until
from tests.http.served.upstream import PLAIN_BYTES, FakeUpstream

LIMIT = 4_000
GET = b"GET /v1/models HTTP/1.1\r\n" + HOST
POST = b"POST /v1/files HTTP/1.1\r\n" + HOST
HASTE = 1  # seconds: what the hasty server gives a head, and an upload for its next piece


@contextmanager
def serving(base: str, seconds: int) -> Iterator[tuple[str, FakeMemory]]:
    memory = FakeMemory()
    built = services(base, memory, upload_seconds=seconds)
    settings = replace(Settings(), max_header_bytes=LIMIT, upload_seconds=seconds)
    with pytest.MonkeyPatch.context() as patch:
        # A client that is slow to read its refusal must not find the connection reset.
        patch.setattr(http_protocol, "LINGER_SECONDS", PATIENCE)
        with running(create_app(built), built.upstreams, settings) as address:
            yield address, memory


@pytest.fixture(scope="module")
def _patient(_upstream) -> Iterator[tuple[str, FakeMemory]]:
    with serving(_upstream[1] + "/up/v1", int(PATIENCE)) as made:
        yield made


@pytest.fixture(scope="module")
def _hasty(_upstream) -> Iterator[tuple[str, FakeMemory]]:
    with serving(_upstream[1] + "/up/v1", HASTE) as made:
        yield made


@pytest.fixture
def address(_patient, upstream: FakeUpstream) -> str:
    """Return the address of a server that waits for whatever comes."""
    return _patient[0]


@pytest.fixture
def hasty(_hasty, upstream: FakeUpstream) -> str:
    """Return the address of a server that waits for a second. Tests that are not about that ask the
    other one: a busy machine may take longer to send the second half of anything."""
    return _hasty[0]


@pytest.fixture
def memories(_patient, _hasty) -> list[FakeMemory]:
    """Return the memories of both, asked nothing yet."""
    both = [_patient[1], _hasty[1]]
    for memory in both:
        memory.asks.clear()
    return both


def error_of(answer: bytes) -> tuple[int, str]:
    """Status and code; the whole must be in our shape."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    assert b"content-type: application/json" in lines
    assert b"connection: close" in lines
    assert b"content-length: %d" % len(body) in lines
    error = json.loads(body)["error"]
    assert set(error) - {"request_id"} == {"message", "type", "param", "code"}
    return int(lines[0].split()[1]), error["code"]


TOO_LARGE = {
    "one header": [GET + b"x: " + b"y" * LIMIT + b"\r\n\r\n"],
    "many headers": [GET + b"x: yyyyy\r\n" * (LIMIT // 10) + b"\r\n"],
    "a long name": [GET + b"y" * LIMIT + b": x\r\n\r\n"],
    "a long target": [b"GET /" + b"y" * LIMIT + b" HTTP/1.1\r\n" + HOST + b"\r\n"],
    "a header without an end": [GET + b"x: ", b"y" * LIMIT, b"y" * LIMIT],
    "a name without an end": [GET, b"y" * LIMIT, b"y" * LIMIT],
    "a target without an end": [b"GET /", b"y" * LIMIT, b"y" * LIMIT],
    "too many small ones": [GET + b"a:\r\n" * (MAX_HEADERS + 1) + b"\r\n"],
    "a trailer": [POST + b"Transfer-Encoding: chunked\r\n\r\n", b"0\r\nx: " + b"y" * LIMIT],
    "an offer to upgrade": [
        GET + b"Connection: Upgrade\r\nUpgrade: h2c\r\nx: " + b"y" * LIMIT + b"\r\n\r\n"
    ],
}


@pytest.mark.parametrize("pieces", TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_head_that_is_too_large(pieces: list[bytes], address: str, upstream: FakeUpstream):
    if pieces[-1].startswith(b"0\r\n"):
        pieces = [*pieces, b"\r\n\r\n"]
    answer, closed = talk(address, *pieces)
    assert error_of(answer) == (431, "headers_too_large")
    assert closed
    assert not upstream.reached.is_set()


def test_a_head_just_below_the_limit(address: str, upstream: FakeUpstream):
    room = LIMIT - len("/v1/models") - len("host") - len("edge") - 4 - len("x") - 4
    answer = ask(address, GET + b"x: " + b"y" * room + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    assert upstream.last.header("x") == ["y" * room]
    answer, _ = talk(address, GET + b"x: " + b"y" * (room + 1) + b"\r\n\r\n")
    assert error_of(answer)[0] == 431


def test_the_limit_does_not_count_the_body(address: str, upstream: FakeUpstream):
    body = b"z" * 10 * LIMIT
    head = POST + b"Content-Length: %d\r\n\r\n" % len(body)
    answer = ask(address, head + body, GET + b"\r\n", count=2)
    assert answer.count(b"HTTP/1.1 200") == 2
    assert upstream.seen[0].body == body


NO_HTTP = {
    "words": b"hello world\r\n\r\n",
    "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01",
    "h2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "two lengths": POST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "length and chunks": POST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "huge length": POST + b"Content-Length: 99999999999999999999999\r\n\r\nabc",
    "negative length": POST + b"Content-Length: -3\r\n\r\nabc",
    "no target": b"GET http://edge HTTP/1.1\r\n" + HOST + b"\r\n",
    "connect": b"CONNECT edge:443 HTTP/1.1\r\n" + HOST + b"\r\n",
    "folded": GET + b"x: a\r\n b\r\n\r\n",
    "nul": GET + b"x: a\0b\r\n\r\n",
    "space before colon": GET + b"x : a\r\n\r\n",
    "bad chunk": POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello",
}


@pytest.mark.parametrize("raw", NO_HTTP.values(), ids=NO_HTTP)
def test_what_is_no_http_is_a_400(raw: bytes, address: str, upstream: FakeUpstream):
    answer, closed = talk(address, raw)
    assert error_of(answer) == (400, "invalid_request")
    assert closed
    assert not upstream.reached.is_set()


# ---------------------------------------------------------------- time


def slow_head() -> Iterator[bytes]:
    yield GET
    while True:
        yield b"x: y\r\n"


@pytest.mark.slow
@pytest.mark.parametrize("drips", [slow_head, lambda: iter((b"G",))], ids=["dripping", "silent"])
def test_a_head_has_its_time(drips, hasty: str):
    answer, seconds = drip(hasty, drips(), pause=0.2)
    assert error_of(answer) == (408, "request_timeout")
    assert seconds > 0.9 * HASTE


@pytest.mark.slow
def test_empty_lines_are_no_request_and_no_end(hasty: str):
    """They neither hold a connection for ever nor break it."""
    with connect(hasty) as connection:
        for _ in range(8):
            connection.sendall(b"\r\n")
            time.sleep(0.2 * HASTE)
        connection.sendall(GET + b"\r\n")
        assert answers(connection).startswith(b"HTTP/1.1 200")


@pytest.mark.slow
def test_an_idle_connection_is_left_alone(hasty: str):
    with connect(hasty) as connection:
        for _ in range(3):
            assert rest(connection, 1.5 * HASTE) == (b"", False)
            connection.settimeout(PATIENCE)
            connection.sendall(GET + b"\r\n")
            assert answers(connection).startswith(b"HTTP/1.1 200")


@pytest.mark.slow
@pytest.mark.parametrize(
    "ahead",
    [
        pytest.param(b"", id="", marks=pytest.mark.long),
        pytest.param(GET, id="half"),
        pytest.param(b"nonsense\r\n\r\n", id="nonsense", marks=pytest.mark.long),
    ],
)
def test_a_stream_outlasts_every_limit(ahead: bytes, hasty: str, upstream: FakeUpstream):
    """Also beside a request sent ahead that is not complete, or is none."""
    upstream.mode = "slow-sse"
    with connect(hasty) as connection:
        connection.sendall(GET + b"\r\n" + ahead)
        assert b"tick" in until(connection, b"\n\n\r\n")
        end = time.monotonic() + 2.5 * HASTE
        while time.monotonic() < end:
            assert connection.recv(65536)
        assert b"tick" in until(connection, b"\n\n\r\n")


@pytest.mark.slow
def test_a_body_that_stops(hasty: str, memories: list[FakeMemory], upstream: FakeUpstream):
    for path in (b"/v1/files", b"/v1/chat/completions", b"/context_memory"):
        head = b"POST " + path + b" HTTP/1.1\r\n" + HOST + b"Content-Length: 100\r\n\r\n"
        started = time.monotonic()
        answer, closed = talk(hasty, head + b'{"messages"')
        assert error_of(answer) == (408, "request_timeout")
        assert closed
        assert time.monotonic() - started > 0.9 * HASTE
    assert not upstream.reached.is_set()
    assert not any(memory.asks for memory in memories)


@pytest.mark.slow
def test_a_body_that_crawls(
    address: str, memories: list[FakeMemory], monkeypatch: pytest.MonkeyPatch
):
    """At a server that waits for each piece as long as it takes."""
    monkeypatch.setattr(edge, "CRAWL", HASTE / PATIENCE)
    head = b"POST /context_memory HTTP/1.1\r\n" + HOST + b"Content-Length: 1000\r\n\r\n"
    answer, seconds = drip(address, itertools.chain((head,), itertools.repeat(b" ")), pause=0.2)
    assert error_of(answer) == (408, "request_timeout")
    assert b"bytes a second" in answer
    assert seconds > 0.9 * HASTE
    assert not any(memory.asks for memory in memories)


def send_for(connection: socket.socket, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        connection.sendall(b" " * 10_000)
        time.sleep(0.05)


@pytest.mark.slow
def test_the_rest_of_a_body_nobody_reads(address: str, hasty: str):
    """A client that sends all before it reads still gets its answer; one that never ends is cut."""
    raw = dumps(turn(9))
    wrong = b"POST /context_memory HTTP/1.1\r\n" + HOST + b"Content-Encoding: br\r\n"
    large = raw + b" " * 5_000_000
    posted = wrong + b"Content-Length: %d\r\n\r\n" % len(large) + large
    answer = ask(address, posted, GET + b"\r\n", count=2)
    assert answer.startswith(b"HTTP/1.1 415")
    assert answer.count(b"HTTP/1.1 200") == 1  # on the same connection
    with connect(hasty) as connection:
        started = time.monotonic()
        connection.sendall(wrong + b"Content-Length: 999999999\r\n\r\n")
        with pytest.raises(ConnectionError):
            send_for(connection, PATIENCE)
        assert time.monotonic() - started > 0.9 * HASTE


# ---------------------------------------------------------------- offers and requests sent ahead


OFFER = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"


@pytest.mark.parametrize("step", [10_000, 7, 1])
@pytest.mark.parametrize(
    "body",
    [
        b"Content-Length: 5\r\n\r\nhello",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ],
    ids=["length", "chunks"],
)
def test_an_offer_of_h2c_is_passed_over(
    body: bytes, step: int, address: str, upstream: FakeUpstream
):
    """Java's client and Ktor make this offer with a POST. What follows on the connection is
    served."""
    raw = (POST + OFFER + body) * 2 + GET + OFFER + b"\r\n" + GET + b"\r\n"
    pieces = [raw[at : at + step] for at in range(0, len(raw), step)]
    answer = ask(address, *pieces, count=4, pause=0.0005)
    assert answer.count(b"HTTP/1.1 200") == 4
    assert [seen.body for seen in upstream.seen] == [b"hello", b"hello", b"", b""]
    assert not upstream.seen[0].header("upgrade")
    assert not upstream.seen[0].header("http2-settings")


def test_an_offer_of_websocket_is_passed_over(address: str, upstream: FakeUpstream):
    offer = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    answer = ask(address, GET + offer + b"Sec-WebSocket-Key: eA==\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")


def test_requests_sent_ahead_are_answered_in_turn(address: str, upstream: FakeUpstream):
    raw = b"".join(b"GET /v1/%d HTTP/1.1\r\n" % n + HOST + b"\r\n" for n in range(20))
    answer = ask(address, raw, count=20)
    assert answer.count(b"HTTP/1.1 200") == 20
    assert [seen.path for seen in upstream.seen] == [b"/up/v1/%d" % n for n in range(20)]


def test_too_many_requests_sent_ahead(address: str, upstream: FakeUpstream):
    answer, closed = talk(address, (GET + b"\r\n") * 5_000)
    assert closed
    assert answer.count(b"HTTP/1.1 200") <= MAX_QUEUED + 1


def test_nonsense_after_a_request_does_not_cost_its_answer(address: str, upstream: FakeUpstream):
    answer, closed = talk(address, GET + b"\r\nhello there\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.count(b"HTTP/1.1") == 1
    assert closed


def test_a_trailer_is_no_header(address: str, upstream: FakeUpstream):
    chunks = b"5\r\nhello\r\n0\r\nauthorization: Bearer x\r\n\r\n"
    answer = ask(address, POST + b"Transfer-Encoding: chunked\r\n\r\n", chunks)
    assert answer.startswith(b"HTTP/1.1 200")
    assert upstream.last.body == b"hello"
    assert not upstream.last.header("authorization")


@pytest.mark.parametrize("mode", ["script", "json"])
@pytest.mark.parametrize("more", [b"", b"Connection: keep-alive\r\n", b"Expect: 100-continue\r\n"])
def test_an_old_client_gets_neither_chunks_nor_an_interim_answer(
    mode: str, more: bytes, address: str, upstream: FakeUpstream
):
    """The end of the connection is the end of the answer."""
    upstream.mode, upstream.script = mode, [b"data: one\n\n", b"data: two\n\n"]
    head = b"POST /v1/files HTTP/1.0\r\nContent-Length: 5\r\n"
    answer, closed = talk(address, head + more + b"\r\nhello")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    assert b"connection: close" in head
    assert b"transfer-encoding" not in head
    assert body == (PLAIN_BYTES if mode == "json" else b"".join(upstream.script))
    assert closed


def test_the_address_that_a_peer_reports_is_not_its_own():
    async def told(scope: Scope, receive: Receive, send: Send) -> None:
        shown = PlainTextResponse(f"{scope['scheme']}://{scope['client'][0]}")
        await shown(scope, receive, send)

    reported = b"X-Forwarded-For: 203.0.113.7\r\nX-Forwarded-Proto: https\r\n"
    with running(told) as address:
        answer = ask(address, GET + reported + b"\r\n")
    assert answer.endswith(b"http://127.0.0.1")

"""Check what upstreams do wrong, one by one: the client gets exactly that, with memory as
without."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from memtree_proxy.server.app import create_app
from tests.http.chat.test_streaming import connection
from tests.http.served.fakes import dumps, services, turn
from tests.http.served.running import PATIENCE, refused_port, running
from tests.http.served.upstream import FakeUpstream, event

CHAT = "/v1/chat/completions"
SIDES = [{}, {"x-polychat-memory": "on"}]
WORDS = "こんにちは, naïve café 🎉"
USAGE = (
    b'data: {"id":"1","object":"chat.completion.chunk","choices":[],'
    b'"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}\n\n'
)
DONE = b"data: [DONE]\n\n"


def halves(text: str) -> list[bytes]:
    """Every byte a piece of its own: characters are torn apart."""
    raw = f"data: {json.dumps({'choices': [], 'x': text}, ensure_ascii=False)}\n\n".encode()
    return [raw[i : i + 1] for i in range(len(raw))]


STREAMS: dict[str, list[Any]] = {
    "well-formed": [event("one"), event("two"), DONE],
    "usage after a while": [event("one"), 0.2, USAGE, DONE],
    "usage after the end": [event("one"), DONE, USAGE],
    "characters torn apart": [*halves(WORDS), DONE],
    "events torn apart": [event("one")[:9], 0.05, event("one")[9:], DONE],
    "several events at once": [event("one") + event("two") + USAGE + DONE],
    "no end mark": [event("one")],
    "no data at all": [b""],
    "comments": [b": ping\n\n", 0.05, b": ping\n\n", event("one"), DONE],
    "windows lines": [event("one").replace(b"\n", b"\r\n"), DONE],
    "broken JSON": [b'data: {"choices": [\n\n', event("one"), DONE],
    "no SSE": [b"<html>oops</html>"],
    "no UTF-8": [b"data: \xff\xfe\x00\n\n", DONE],
    "an error in mid-stream": [event("one"), b'data: {"error": {"message": "died"}}\n\n', DONE],
    "an error at first": [b'data: {"error": {"message": "died", "code": 502}}\n\n', DONE],
    "silence in mid-stream": [event("one"), 0.5, event("two"), DONE],
    "one huge event": [b"data: " + b"x" * 3_000_000 + b"\n\n", DONE],
}


@pytest.fixture(scope="module")
def address(_upstream: tuple[FakeUpstream, str]) -> Iterator[str]:
    built = services(_upstream[1] + "/up/v1")
    with running(create_app(built), built.upstreams) as found:
        yield found


@pytest.mark.parametrize("headers", SIDES)
@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_comes_through_byte_for_byte(
    name: str, headers: dict[str, str], address: str, upstream: FakeUpstream
):
    upstream.mode, upstream.script = "script", STREAMS[name]
    answer = httpx.post(
        address + CHAT, json=turn(9, stream=True), headers=headers, timeout=PATIENCE
    )
    sent = b"".join(one for one in STREAMS[name] if isinstance(one, bytes))
    assert (answer.status_code, answer.content) == (200, sent)


@pytest.mark.parametrize("headers", SIDES)
@pytest.mark.parametrize("script", [
    [event("one"), "cut"], [event("one")[:12], "cut"], [event("one"), 0.2, "cut"],
    [b"data: {\"error\"", "cut"],
])  # fmt: skip
def test_a_cut_stream_is_cut_and_no_end_is_made_up(
    script: list[Any], headers: dict[str, str], address: str, upstream: FakeUpstream
):
    upstream.mode, upstream.script = "script", script
    got: list[bytes] = []
    posted = turn(9, stream=True)
    with (
        pytest.raises(httpx.RemoteProtocolError),
        httpx.stream(
            "POST", address + CHAT, json=posted, headers=headers, timeout=PATIENCE
        ) as answer,
    ):
        got.extend(answer.iter_raw())
    assert b"".join(got) == script[0]


@pytest.mark.parametrize("headers", SIDES)
@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502,
                                    503, 504, 529])  # fmt: skip
def test_an_error_comes_through_with_its_body_and_retry_after(
    status: int, headers: dict[str, str], address: str, upstream: FakeUpstream
):
    upstream.mode, upstream.status = "error", status
    for stream in (False, True):
        answer = httpx.post(
            address + CHAT, json=turn(9, stream=stream), headers=headers, timeout=PATIENCE
        )
        assert answer.status_code == status
        assert answer.content == b'{"error": {"message":"upstream says no",  "code":"x"}}'
        assert answer.headers["retry-after"] == "7"
    assert len(upstream.seen) == 2, "errors are the client's to retry"


@pytest.mark.parametrize("headers", SIDES)
def test_a_refused_connection_is_a_502(headers: dict[str, str]):
    built = services(f"http://127.0.0.1:{refused_port()}/v1")
    with running(create_app(built), built.upstreams) as address:
        answer = httpx.post(
            address + CHAT, json=turn(9, stream=True), headers=headers, timeout=PATIENCE
        )
    assert answer.status_code == 502
    assert answer.json()["error"]["code"] == "upstream_unreachable"


@pytest.mark.parametrize("headers", SIDES)
@pytest.mark.parametrize(
    "said", [b"", b"HTTP/1.1 200 OK\r\ncontent-le", b"SSH-2.0-OpenSSH_9.6\r\n"]
)
def test_an_upstream_that_does_not_answer_in_http_is_a_502(headers: dict[str, str], said: bytes):
    with blurting(said) as base:
        built = services(base)
        with running(create_app(built), built.upstreams) as address:
            answer = httpx.post(address + CHAT, json=turn(9), headers=headers, timeout=PATIENCE)
    assert answer.status_code == 502
    assert answer.json()["error"]["code"] == "upstream_unreachable"


@contextmanager
def blurting(said: bytes) -> Iterator[str]:
    """A server that reads something, says `said` to everybody, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    with client:
                        client.recv(100_000)
                        client.sendall(said)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(PATIENCE)


@pytest.mark.parametrize("headers", SIDES)
def test_silence_before_the_head_is_the_upstreams_and_ends_with_the_client(
    headers: dict[str, str], address: str, upstream: FakeUpstream
):
    upstream.mode = "hang"
    with connection(address, dumps(turn(9, stream=True)), headers=headers):
        assert upstream.reached.wait(PATIENCE)
    assert upstream.gone.wait(PATIENCE)


@pytest.mark.parametrize("headers", SIDES)
def test_silence_in_mid_stream_ends_with_the_client(
    headers: dict[str, str], address: str, upstream: FakeUpstream
):
    upstream.mode, upstream.script = "script", [event("one"), "hang"]
    with httpx.stream(
        "POST", address + CHAT, json=turn(9, stream=True), headers=headers, timeout=PATIENCE
    ) as answer:
        assert next(answer.iter_raw()) == event("one")
    assert upstream.gone.wait(PATIENCE)


@pytest.mark.parametrize("headers", SIDES)
def test_gzip_comes_through_as_it_is(headers: dict[str, str], address: str, upstream: FakeUpstream):
    upstream.mode = "gzip_sse"
    posted = {**headers, "accept-encoding": "gzip"}
    with httpx.stream(
        "POST", address + CHAT, json=turn(9, stream=True), headers=posted, timeout=PATIENCE
    ) as answer:
        raw = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == "gzip"
    assert raw == upstream.encoded
    assert gzip.decompress(raw).endswith(DONE)


@pytest.mark.slow
@pytest.mark.long
async def test_three_hundred_streams_at_once(address: str, upstream: FakeUpstream):
    """Each is whole and none waits for another: none ends before all have begun."""
    upstream.mode, upstream.script = "script", [event("one"), "together", event("two"), DONE]
    upstream.crowd = 300

    async def one(client: httpx.AsyncClient, headers: dict[str, str]) -> bytes:
        answer = await client.post(address + CHAT, json=turn(9, stream=True), headers=headers)
        return answer.content

    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=PATIENCE) as client:
        got = await asyncio.gather(*(one(client, SIDES[i % 2]) for i in range(300)))
    assert set(got) == {event("one") + event("two") + DONE}

"""Check what upstreams do wrong, one by one: the client gets exactly that, with memory as
without."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from memtree_proxy.server.app import create_app
from tests.http.served.fakes import services, turn
from tests.http.served.running import PATIENCE, running
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

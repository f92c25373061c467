"""Requests that wait for their tree, on real sockets and with a shortened clock.

Memory is let go by what the client was sent, never by a time: a busy machine may need as long as a
short pause lasts for anything.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import math
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from memtree.errors import ContextOverflow
from memtree.jobs.growing import StageOne
from memtree.ports.indexing_stages import Keep
from memtree.tree.extraction import Unsummarised
from memtree.tree.growth import GrownTree, Tail
from memtree.tree.node import Summary
from memtree_proxy.chat.keepalive import KeepalivePace
from memtree_proxy.server.app import create_app
from tests.http.chat.test_streaming import connection
from tests.http.served.fakes import FakeMemory, dumps, edge, real_memory, services, turn
from tests.http.served.running import PATIENCE, running, wait_for
from tests.http.served.upstream import PLAIN, PLAIN_BYTES, FakeUpstream, event
from tests.programs.sessions import chat

ON = {"x-polychat-memory": "on"}
CHAT = "/v1/chat/completions"
QUICK = KeepalivePace(quiet=0.05, beat=0.05)
BEAT = b": keep-alive\n\n"
TRIES = 50
STREAMED = event("one") + event("two") + event("three") + b"data: [DONE]\n\n"


class SlowBuilder:
    """Stage 1 that begins when it is let go. `runs`: how often it was begun."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.runs = 0
        self._builder = StageOne(child=False)

    def warm(self) -> None:
        pass

    async def grow(self, tail: Tail, size: int, keep: Keep | None = None) -> GrownTree:
        self.runs += 1
        await asyncio.to_thread(self.go.wait, PATIENCE)
        return await self._builder.grow(tail, size, keep)

    async def summaries(self, nodes: Unsummarised) -> list[Summary]:
        return await self._builder.summaries(nodes)


class Paused(FakeMemory):
    """Memory that has its answer once `signs` of life were sent to the client whom `watched` sees,
    and counts who was given up. `begun`: answers that began."""

    def __init__(self, signs: float = 1) -> None:
        super().__init__()
        self.given_up = self.begun = 0
        self.before = self._slowly
        self._signs, self._sent = signs, 0

    async def _slowly(self) -> None:
        self._sent = 0
        try:
            while self._sent < self._signs:  # noqa: ASYNC110  it may be another loop's
                await asyncio.sleep(0.001)
        except asyncio.CancelledError:
            self.given_up += 1
            raise

    def go_on(self) -> None:
        self._signs = 0

    def watched(self, app: Any) -> Any:
        """The app, with its answers seen."""

        async def seen(scope: Any, receive: Any, send: Any) -> None:
            async def sent(message: Any) -> None:
                await send(message)
                self.begun += message["type"] == "http.response.start"
                self._sent += bool(message.get("body"))

            await app(scope, receive, sent)

        return seen


NEVER = math.inf  # signs


class Sleeping(FakeMemory):
    """Memory that takes longer than `QUICK` is quiet, and no sign lets it go."""

    def __init__(self) -> None:
        super().__init__()
        self.before = lambda: asyncio.sleep(3 * QUICK.quiet)


@contextmanager
def proxy(base: str, memory: Any, pace: KeepalivePace = QUICK, **changes: Any) -> Iterator[str]:
    built = services(base, memory, pace=pace, **changes)
    app = create_app(built)
    watched = memory.watched(app) if isinstance(memory, Paused) else app
    with running(watched, built.upstreams) as address:
        yield address


def too_long() -> dict[str, Any]:
    """A history that does not fit its model without a tree."""
    asked = {"role": "user", "content": "what about the river?"}
    return {"model": "m", "messages": [*chat(200, words=100), asked], "model_context_limit": 15_000}


def test_a_stream_begins_at_once_and_shows_that_it_lives(base: str, upstream: FakeUpstream):
    upstream.mode = "sse"
    memory = Paused(NEVER)
    with proxy(base, memory) as address, httpx.stream(
        "POST", address + CHAT, json=turn(9, stream=True), headers=ON, timeout=PATIENCE
    ) as answer:  # fmt: skip
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/event-stream"
        got = b""
        for piece in answer.iter_raw():
            got += piece
            if got.count(BEAT) >= 3:
                memory.go_on()
    beats, _, rest = got.partition(b"data: ")
    assert set(beats.split(b"\n\n")) == {BEAT.strip(), b""}
    assert beats.count(BEAT) >= 3
    assert b"data: " + rest == STREAMED
    assert b"accept-encoding: identity" in headers_of(upstream)


def headers_of(upstream: FakeUpstream) -> bytes:
    return b"\n".join(name + b": " + value for name, value in upstream.last.headers)


def test_the_beats_go_on_while_the_upstream_is_silent(base: str, upstream: FakeUpstream):
    upstream.mode = "hang"
    with proxy(base, Paused()) as address, httpx.stream(
        "POST", address + CHAT, json=turn(9, stream=True), headers=ON, timeout=PATIENCE
    ) as answer:  # fmt: skip
        got = b""
        for piece in answer.iter_raw():
            got += piece
            if upstream.reached.is_set() and got.count(BEAT) > 8:
                break
    assert upstream.gone.wait(PATIENCE)


@pytest.mark.parametrize(
    ("mode", "status", "wanted"),
    [
        ("error", 429, {"message": "upstream says no", "code": "x"}),
        ("error", 500, {"message": "upstream says no", "code": "x"}),
        ("json", 200, {"message": "The upstream answered with status 200."}),
        ("not_modified", 304, {"message": "The upstream answered with status 304."}),
    ],
)
def test_an_error_after_the_beginning_is_an_event(
    mode: str, status: int, wanted: dict[str, Any], base: str, upstream: FakeUpstream
):
    upstream.mode, upstream.status = mode, status
    with proxy(base, Paused()) as address:
        answer = httpx.post(address + CHAT, json=turn(9, stream=True), headers=ON, timeout=PATIENCE)
    error = error_of(answer.content)
    assert {name: error[name] for name in wanted} == wanted


def error_of(streamed: bytes) -> Any:
    event_, done, end = streamed.replace(BEAT, b"").split(b"\n\n")
    assert (done, end) == (b"data: [DONE]", b"")
    return json.loads(event_.removeprefix(b"data: "))["error"]


def test_an_overflow_after_the_beginning_is_an_event(base: str, upstream: FakeUpstream):
    class Overflowing(Paused):
        async def _slowly(self) -> None:
            await super()._slowly()
            raise ContextOverflow(128_000, 200_000)

    with proxy(base, Overflowing()) as address:
        answer = httpx.post(address + CHAT, json=turn(9, stream=True), headers=ON, timeout=PATIENCE)
    error = error_of(answer.content)
    assert error["code"] == "context_length_exceeded"
    assert "maximum context length is 128000 tokens" in error["message"]
    assert not upstream.seen


def test_an_unreachable_upstream_after_the_beginning_is_an_event(upstream: FakeUpstream):
    with proxy("http://127.0.0.1:9/v1", Paused()) as address:
        answer = httpx.post(address + CHAT, json=turn(9, stream=True), headers=ON, timeout=PATIENCE)
    assert error_of(answer.content)["code"] == "upstream_unreachable"


@pytest.mark.parametrize("stream", [True, False])
def test_an_encoded_answer_after_the_beginning_is_decoded(
    stream: bool, base: str, upstream: FakeUpstream
):
    upstream.mode = "gzip_sse" if stream else "gzip"
    with proxy(base, Paused(), json_wait="spaces") as address:
        answer = httpx.post(
            address + CHAT, json=turn(9, stream=stream), headers=ON, timeout=PATIENCE
        )
    assert "content-encoding" not in answer.headers
    if stream:
        assert answer.content.replace(BEAT, b"") == gzip.decompress(upstream.encoded)
    else:
        assert answer.json() == PLAIN


def test_json_waits_in_silence(base: str, upstream: FakeUpstream):
    with proxy(base, Sleeping()) as address:
        answer = httpx.post(address + CHAT, json=turn(9), headers=ON, timeout=PATIENCE)
    assert (answer.status_code, answer.content) == (200, PLAIN_BYTES)
    assert answer.headers["x-memtree-state"] == "packed"


def test_json_may_wait_with_spaces(base: str, upstream: FakeUpstream):
    with proxy(base, Paused(3), json_wait="spaces") as address:
        answer = httpx.post(address + CHAT, json=turn(9), headers=ON, timeout=PATIENCE)
        assert answer.content.startswith(b"   ")
        assert answer.json() == PLAIN
        upstream.mode = "error"
        failed = httpx.post(address + CHAT, json=turn(9), headers=ON, timeout=PATIENCE)
    assert (failed.status_code, failed.json()["error"]["message"]) == (200, "upstream says no")


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_hangs_up_is_not_worked_for(base: str, upstream: FakeUpstream, stream: bool):
    memory = Paused(NEVER)
    with proxy(base, memory) as address:
        with connection(address, dumps(turn(9, stream=stream))):
            wait_for(lambda: memory.asks)
            if stream:
                wait_for(lambda: memory.begun)
        wait_for(lambda: memory.given_up)
    assert not upstream.seen


def test_only_so_many_requests_of_a_tenant_wait(base: str, upstream: FakeUpstream):
    class Picky(FakeMemory):
        """The first asker waits for `go`, the others for longer than they may uncounted."""

        def __init__(self) -> None:
            super().__init__()
            self.go = threading.Event()
            self.before = self._slowly

        async def _slowly(self) -> None:
            if len(self.asks) == 1:
                await asyncio.to_thread(self.go.wait, PATIENCE)
            else:
                await asyncio.sleep(3 * QUICK.quiet)

    def post(address: str, key: str) -> httpx.Response:
        headers = {**ON, "authorization": f"Bearer {key}"}
        return httpx.post(address + CHAT, json=turn(9), headers=headers, timeout=PATIENCE)

    def waiting(address: str) -> bool:
        return "memtree_requests_waiting 1.0" in httpx.get(address + "/metrics", timeout=None).text

    memory = Picky()
    with proxy(base, memory, max_waits=1) as address, ThreadPoolExecutor(1) as beside:
        first = beside.submit(post, address, "a")
        wait_for(lambda: waiting(address))
        # Whoever is quick is not counted: on a busy machine such a one may be.
        for _ in range(TRIES):
            if (refused := post(address, "a")).status_code != 200:
                break
        other = post(address, "b")
        memory.go.set()
        assert first.result().status_code == 200
        assert post(address, "a").status_code == 200
    assert (refused.status_code, other.status_code) == (429, 200)
    assert int(refused.headers["retry-after"]) > 0
    assert refused.json()["error"]["code"] == "rate_limit_exceeded"


def test_a_tree_that_is_being_built_is_waited_for_and_a_retry_is_sent_the_same(
    base: str, upstream: FakeUpstream
):
    builder = SlowBuilder()
    posted = {**too_long(), "stream": True}
    upstream.mode = "sse"
    with (
        proxy(base, real_memory(builder)) as address,
        httpx.Client(timeout=PATIENCE, headers=ON) as client,
        client.stream("POST", address + CHAT, json=posted) as first,
        client.stream("POST", address + CHAT, json=posted) as second,
    ):
        # Both have their status: they wait.
        assert not upstream.seen
        builder.go.set()
        answers = [first.read(), second.read()]
    assert [answer.replace(BEAT, b"") for answer in answers] == [STREAMED, STREAMED]
    sent = [json.loads(seen.body)["messages"] for seen in upstream.seen]
    assert sent[0] == sent[1]
    assert "\n[...]\n" not in sent[0][0]["content"]


async def test_after_the_longest_wait_older_rounds_decay(base: str, upstream: FakeUpstream):
    builder = SlowBuilder()
    async with edge(base, real_memory(builder), wait_seconds=1) as client:
        answer = await client.post(CHAT, json=too_long(), headers=ON)
    builder.go.set()
    assert answer.headers["x-memtree-state"] == "degraded:indexing"
    assert json.loads(upstream.last.body)["messages"][-1] == too_long()["messages"][-1]


def test_a_place_is_free_again_while_the_answer_still_streams(base: str, upstream: FakeUpstream):
    upstream.mode = "slow_sse"
    with proxy(base, Sleeping(), max_waits=1) as address, ticking(address), ticking(address):
        assert len(upstream.seen) == 2


@contextmanager
def ticking(address: str) -> Iterator[None]:
    """A stream that has begun and goes on."""
    with httpx.stream(
        "POST", address + CHAT, json=turn(9, stream=True), headers=ON, timeout=PATIENCE
    ) as answer:
        assert answer.status_code == 200
        assert any(b"tick" in piece for piece in answer.iter_raw())
        yield

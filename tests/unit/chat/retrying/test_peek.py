"""The beginning of a stream, looked at before any of it goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from memtree.config import Settings
from memtree_proxy.chat.retrying.peek import MOST_KEPT, FirstEventReply, WatchedReply
from memtree_proxy.dialects.anthropic_messages.errors import MessagesErrors
from memtree_proxy.dialects.chat_dialect import ChatDialect
from memtree_proxy.dialects.openai_responses.errors import ResponsesErrors
from memtree_proxy.http.headers import Headers

CREATED = b'event: response.created\ndata: {"type":"response.created"}\n\n'
FAILED = b'event: response.failed\ndata: {"type":"response.failed","response":{}}\n\n'
DELTA = b'event: x\ndata: {"type":"response.output_text.delta","delta":"a"}\n\n'
PING = b'event: ping\ndata: {"type": "ping"}\n\n'
ERROR = b'event: error\ndata: {"type":"error","error":{"type":"invalid_request_error"}}\n\n'
BLOCK = b'event: x\ndata: {"type":"content_block_start"}\n\n'
START = b'event: message_start\ndata: {"type":"message_start"}\n\n'


SSE: Headers = [(b"content-type", b"text/event-stream")]
JSON: Headers = [(b"content-type", b"application/json")]


class Chunks:
    """A reply of these chunks."""

    status = 200

    def __init__(self, *chunks: bytes) -> None:
        self.parts = chunks
        self.closed = False
        self.headers: Headers = SSE

    async def chunks(self) -> AsyncIterator[bytes]:
        for chunk in self.parts:
            yield chunk

    def close(self) -> None:
        self.closed = True


class Instead:
    """Another stream in the place of one that begins with an error; `seen`: that beginning."""

    def __init__(self, *chunks: bytes) -> None:
        self.other = Chunks(*chunks) if chunks else None
        self.seen: list[bytes] = []

    async def __call__(self, beginning: bytes) -> Chunks | None:
        self.seen.append(beginning)
        return self.other


async def got(reply: FirstEventReply | WatchedReply) -> list[bytes]:
    return [chunk async for chunk in reply.chunks()]


async def test_what_begins_an_answer_is_kept_back_until_it_is_no_error():
    instead = Instead(b"other")
    first = Chunks(PING, CREATED, DELTA, DELTA)
    reply = FirstEventReply(first, ResponsesErrors().first_error, instead)
    assert await got(reply) == [PING, CREATED + DELTA, DELTA]
    assert instead.seen == []


@pytest.mark.parametrize("step", [1, 7, 1_000])
async def test_an_error_is_replaced_however_it_is_cut_up(step: int):
    raw = b": alive\n\n" + PING + CREATED + FAILED
    instead = Instead(b"other ", b"stream")
    first = Chunks(*(raw[at : at + step] for at in range(0, len(raw), step)))
    reply = FirstEventReply(first, ResponsesErrors().first_error, instead)
    shown = b"".join(await got(reply))
    alive = b"" if step == 1_000 else b": alive\n\n" + PING
    assert shown == alive + b"other stream"
    assert first.closed


async def test_where_there_is_no_other_the_first_goes_on():
    reply = FirstEventReply(Chunks(PING, ERROR), MessagesErrors().first_error, Instead())
    assert await got(reply) == [PING, ERROR]


async def test_a_ping_decides_nothing():
    instead = Instead(b"other")
    reply = FirstEventReply(Chunks(b": a\n\n", PING, ERROR), MessagesErrors().first_error, instead)
    assert await got(reply) == [b": a\n\n", PING, b"other"]
    assert instead.seen == [ERROR]
    begun = FirstEventReply(Chunks(PING + START, ERROR), MessagesErrors().first_error, instead)
    assert await got(begun) == [PING, b"other"]
    fine = FirstEventReply(Chunks(START, BLOCK, ERROR), MessagesErrors().first_error, instead)
    assert await got(fine) == [START + BLOCK, ERROR]


async def test_a_chat_goes_on_with_its_first_data():
    errors = ChatDialect(Settings()).errors
    role = b'data: {"choices": [{"delta": {"role": "assistant", "content": ""}}]}\n\n'
    wrong = b'data: {"error": 1}\n\n'

    async def shown(*chunks: bytes, headers: Headers = SSE) -> list[bytes]:
        reply = Chunks(*chunks)
        reply.headers = headers
        return await got(FirstEventReply(reply, errors.first_error, Instead(b"other")))

    assert await shown(b": a\n\n", b"data: {", b'"error": 1}') == [b": a\n\n", b"other"]
    assert await shown(role, wrong) == [b"other"]
    assert await shown(b'{"error": 1}') == [b"other"]
    assert await shown(role, b": alive\n\n", wrong) == [role + b": alive\n\n", wrong]
    said = b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'
    assert await shown(role, said, wrong) == [role + said, wrong]
    assert await shown(b"  ", b'{"er', b'ror": 1}', headers=JSON) == [b"  ", b"other"]
    assert await shown(b'{"choices": [', b"{}]}", headers=JSON) == [b'{"choices": [{}]}']
    assert await shown(b'{"choices": [', headers=JSON) == [b'{"choices": [']


async def test_a_long_beginning_is_not_kept_for_ever():
    head = CREATED[:-3] + b" " * MOST_KEPT
    reply = FirstEventReply(
        Chunks(head, b"}\n\n", FAILED), ResponsesErrors().first_error, Instead()
    )
    assert await got(reply) == [head, b"}\n\n", FAILED]


@pytest.mark.parametrize("step", [1_000, 20_000, 1_000_000])
async def test_an_error_behind_a_repeated_request_is_found(step: int):
    echo = b'data: {"type":"response.created","response":{"instructions":"' + b"a" * 50_000
    raw = (echo + b'"}}\n\n') * 2 + FAILED
    instead = Instead(b"other")
    first = Chunks(*(raw[at : at + step] for at in range(0, len(raw), step)))
    reply = FirstEventReply(first, ResponsesErrors().first_error, instead)
    assert await got(reply) == [b"other"]
    assert instead.seen == [FAILED]


async def test_a_stream_that_ends_in_its_beginning_is_whole():
    reply = FirstEventReply(Chunks(CREATED), ResponsesErrors().first_error, Instead(b"other"))
    assert await got(reply) == [CREATED]


@pytest.mark.parametrize(
    ("headers", "raw", "accepts"),
    [
        (SSE, PING + CREATED + DELTA, True),
        (SSE, PING + CREATED + FAILED, False),
        (SSE, PING + CREATED, False),
        (SSE, CREATED[:-2] + b" " * MOST_KEPT, True),
        (JSON, b'{"output": [{"id": {}}], "error": null}\n', True),
        (JSON, b'{"error": {"message": "prompt is too long"}}', False),
        (JSON, b'{"output": "' + b"x" * 20_000, True),
        (JSON, b'{"output": "', False),
        (JSON, b"gateway}", False),
        ([*JSON, (b"content-encoding", b"zstd")], b'{"output": []}', False),
    ],
)
@pytest.mark.parametrize("step", [1, 7, 1_000_000])
async def test_a_reply_is_relayed_and_accepted_if_it_is_no_error(
    headers: Headers, raw: bytes, accepts: bool, step: int
):
    step = max(step, len(raw) // 1_000)
    first = Chunks(*(raw[at : at + step] for at in range(0, len(raw), step)))
    first.headers = headers
    accepted: list[bool] = []
    reply = WatchedReply(first, ResponsesErrors().first_error, lambda: accepted.append(True))
    assert await got(reply) == list(first.parts)
    assert accepted == [True] * accepts

"""Ids of objects at the provider: read out of requests and answers, whatever shape these have."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.errors import BadRequest
from memtree.wire.json_body import split
from memtree_proxy.upstream import server_key
from memtree_proxy.upstream.server_key import MadeIds
from tests.hostile_texts import hostile
from tests.hostile_texts.linear_time import Subject, slow

EVENTS: list[Any] = [
    {"type": "response.created", "response": {"id": "resp_1", "output": []}},
    {"type": "response.output_item.done", "item": {"id": "ci_1", "container_id": "cntr_1"}},
    {"type": "response.output_text.annotation.added", "annotation": {
        "type": "container_file_citation", "file_id": "cfile_1", "container_id": "cntr_1"}},
    {"type": "message_delta", "delta": {"container": {"id": "container_2"}}},
    {"type": "content_block_start", "content_block": {"type": "code_execution_tool_result",
        "content": {"content": [{"type": "code_execution_output", "file_id": "file_2"}]}}},
    {"choices": [{"delta": {"audio": {"id": "audio_1", "data": "AAAA"}}}]},
]  # fmt: skip
TOLD = {"cntr_1", "cfile_1", "container_2", "file_2", "audio_1"}
KEPT = {"resp_1", "ci_1"}
FORGED: list[Any] = [
    {"object": "response", "metadata": {"id": "x", "file_id": "x", "container": {"id": "x"}}},
    {"response": {"tools": [{"file_id": "x"}], "previous_response_id": "x", "text": {"id": "x"}}},
    {"item": {"type": "function_call", "arguments": '{"id": "x"}', "call_id": "x"}},
    {"item": {"type": "mcp_list_tools", "tools": [{"input_schema": {"file_id": "x"}}]}},
    {"content_block": {"type": "tool_use", "input": {"type": "code_execution_output",
        "file_id": "x", "audio": {"id": "x"}}}},
    {"delta": 'data: {"id": "x"}\n\ndata: {"response": {"id": "x"}}'},
    {"output": "x", "content": "x", "choices": 7, "item": ["x"], "container": "x", "id": 1},
    {"id": "x" * 1000}, {"id": ""}, {"id": ["x"]}, [{"id": "x"}], None, "x",
]  # fmt: skip


def stream(*events: Any) -> bytes:
    lines = (b"event: e\ndata: " + json.dumps(each).encode() + b"\n\n" for each in events)
    return b": hello\n\n" + b"".join(lines) + b"data: [DONE]\n\n"


def told(answer: bytes, size: int, *, events: bool, kept: bool = True) -> set[str]:
    made = MadeIds(events=events, encoding="", kept=kept)
    found: set[str] = set()
    for at in range(0, len(answer), size):
        found |= made.feed(answer[at : at + size])
    return found | made.end()


@pytest.mark.parametrize("size", [1, 2, 3, 50, 10_000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_stream_tells_its_ids_however_it_is_cut(size: int, end: bytes):
    answer = stream(*EVENTS).replace(b"\n", end)
    assert told(answer, size, events=True) == TOLD | KEPT
    assert told(answer, size, events=True, kept=False) == TOLD


@pytest.mark.parametrize("event", FORGED)
def test_what_others_wrote_into_an_answer_is_no_id(event: Any):
    assert told(stream(event), 7, events=True) == set()
    assert told(json.dumps(event).encode(), 7, events=False) == set()


@pytest.mark.parametrize("events", [False, True])
def test_what_is_no_json_tells_nothing(events: bool):
    deep = b'{"item":' * 100_000
    for answer in (
        b"",
        b"\n",
        b"data:\n",
        b"\xff\xfe\n",
        b"data: {\n",
        deep,
        b"data:" + deep + b"\n",
    ):
        assert told(answer, 100, events=events) == set()


def test_a_very_long_answer_tells_its_own_id(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(server_key, "MOST_BYTES", 1_000)
    monkeypatch.setattr(server_key, "MOST_EVENT", 1_000)
    long = {"id": "resp_1", "output": [{"id": "ig_1", "result": "A" * 2_000}]}
    assert told(json.dumps(long).encode(), 64, events=False) == {"resp_1"}
    answer = stream({"response": {"id": "resp_1"}}, long, {"item": {"id": "msg_1"}})
    assert told(answer, 64, events=True) == {"resp_1", "msg_1"}


def test_an_unknown_or_broken_encoding_tells_nothing():
    for encoding in ("br", "gzip"):
        made = MadeIds(events=False, encoding=encoding, kept=True)
        assert made.feed(b'{"id":"x"}') | made.feed(b"more") | made.end() == set()


def subject(made: Any) -> Subject:
    return Subject(
        lambda raw: server_key.named(split(raw)), lambda text: json.dumps(made(text)).encode()
    )


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    "subject",
    [
        subject(lambda text: {"input": text, "id": "x"}),
        subject(lambda text: {"input": [{"id": each, text: 1} for each in text[:9]]}),
        subject(lambda text: {"input": [{"file_id": each} for each in text]}),
        Subject(
            lambda raw: server_key.named(split(raw)),
            lambda text: b'{"x":"%b","id\\u0061":1}' % (b'\\"' * len(text)),
        ),
        Subject(lambda text: told(stream({"delta": text}), 64, events=True), hostile.as_it_is),
        Subject(lambda text: told(text.encode() * 2, 64, events=True), hostile.as_it_is),
    ],
)  # fmt: skip
def test_reading_takes_time_in_proportion(subject: Subject):
    def work(made: Any) -> None:
        try:
            subject.work(made)
        except BadRequest:
            pass

    assert (
        list(slow(Subject(work, subject.made), hostile.shapes('"id":', '\\"', "{"), 1 << 15)) == []
    )

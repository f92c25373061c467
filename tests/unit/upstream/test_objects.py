"""Objects at the provider, whose they are, and which upstream a request goes to."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Collection
from typing import Any

import pytest

from memtree.config import DEFAULT_UPSTREAM, Settings
from memtree.errors import BadRequest, NoUpstream, StoreUnavailable
from memtree.history.json_body import split
from memtree_proxy.upstream import server_key
from memtree_proxy.upstream.server_key import KEPT_SECONDS, MadeIds, OwnObjects, digest_of
from memtree_proxy.upstream.upstreams import ANTHROPIC, Upstreams, anthropic_base, is_for_anthropic
from tests.hostile_texts import hostile
from tests.hostile_texts.linear_time import Subject, slow

# ------------------------------------------------------------------------------------------------
# Ids of objects at the provider: read out of requests and answers, whatever shape these have.


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
        Subject(lambda text: told(stream({"delta": text}), 64, events=True)),
        Subject(lambda text: told(text.encode() * 2, 64, events=True)),
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


# ------------------------------------------------------------------------------------------------
# Check what a tenant made: known at once, written behind the request, and again where that failed.


class Kept:
    """`ProviderObjects` in a dict; while `closed` nothing gets in, and `failing` says so."""

    def __init__(self) -> None:
        self.rows: dict[bytes, float] = {}
        self.failing = False
        self.writes = self.reads = 0
        self.opened = asyncio.Event()
        self.opened.set()

    async def put_objects(self, digests: Collection[bytes], expires: float) -> None:
        self.writes += 1
        await self.opened.wait()
        if self.failing:
            self.failing = False
            raise StoreUnavailable("full")
        self.rows |= dict.fromkeys(digests, expires)

    async def known_objects(self, digests: Collection[bytes]) -> set[bytes]:
        self.reads += 1
        return set(digests) & self.rows.keys()


async def test_it_is_known_before_it_is_written():
    store = Kept()
    store.opened.clear()
    objects = OwnObjects(store, lambda: 100.0, look_again=0)
    objects.made("ann", {"file-1"})
    assert await objects.all_of("ann", {"file-1"})
    assert not await objects.all_of("bob", {"file-1"})
    assert not await objects.all_of("ann", {"file-1", "file-2"})
    assert store.rows == {}
    store.opened.set()
    await objects.close()
    assert store.rows == {digest_of("ann", "file-1"): 100.0 + KEPT_SECONDS}


async def test_when_its_time_is_over_the_store_alone_knows():
    now, store = [0.0], Kept()
    objects = OwnObjects(store, lambda: now[0], look_again=0)
    objects.made("ann", {"file-1"})
    now[0] = KEPT_SECONDS - 1
    assert await objects.all_of("ann", {"file-1"})
    assert store.reads == 0
    await objects.close()
    now[0], store.rows = KEPT_SECONDS, {}
    assert not await objects.all_of("ann", {"file-1"})
    assert store.reads == 1


async def test_a_write_that_failed_is_made_again(caplog: pytest.LogCaptureFixture):
    store = Kept()
    store.failing = True
    objects = OwnObjects(store, pace=0)
    objects.made("ann", {"file-1"})
    await objects.close()
    assert (store.writes, len(store.rows)) == (2, 1)
    assert "objects.unwritten code=store_unavailable" in caplog.text
    assert "file-1" not in caplog.text


async def test_many_are_written_together_and_none_twice():
    store = Kept()
    objects = OwnObjects(store)
    objects.made("ann", {f"file-{n}" for n in range(500)})
    objects.made("ann", {"file-1"})
    await objects.close()
    objects.made("ann", {"file-1", "file-2"})
    await objects.close()
    assert (store.writes, len(store.rows)) == (1, 500)


async def test_what_another_process_is_just_writing_is_asked_for_once_more():
    store = Kept()
    other = OwnObjects(store, look_again=0.001)
    asked = asyncio.create_task(other.all_of("ann", {"file-1"}))
    while not store.reads:  # noqa: ASYNC110
        await asyncio.sleep(0)
    store.rows[digest_of("ann", "file-1")] = 9e9
    assert await asked


async def test_a_stop_says_what_is_lost(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("memtree_proxy.upstream.server_key.PATIENCE", 0.001)
    caplog.set_level(logging.WARNING)
    store = Kept()
    store.opened.clear()
    objects = OwnObjects(store)
    objects.made("ann", {"file-1"})
    await objects.close()
    assert "objects.lost number=1" in caplog.text


def test_a_digest_is_of_one_tenant_and_one_id():
    pairs = [("a", "bc"), ("ab", "c"), ("abc", ""), ("", "abc"), ("1:a", "b"), ("é", "\ud800")]
    assert len({digest_of(*pair) for pair in pairs}) == len(pairs)


# ------------------------------------------------------------------------------------------------
# Each request goes to the upstream of its API, and no key goes to the other's address.


OWN = "http://127.0.0.1:11434/v1"
VERSION = {"anthropic-version": "2023-06-01"}


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ({}, ANTHROPIC),
        ({"upstream": OWN}, OWN),
        ({"upstream": None}, None),
        ({"anthropic_upstream": None}, None),
        ({"upstream": OWN, "anthropic_upstream": None}, None),
        ({"upstream": OWN, "anthropic_upstream": "http://a.example"}, "http://a.example/v1"),
        ({"upstream": None, "anthropic_upstream": "http://a.example/v1"}, "http://a.example/v1"),
        ({"anthropic_upstream": "https://a.example/api/anthropic/"}, "https://a.example/api/anthropic/v1"),
    ],
)  # fmt: skip
def test_the_vendors_address_only_beside_the_other_vendors(given: dict[str, Any], base: str | None):
    assert anthropic_base(Settings(**given)) == base


@pytest.mark.parametrize(
    ("path", "headers", "theirs"),
    [
        ("/v1/messages", {}, True),
        ("/messages", {}, True),
        ("/api/v1/messages/batches/b_1/results", {}, True),
        ("/v1/messages/count_tokens", {}, True),
        ("/v1/models", VERSION, True),
        ("/v1/files/f_1/content", VERSION, True),
        ("/v1/models", {}, False),
        ("/v1/files", {}, False),
        ("/v1/chat/completions", VERSION, False),
        ("/v1/responses", VERSION, False),
        ("/v1/messagesque", {}, False),
        ("/v1/threads/t/messages", {}, False),
        ("/", VERSION, False),
    ],
)
def test_the_api_of_a_request(path: str, headers: dict[str, str], theirs: bool):
    assert is_for_anthropic(path, headers) is theirs


async def test_each_has_its_own_key_in_its_own_header():
    settings = Settings(
        upstream=OWN,
        upstream_api_key="sk-open",
        anthropic_upstream="http://a.example",
        anthropic_upstream_api_key="sk-ant",
    )
    both = Upstreams.of_settings(settings)
    assert both.of("/v1/messages", {})[1:] == ("sk-ant", b"x-api-key")
    assert both.of("/api/hello", {})[1:] == ("sk-ant", b"x-api-key")
    assert both.of("/v1/chat/completions", {})[1:] == ("sk-open", b"authorization")
    assert both.of("/v1/responses", {})[1:] == ("sk-open", b"authorization")
    await both.close()


async def test_one_upstream_for_both_gets_its_own_key_alone():
    settings = Settings(upstream=OWN, upstream_api_key=None, anthropic_upstream_api_key="sk-ant")
    one = Upstreams.of_settings(settings)
    assert one.of("/v1/messages", {}) == one.of("/v1/chat/completions", {})
    assert one.of("/v1/messages", {}).api_key is None
    assert one.of("/api/hello", {}) == one.of("/v1/models", {})
    await one.close()


@pytest.mark.parametrize(
    ("given", "path", "named"),
    [
        ({"upstream": None}, "/v1/chat/completions", "--upstream"),
        ({"upstream": None}, "/v1/messages", "--anthropic-upstream"),
        ({"anthropic_upstream": None}, "/v1/messages", "MEMTREE_ANTHROPIC_UPSTREAM"),
        ({"anthropic_upstream": None}, "/v1/models", None),
    ],
)
async def test_what_is_not_there_is_named(given: dict[str, Any], path: str, named: str | None):
    some = Upstreams.of_settings(Settings(**given))
    if named is None:
        assert some.of(path, {}) == some.openai
    else:
        with pytest.raises(NoUpstream, match=named):
            some.of(path, {})
    await some.close()


@pytest.mark.parametrize("url", ["http://", "http://u:p@a.example", "http://a.example?key=1"])
def test_an_address_that_is_none_names_its_setting(url: str):
    with pytest.raises(BadRequest) as raised:
        Upstreams.of_settings(Settings(anthropic_upstream=url))
    assert raised.value.param == "anthropic_upstream"


def test_the_default_is_the_vendors():
    assert Settings().upstream == DEFAULT_UPSTREAM

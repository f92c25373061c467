"""The chat routes: the bytes that reach the upstream, and what the client is told; what a client
asks for itself goes through untouched where it fits."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from typing import Any

import pytest

from memtree.errors import ContextOverflow, StoreUnavailable
from tests.http.served.fakes import MEMORY_MESSAGE, FakeMemory, dumps, edge, raising, turn
from tests.http.served.running import refused_port
from tests.http.served.upstream import PLAIN, PLAIN_BYTES, FakeUpstream
from tests.properties.process import World, assistant, story, user

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ON = {"x-polychat-memory": "on"}
ROUTES = [prefix + path for path in ("/chat/completions", "/chat_completions") for prefix in
          ("", "/v1", "/api", "/api/v1")]  # fmt: skip
ODD = b'{ "model" : "m\\u0041", "messages":[ {"role":"user","content":"hi"} ] ,"x":1.0e1, "n":null}'


def memtree_headers(answer: Any) -> dict[str, str]:
    return {
        name.removeprefix("x-memtree-"): value
        for name, value in answer.headers.items()
        if name.startswith("x-memtree-")
    }


@pytest.mark.parametrize("route", ROUTES)
async def test_every_route_reaches_the_upstream(route: str, base: str, upstream: FakeUpstream):
    async with edge(base) as client:
        answer = await client.post(route + "?a=b%20c", content=ODD)
    assert answer.content == PLAIN_BYTES
    assert (upstream.last.path, upstream.last.query) == (b"/up/v1/chat/completions", b"a=b%20c")


async def test_memory_off_sends_identical_bytes(base: str, upstream: FakeUpstream):
    async with edge(base) as client:
        answer = await client.post("/v1/chat/completions", content=ODD)
    assert upstream.last.body == ODD
    assert upstream.last.header("content-length") == [str(len(ODD))]
    assert memtree_headers(answer).keys() == {"state", "ms", "request", "request-id"}
    assert answer.headers["x-memtree-state"] == "off"


async def test_below_threshold_sends_identical_bytes(base: str, upstream: FakeUpstream):
    async with edge(base) as client:
        answer = await client.post("/v1/chat/completions", content=ODD, headers=ON)
    assert upstream.last.body == ODD
    told = memtree_headers(answer)
    assert told["state"] == "below-threshold"
    assert told["raw-tokens"] == told["sent-tokens"]
    assert bytes.fromhex(told["address"])


async def test_memory_on_changes_the_messages_and_nothing_else(base: str, upstream: FakeUpstream):
    messages = json.dumps(turn(9)["messages"])
    posted = ODD.replace(b'[ {"role":"user","content":"hi"} ]', messages.encode())
    async with edge(base) as client:
        answer = await client.post("/v1/chat/completions", content=posted, headers=ON)
    sent = json.loads(upstream.last.body)["messages"]
    assert sent[0] == {"role": "system", "content": "be brief"}
    assert sent[1] == {"role": "system", "content": "in the middle"}
    assert sent[2] == json.loads(MEMORY_MESSAGE)
    assert sent[3:] == [{"role": "user", "content": "message 8"}]
    before, _, after = upstream.last.body.partition(b'"messages":[')
    assert before == b'{ "model" : "m\\u0041", '
    assert after.endswith(b'] ,"x":1.0e1, "n":null}')
    told = memtree_headers(answer)
    assert (told["state"], told["sent-tokens"]) == ("packed", "20")
    assert answer.json() == PLAIN


async def test_own_fields_and_suffix_are_taken_out(base: str, upstream: FakeUpstream):
    own = {"memory": True, "target_tokens": 5_000, "mode": "fresh", "rag_options": {}}
    for count in (1, 9):
        posted = turn(count, **own, temperature=0.5)
        posted["model"] = "gpt-4o:online:memory-90"
        memory = FakeMemory()
        async with edge(base, memory) as client:
            await client.post("/v1/chat/completions", json=posted)
        sent = json.loads(upstream.last.body)
        assert list(sent) == ["model", "messages", "temperature"]
        assert sent["model"] == "gpt-4o:online"
        assert (memory.asks[0].expiration_days, memory.asks[0].target) == (90, 5_000)
        assert not memory.asks[0].hard


async def test_own_fields_go_out_with_memory_off(base: str, upstream: FakeUpstream):
    memory = FakeMemory()
    posted = b'{"memory":false, "model":"m:memory","messages":1, "mode":"fresh"}'
    async with edge(base, memory) as client:
        answer = await client.post("/v1/chat/completions", content=posted, headers=ON)
    assert upstream.last.body == b'{"model":"m","messages":1}'
    assert not memory.asks
    assert answer.headers["x-memtree-state"] == "off"


UNREADABLE = [
    b"",
    b"not json",
    b'{"messages":[{"role":"user","content":"\xff"}]}',
    b'{"messages":[]}',
    b'{"model":"m"}',
    b'{"messages":[{"role":"user","content":"a"}],"messages":[]}',
    b'{"messages":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
]


@pytest.mark.parametrize("raw", UNREADABLE)
async def test_a_history_that_cannot_be_read_goes_on_as_it_came(
    raw: bytes, base: str, upstream: FakeUpstream
):
    async with edge(base) as client:
        answer = await client.post("/chat/completions", content=raw, headers=ON)
        assert answer.headers["x-memtree-state"] == "degraded:invalid-history"
        plain = await client.post("/chat/completions", content=raw)
        assert plain.headers["x-memtree-state"] == "off"
    assert [seen.body for seen in upstream.seen] == [raw, raw]


@pytest.mark.parametrize(
    ("name", "encode"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("zstd", zstd.compress)],
)
async def test_a_compressed_body_has_memory(
    name: str, encode: Any, base: str, upstream: FakeUpstream
):
    headers = {**ON, "content-encoding": name}
    async with edge(base) as client:
        answer = await client.post(
            "/chat/completions", content=encode(dumps(turn(9))), headers=headers
        )
        assert answer.headers["x-memtree-state"] == "packed"
        assert MEMORY_MESSAGE in upstream.last.body
        assert upstream.last.header("content-encoding") == []
        # Where nothing is changed, not a byte of the encoded body is.
        short = encode(dumps(turn(1)))
        await client.post("/chat/completions", content=short, headers=headers)
        assert upstream.last.body == short
        assert upstream.last.header("content-encoding") == [name]


@pytest.mark.parametrize(
    ("raw", "encoding"), [(b"anything", "br"), (b"no gzip", "gzip"), (b"", "gzip, x")]
)
async def test_a_body_that_cannot_be_decoded_goes_on_as_it_came(
    raw: bytes, encoding: str, base: str, upstream: FakeUpstream
):
    async with edge(base) as client:
        answer = await client.post(
            "/chat/completions", content=raw, headers={**ON, "content-encoding": encoding}
        )
    assert answer.headers["x-memtree-state"] == "degraded:encoded-body"
    assert upstream.last.body == raw
    assert upstream.last.header("content-encoding") == [encoding]


async def test_a_bomb_is_refused(base: str, upstream: FakeUpstream):
    raw = gzip.compress(b"[" + b"0," * 2_000_000 + b"0]")
    async with edge(base, max_body_bytes=1_000_000) as client:
        answer = await client.post(
            "/chat/completions", content=raw, headers={**ON, "content-encoding": "gzip"}
        )
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "request_too_large")
    assert not upstream.seen


async def test_too_many_messages_go_on_as_they_came(base: str, upstream: FakeUpstream):
    async with edge(base, max_messages=8) as client:
        answer = await client.post("/chat/completions", json=turn(9), headers=ON)
        assert answer.headers["x-memtree-state"] == "degraded:invalid-history"
        refused = await client.post("/context_memory", json=turn(9))
    assert len(json.loads(upstream.last.body)["messages"]) == 11
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == "messages"


@pytest.mark.parametrize("field", ["target_tokens", "mode", "query", "memory", "expiration_days"])
async def test_a_wrong_field_of_ours_is_a_400(field: str, base: str, upstream: FakeUpstream):
    async with edge(base) as client:
        answer = await client.post("/chat/completions", json=turn(1, **{field: [1]}), headers=ON)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, field)
    assert not upstream.seen


@pytest.mark.parametrize("error", [KeyError("my secret diary"), StoreUnavailable("gone")])
async def test_an_error_in_memory_does_not_stop_the_chat(
    error: Exception, base: str, upstream: FakeUpstream, caplog: pytest.LogCaptureFixture
):
    memory = FakeMemory()
    memory.before = raising(error)
    async with edge(base, memory) as client:
        answer = await client.post("/chat/completions", content=ODD, headers=ON)
    assert answer.content == PLAIN_BYTES
    assert answer.headers["x-memtree-state"] == "degraded:internal"
    assert upstream.last.body == ODD
    assert type(error).__name__ in caplog.text
    assert "secret" not in caplog.text


async def test_overflow_stops_the_chat(base: str, upstream: FakeUpstream):
    memory = FakeMemory()
    memory.before = raising(ContextOverflow(8_192, 9_999))
    async with edge(base, memory) as client:
        answer = await client.post("/chat/completions", json=turn(1), headers=ON)
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "context_length_exceeded"
    assert answer.headers["x-memtree-raw-tokens"] == "9999"
    assert answer.headers["x-memtree-state"] == "refused"
    assert not upstream.seen


async def test_no_upstream_says_what_to_set():
    async with edge(None) as client:
        for path in ("/v1/chat/completions", "/v1/models"):
            answer = await client.post(path, json=turn(1))
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "no_upstream")
            assert "MEMTREE_UPSTREAM" in answer.json()["error"]["message"]


async def test_an_upstream_that_refuses_is_a_502_that_names_the_cause():
    async with edge(f"http://127.0.0.1:{refused_port()}/v1") as client:
        answer = await client.post(
            "/chat/completions",
            json=turn(9),
            headers={**ON, "authorization": "Bearer sk-very-secret"},
        )
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (502, "upstream_unreachable")
    assert "127.0.0.1" in error["message"]
    assert "refused" in error["message"].lower()
    assert "sk-very-secret" not in answer.text
    assert answer.headers["x-memtree-state"] == "packed"


async def test_an_upstream_without_a_name_is_a_502():
    async with edge("http://no-such-host.invalid/v1") as client:
        answer = await client.post("/chat/completions", json=turn(1))
    assert answer.status_code == 502


async def test_a_large_body_arrives_whole(base: str, upstream: FakeUpstream):
    posted = dumps({"messages": [{"role": "user", "content": "é" * 2_000_000}]})
    async with edge(base) as client:
        await client.post("/chat/completions", content=posted, headers=ON)
    assert upstream.last.body == posted
    assert upstream.last.header("content-length") == [str(len(posted))]
    assert not upstream.last.header("transfer-encoding")


@pytest.mark.parametrize("said", ["banana", "onn", "2", "on, off"])
async def test_a_switch_that_nobody_knows_is_off_and_says_so(
    said: str, base: str, upstream: FakeUpstream
):
    headers = {"x-polychat-memory": said, "memory": "true"}
    async with edge(base, memory=True) as client:
        for content in (dumps(turn()), b"no JSON"):
            answer = await client.post("/v1/chat/completions", content=content, headers=headers)
            assert answer.headers["x-memtree-state"] == "off"
            assert answer.headers["x-memtree-reason"] == "unknown-switch"
            assert upstream.last.body == content


async def test_an_empty_switch_says_nothing(base: str):
    async with edge(base, memory=True) as client:
        answer = await client.post(
            "/v1/chat/completions", json=turn(), headers={"x-polychat-memory": " "}
        )
    assert answer.headers.get("x-memtree-reason") != "unknown-switch"
    assert answer.headers["x-memtree-state"] != "off"


HEADERS = {"x-polychat-memory": "on", "x-memtree-mode": "stable"}
COMPACTION = (
    "Provide a detailed prompt for continuing our conversation above. Focus on what we did, "
    "considering new session will not have access to our conversation."
)
TITLE = "Generate a concise 3-7 word title for this conversation, omitting punctuation."


@pytest.mark.parametrize("order", [COMPACTION, TITLE])
@pytest.mark.parametrize(
    ("turns", "state"), [(61, "below-threshold"), (161, "passed"), (401, "passed")]
)
async def test_a_side_request_goes_as_it_came(
    base: str, upstream: FakeUpstream, turns: int, state: str, order: str
) -> None:
    world = World()
    messages = [*story(turns), assistant("So."), user(order)]
    posted = dumps({"model": "gpt-4o", "messages": messages})
    async with edge(base, world.used) as client:
        answer = await client.post("/v1/chat/completions", content=posted, headers=HEADERS)
    assert answer.headers["x-memtree-state"] == state
    reason = "side-request" if state == "passed" else None
    assert answer.headers.get("x-memtree-reason") == reason
    assert upstream.last.body == posted
    await world.used.close()
    assert world.empty


async def test_the_epoch_goes_on_after_it(base: str, upstream: FakeUpstream) -> None:
    world, told = World(), story(401)
    async with edge(base, world.used) as client:
        epochs = []
        for newest in ("What then?", COMPACTION, "And after that?"):
            body = dumps({"model": "gpt-4o", "messages": [*told, assistant("So."), user(newest)]})
            answer = await client.post("/v1/chat/completions", content=body, headers=HEADERS)
            epochs.append(answer.headers.get("x-memtree-epoch"))
            if newest != COMPACTION:
                told = [*told, assistant("So."), user(newest)]
    assert epochs[0]
    assert epochs == [epochs[0], None, epochs[0]]


async def test_where_it_does_not_fit_it_is_packed(base: str, upstream: FakeUpstream) -> None:
    world = World()
    messages = [*story(401), assistant("So."), user(COMPACTION)]
    body = dumps({"model": "gpt-4o", "model_context_limit": 12_000, "messages": messages})
    async with edge(base, world.used) as client:
        answer = await client.post("/v1/chat/completions", content=body, headers=HEADERS)
    assert answer.headers["x-memtree-state"] == "packed"
    assert COMPACTION.encode() in upstream.last.body
    assert int(answer.headers["x-memtree-sent-tokens"]) < 12_000


async def test_a_request_that_only_looks_alike_gets_memory(
    base: str, upstream: FakeUpstream
) -> None:
    world = World()
    messages = [*story(401), assistant("So."), user("Please summarize our conversation.")]
    body = dumps({"model": "gpt-4o", "messages": messages})
    async with edge(base, world.used) as client:
        answer = await client.post("/v1/chat/completions", content=body, headers=HEADERS)
    assert answer.headers["x-memtree-state"] == "packed"

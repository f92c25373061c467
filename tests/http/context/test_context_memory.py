"""`/context_memory` over HTTP: shapes, aliases, and every error that names its place."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from memtree import __version__
from memtree.errors import ContextOverflow
from memtree.history.message import MESSAGE_OVERHEAD
from memtree.ports.indexing_stages import Pending
from memtree.text import tokens
from memtree.unfolding.explain import TreeView
from memtree_proxy.wire.context_bodies import Tree
from tests.http.served.encoders import encoded
from tests.http.served.fakes import (
    MEMORY_MESSAGE,
    FakeMemory,
    dumps,
    edge,
    raising,
    real_memory,
    turn,
)

PATHS = [prefix + path for path in ("/context_memory", "/memory") for prefix in
         ("", "/v1", "/api", "/api/v1")]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
async def test_every_alias_compresses(path: str):
    async with edge(None) as client:
        answer = await client.post(path, json=turn(9))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["messages"][2] == json.loads(MEMORY_MESSAGE)


async def test_the_whole_answer():
    async with edge(None) as client:
        answer = await client.post("/v1/context_memory", json=turn(9))
    shown = answer.json()
    assert list(shown) == ["messages", "usage", "memory"]
    posted = shown["usage"]["prompt_tokens"]
    assert shown["usage"] == {
        "prompt_tokens": posted,
        "completion_tokens": 20,
        "total_tokens": posted + 20,
        "prompt_tokens_details": {"cached_tokens": posted - 20},
        "raw_prompt_tokens": posted,
    }
    address = shown["memory"].pop("address")
    assert bytes.fromhex(address)
    assert shown["memory"] == {
        "state": "packed", "reason": None, "indexed_tokens": 0, "indexed_messages": 0,
        "pending_tokens": 0, "epoch": None, "mode": "stable", "outline_tokens": 4,
        "recent_tokens": 6, "recall_tokens": 0, "saved_tokens": 0, "excerpts": 2,
    }  # fmt: skip
    headers = {k: v for k, v in answer.headers.items() if k.startswith("x-memtree-")}
    assert headers.pop("x-memtree-ms").isdigit()
    assert headers.pop("x-memtree-request-id")
    assert headers.pop("x-memtree-request")
    assert headers == {
        "x-memtree-address": address,
        "x-memtree-raw-tokens": str(posted),
        "x-memtree-sent-tokens": "20",
        "x-memtree-state": "packed",
    }


async def test_an_epoch_is_told_in_the_answer_a_header_and_the_log(
    caplog: pytest.LogCaptureFixture,
):
    caplog.set_level("INFO")
    memory = FakeMemory()
    memory.told = {"epoch": "0123456789abcdef", "recall_tokens": 7}
    async with edge(None, memory) as client:
        answer = await client.post("/context_memory", json=turn(9))
    shown = answer.json()["memory"]
    assert {name: shown[name] for name in memory.told} == memory.told
    assert answer.headers["x-memtree-epoch"] == "0123456789abcdef"
    assert "epoch=01234567 recall_tokens=7 " in caplog.text
    assert "89abcdef" not in caplog.text


@pytest.mark.parametrize("mode", ["stable", "auto", "fresh"])
async def test_the_mode_of_the_setting_holds_on_both_routes(mode: str, base: str):
    memory = FakeMemory()
    async with edge(base, memory, mode=mode) as client:
        await client.post("/context_memory", json=turn(1))
        await client.post("/chat/completions", json=turn(1, memory=True))
        await client.post("/context_memory", json=turn(1), headers={"x-memtree-mode": "fresh"})
    assert [ask.mode for ask in memory.asks] == [mode, mode, "fresh"]


async def test_unchanged_messages_come_back_as_they_were_posted():
    raw = b'[{"role":"user" ,"content":"\\u0041", "odd":1e2}]'
    async with edge(None) as client:
        answer = await client.post("/context_memory", content=b'{"messages":' + raw + b"}")
    assert answer.content.startswith(b'{"messages":' + raw)
    assert answer.json()["usage"]["prompt_tokens_details"]["cached_tokens"] == 0


async def test_index_only_answers_202_without_messages():
    async with edge(None) as client:
        answer = await client.post("/context_memory", json=turn(9, index_only=True))
    assert answer.status_code == 202
    assert list(answer.json()) == ["usage", "memory"]
    assert answer.json()["usage"]["completion_tokens"] == 0
    assert answer.headers["x-memtree-sent-tokens"] == "0"


async def test_the_fields_reach_memory():
    memory = FakeMemory()
    async with edge(None, memory) as client:
        await client.post(
            "/context_memory",
            json=turn(1, target_tokens=2_000, query="q", mode="auto", model_context_limit="30000"),
            headers={"memory-expiration-days": "9"},
        )
    ask = memory.asks[0]
    assert (ask.target, ask.hard, ask.query, ask.mode) == (2_000, True, "q", "auto")
    assert (ask.window, ask.expiration_days, ask.tenant) == (30_000, 9, "anonymous")


async def test_status():
    memory = FakeMemory()
    memory.waiting = Pending(1_200, 2)
    async with edge(None, memory) as client:
        for prefix in ("", "/v1", "/api", "/api/v1"):
            answer = await client.get(prefix + "/context_memory/status")
            today = {"calls": 0, "input_tokens": 0, "cached_tokens": 0, "output_tokens": 0,
                     "money": 0.0}  # fmt: skip
            assert answer.json() == {
                "ready": True, "pending_tokens": 1_200, "pending_jobs": 2, "version": __version__,
                "summaries": {"state": "off", "pending_nodes": 0, "today": today},
            }  # fmt: skip


async def test_tree():
    async with edge(None) as client:
        answer = await client.post("/v1/context_memory/tree", json=turn(3))
    (leaf,) = answer.json()["nodes"]
    assert (leaf["id"], leaf["messages"], leaf["summary"]) == ("ab", [0, 1], "extracted")
    assert answer.json()["roots"] == ["ab"]
    assert answer.json()["state"] == "indexed"


async def test_a_tree_that_is_not_whole_says_so():
    short = TreeView((), (), whole=False)
    empty = {"nodes": [], "roots": [], "rules": [], "state": "indexing"}
    assert msgspec.to_builtins(Tree.of(short)) == empty


BAD = [
    (b'{"messages":[{"role":"user","content":"\xff"}]}', "messages[0]"),
    (b'{"messages":' + b"[" * 50_000 + b"]" * 50_000 + b"}", None),
    (b'{"messages":[{"role":"user","content":"a"}],"x":"\xff"}', "x"),
    (b'{"messages":[{"role":"user","content":"a"}],"messages":[]}', "messages"),
    (b"{}", "messages"),
    (b'{"messages":[{"role":"user","content":' + b"[" * 5_000 + b"]" * 5_000 + b"}]}", None),
]


@pytest.mark.parametrize("path", ["/context_memory", "/context_memory/tree"])
@pytest.mark.parametrize(("raw", "param"), BAD)
async def test_bad_input_is_a_400_that_names_the_place(path: str, raw: bytes, param: str | None):
    async with edge(None) as client:
        answer = await client.post(path, content=raw)
    error = answer.json()["error"]
    assert (answer.status_code, error["type"]) == (400, "invalid_request_error")
    assert error["code"] == "invalid_request"
    assert set(error) == {"message", "type", "param", "code", "request_id"}
    assert error["param"] == param


async def test_a_large_body_is_read_off_the_loop_with_the_same_result():
    long = [{"role": "user", "content": "x" * 400_000}, *turn(9)["messages"]]
    async with edge(None) as client:
        answer = await client.post("/context_memory", json={"messages": long})
        wrong = await client.post("/context_memory", json={"messages": long, "mode": 5})
    assert answer.json()["memory"]["state"] == "packed"
    assert (wrong.status_code, wrong.json()["error"]["param"]) == (400, "mode")


async def test_overflow_has_the_words_that_clients_look_for():
    memory = FakeMemory()
    memory.before = raising(ContextOverflow(10_000, 12_345))
    for status in (413, 400):
        async with edge(None, memory, overflow_status=status) as client:
            answer = await client.post("/context_memory", json=turn(1))
        assert answer.status_code == status
        assert answer.json()["error"] == {
            "message": "This model's maximum context length is 10000 tokens. However, your "
            "messages resulted in 12345 tokens.",
            "type": "invalid_request_error",
            "param": "messages",
            "code": "context_length_exceeded",
            "request_id": answer.headers["x-memtree-request"],
        }


async def test_an_unexpected_error_is_a_500_without_its_text(caplog: pytest.LogCaptureFixture):
    memory = FakeMemory()
    memory.before = raising(KeyError("my secret diary"))
    async with edge(None, memory) as client:
        answer = await client.post("/context_memory", json=turn(1))
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal_error"
    assert "secret" not in answer.text + caplog.text
    assert "KeyError" in caplog.text
    assert "in fail" in caplog.text


async def test_body_over_the_limit_announced_or_not():
    body = dumps(turn(1))

    async def pieces() -> Any:
        for _ in range(100):
            yield body

    async with edge(None, max_body_bytes=1_000) as client:
        announced = await client.post("/context_memory", content=body * 10)
        streamed = await client.post("/context_memory", content=pieces())
    for answer in (announced, streamed):
        assert answer.status_code == 413
        assert answer.json()["error"]["code"] == "request_too_large"
        assert "context length" not in answer.text
        assert "1000 bytes" in answer.text


@pytest.mark.parametrize("path", ["/context_memory", "/v1/context_memory/tree"])
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd", "gzip, zstd"])
async def test_a_compressed_body_is_read(path: str, encoding: str):
    raw = encoded(dumps(turn(9)), encoding)
    async with edge(None) as client:
        plain = await client.post(path, json=turn(9))
        answer = await client.post(path, content=raw, headers={"content-encoding": encoding})
    assert answer.status_code == 200
    assert answer.json() == plain.json()


@pytest.mark.parametrize(
    ("encoding", "raw", "status", "code"),
    [
        ("br", b"x", 415, "unsupported_media_type"),
        ("gzip", b"\x1f\x8b", 400, "invalid_request"),
        ("gzip", encoded(b" " * 2_000, "gzip"), 413, "request_too_large"),
        ("gzip", encoded(b"{", "gzip"), 400, "invalid_request"),
    ],
    ids=["unknown", "cut off", "too large", "no JSON"],  # gzip data holds the time
)
async def test_a_compressed_body_that_cannot_be_read(
    encoding: str, raw: bytes, status: int, code: str
):
    fake = FakeMemory()
    async with edge(None, fake, max_body_bytes=1_000) as client:
        answer = await client.post(
            "/context_memory", content=raw, headers={"content-encoding": encoding}
        )
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert not fake.asks


async def test_encodings_in_two_headers_are_one_stack():
    raw = encoded(dumps(turn(9)), "gzip, zstd")
    headers = [("content-encoding", "gzip"), ("content-encoding", "zstd")]
    async with edge(None) as client:
        answer = await client.post("/context_memory", content=raw, headers=headers)
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("GET", "/context_memory", "POST"), ("DELETE", "/v1/memory", "POST"),
     ("POST", "/api/context_memory/status", "GET"), ("PUT", "/context_memory/tree", "POST"),
     ("POST", "/health", "GET"), ("GET", "/context_memory/delete", "POST, DELETE"),
     ("POST", "/metrics", "GET")],
)  # fmt: skip
async def test_405_on_our_own_routes(method: str, path: str, allowed: str, base: str):
    async with edge(base) as client:
        answer = await client.request(method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
    assert answer.json()["error"]["code"] == "method_not_allowed"


async def test_404_below_our_own_routes_never_reaches_the_upstream(base: str, upstream: Any):
    async with edge(base) as client:
        answer = await client.post("/v1/context_memory/nothing", json={})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    assert not upstream.seen


@pytest.mark.parametrize("path", ["/health", "/healthz"])
async def test_health_needs_nothing(path: str):
    async with edge(None, host="0.0.0.0") as client:
        answer = await client.get(path)
        head = await client.head(path)
    assert answer.json() == {"status": "ok", "version": __version__}
    assert head.status_code == 200


# ---------------------------------------------------------------- what memory did, and why


def long_message(tokens_: int) -> list[dict[str, Any]]:
    """A history of one message of so many tokens."""
    words = "tree " * (tokens_ - MESSAGE_OVERHEAD)
    assert tokens.count(words.strip()) + MESSAGE_OVERHEAD == tokens_
    return [{"role": "user", "content": words.strip()}]


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        (16_175, "one-round; folds-at=16175"),  # it is over the margin, and there is nothing else
        (18_000, "fits; folds-at=17100"),
        (20_000, "fits; folds-at=19000"),
    ],
)
async def test_what_fits_the_posted_limit_is_not_refused(limit: int, reason: str):
    async with edge(None, real_memory()) as client:
        posted = {"messages": long_message(16_175), "model_context_limit": limit}
        answer = await client.post("/context_memory", json=posted)
    assert answer.status_code == 200
    assert answer.json()["messages"] == posted["messages"]
    assert answer.headers["x-memtree-state"] == answer.json()["memory"]["state"] == "passed"
    assert answer.headers["x-memtree-reason"] == answer.json()["memory"]["reason"] == reason


async def test_the_answer_that_is_asked_for_is_kept_free():
    posted = {"messages": long_message(16_175), "model_context_limit": 18_000}
    async with edge(None, real_memory()) as client:
        fits = await client.post("/context_memory", json={**posted, "max_tokens": 1_825})
        refused = await client.post("/context_memory", json={**posted, "max_tokens": 1_826})
    assert fits.status_code == 200
    assert refused.status_code == 413
    assert refused.json()["error"]["code"] == "context_length_exceeded"
    assert (
        "maximum context length is 18000 tokens. However, your messages resulted in 18001 tokens. "
        "Of these, 1826 are kept for the answer."
    ) in refused.text
    assert refused.headers["x-memtree-state"] == "refused"
    assert refused.headers["x-memtree-raw-tokens"] == "16175"


async def test_a_state_that_needs_no_reason_has_none():
    async with edge(None) as client:
        for messages, state in ((1, "below-threshold"), (9, "packed")):
            answer = await client.post("/context_memory", json=turn(messages))
            assert answer.headers["x-memtree-state"] == state
            assert "x-memtree-reason" not in answer.headers
            assert answer.json()["memory"]["reason"] is None

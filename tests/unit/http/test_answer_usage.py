"""Usage as the three APIs tell it, whole and streamed, cut anywhere, encoded or not."""

from __future__ import annotations

import base64
import gzip
import json
import random
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from memtree.budget.prices import ProviderUsage
from memtree_proxy.http.answer_usage import HEAD, MOST_DECODED, TAIL, AnswerBytes

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress, "deflate": zlib.compress, "zstd": zstd.compress,
}  # fmt: skip
CHAT = {"prompt_tokens": 50, "completion_tokens": 7, "total_tokens": 57,
        "prompt_tokens_details": {"cached_tokens": 40, "audio_tokens": 0}}  # fmt: skip
RESPONSES = {"input_tokens": 50, "input_tokens_details": {"cached_tokens": 40}, "output_tokens": 7}
MESSAGES = {"input_tokens": 3, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 7,
            "output_tokens": 1}  # fmt: skip
TEXT = 'He said: "usage": {"prompt_tokens": 1}, {{{ and } and so on. '


def event(data: Any) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def whole(usage: Any) -> bytes:
    return json.dumps({"choices": [{"message": {"content": TEXT * 400}}], "usage": usage}).encode()


def streamed(usage: Any) -> bytes:
    words = [event({"choices": [{"delta": {"content": TEXT}}], "usage": None}) for _ in range(300)]
    return b"".join((*words, event({"choices": [], "usage": usage}), b"data: [DONE]\n\n"))


def messages() -> bytes:
    begun = event({"type": "message_start", "message": {"content": [], "usage": MESSAGES}})
    words = [event({"type": "content_block_delta", "delta": {"text": TEXT}}) for _ in range(300)]
    ended = {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 9}}
    return b"".join((begun, *words, event(ended), event({"type": "message_stop"})))


def responses() -> bytes:
    whole = {
        "type": "response.completed",
        "response": {
            "output": [{"content": TEXT * 300}],
            "usage": RESPONSES,
            "user": None,
            "metadata": {},
        },
    }
    return event({"type": "response.created", "response": {"usage": None}}) + event(whole)


ANSWERS = {
    "chat": (whole(CHAT), ProviderUsage(50, 40, None, 7)),
    "chat stream": (streamed(CHAT), ProviderUsage(50, 40, None, 7)),
    "no cache": (whole({"prompt_tokens": 5, "completion_tokens": 2}),
                 ProviderUsage(5, None, None, 2)),
    "deepseek": (whole({"prompt_tokens": 5, "prompt_cache_hit_tokens": 3}), ProviderUsage(5, 3)),
    "messages": (json.dumps({"content": TEXT, "usage": MESSAGES}).encode(),
                 ProviderUsage(50, 40, 7, 1)),
    "messages stream": (messages(), ProviderUsage(50, 40, 7, 9)),
    "responses": (json.dumps({"output": TEXT, "usage": RESPONSES}).encode(),
                  ProviderUsage(50, 40, None, 7)),
    "responses stream": (responses(), ProviderUsage(50, 40, None, 7)),
}  # fmt: skip


def read(raw: bytes, size: int, encoding: str = "") -> ProviderUsage | None:
    answer = AnswerBytes()
    answer.encoding = encoding
    for at in range(0, len(raw), size):
        answer.feed(raw[at : at + size])
    return answer.usage()


@pytest.mark.parametrize("kind", ANSWERS)
@pytest.mark.parametrize("size", [97, 1_000, 1 << 20])
def test_usage(kind: str, size: int) -> None:
    raw, expected = ANSWERS[kind]
    assert read(raw, size) == expected
    assert read(gzip.compress(raw), size, "gzip") == expected


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"null", json.dumps({"content": TEXT}).encode(), b'{"usage": null}',
        b'{"usage": {}}', b'{"usage": {"prompt_tokens": "5"}}', b'{"usage": {"prompt_tokens": -1}}',
        b'{"usage": {"prompt_tokens": true}}', b'{"usage": {"prompt_tokens": 1e99}}',
        b'{"usage": {"prompt_tokens": 5', b'{"usage": ' + b"{" * 50_000, b'"usage":{}' * 20_000,
        b'{"usage": {"prompt_tokens": \xff}}',
    ],
)  # fmt: skip
def test_what_tells_nothing(raw: bytes) -> None:
    assert read(raw, 1_000) is None


def test_odd_encodings_tell_nothing_and_hurt_nobody() -> None:
    raw = whole(CHAT)
    assert read(raw, 100, "gzip") is None
    assert read(raw, 100, "banana") is None
    assert read(gzip.compress(raw)[:-40], 1_000, "gzip") is None  # it was cut off
    noise = gzip.compress(raw) + bytes(100_000)
    assert read(noise, 1_000, "gzip") == ProviderUsage(50, 40, None, 7)


@pytest.mark.parametrize("name", ["gzip", "deflate", "zstd", "gzip, zstd"])
@pytest.mark.parametrize("size", [997, 50_000])
def test_long_encoded_answers(name: str, size: int) -> None:
    rare = base64.b64encode(random.Random(1).randbytes(600_000)).decode()
    for raw in (
        json.dumps({"content": rare, "usage": CHAT}).encode(),
        b"".join([event({"usage": CHAT}), event({"delta": rare}), event({"usage": None})]),
    ):
        encoded = raw
        for layer in name.split(", "):
            encoded = ENCODERS[layer](encoded)
        assert len(encoded) > 400_000
        assert read(encoded, size, name) == ProviderUsage(50, 40, None, 7)


def test_a_bomb_is_given_up() -> None:
    """Some hundred kilobytes that decode to 64 megabytes, and usage behind them."""
    encoded = gzip.compress(b" " * (MOST_DECODED * 2) + whole(CHAT), 1)
    answer = AnswerBytes()
    answer.encoding = "gzip"
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for at in range(0, len(encoded), 8_000):
            answer.feed(encoded[at : at + 8_000])
        assert answer.usage() is None
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before < 1_000_000


def test_usage_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = AnswerBytes()
    answer.feed(whole(CHAT))
    told = answer.usage()
    monkeypatch.setattr("memtree_proxy.http.answer_usage.usage_of", None)
    assert answer.usage() is told


def test_little_is_kept_of_a_long_answer() -> None:
    answer = AnswerBytes()
    for _ in range(3_000):
        answer.feed(b"x" * 1_000)
    kept = sum(len(part) for part in answer.kept())
    assert kept <= HEAD + 2 * TAIL


def test_words_of_errors() -> None:
    answer = AnswerBytes()
    answer.feed(b'{"error": {"message": "my diary", "type": "invalid_request_error",'
                b'"code": "context_length_exceeded"}}')  # fmt: skip
    assert answer.error_words() == ["invalid_request_error", "context_length_exceeded"]

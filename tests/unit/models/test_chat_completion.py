"""Reading answers of chat endpoints: text wherever it stands, usage, seconds to wait."""

from __future__ import annotations

import json
import time
from email.utils import formatdate

import pytest

from memtree.models.chat_completion import length, retry_after
from memtree.models.chat_reply import (
    CONTENT,
    FORMAT,
    ROOM,
    TEMPER,
    UNKNOWN,
    ChatReply,
    read_answer,
    refusal_in,
)
from memtree.ports.models import Usage


def answer(message, finish="stop", **more):
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps({"choices": [choice]} | more).encode()


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "x"}, "x"),
        ({"content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]}, "xy"),
        ({"content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": "x"}]}, "x"),
        ({"content": [7, None, {"type": "text"}, {"text": "x"}]}, "x"),
        ({"content": None, "tool_calls": [{"function": {"arguments": "{x}"}}]}, "{x}"),
        ({"content": "", "function_call": {"arguments": "{x}"}}, "{x}"),
        ({"content": None, "tool_calls": [None, {"function": 3}]}, ""),
        ({"content": None, "tool_calls": 7}, ""),
        ({"content": None, "refusal": "I cannot."}, ""),
        ({"content": 7}, ""),
        ({}, ""),
    ],
)
def test_text(message, text):
    assert read_answer(answer(message)) == ChatReply(text)


def test_reasoning_stands_beside_the_answer():
    for name in ("reasoning", "reasoning_content"):
        said = read_answer(answer({"content": "x", name: "hm"}))
        assert (said.text, said.hidden, said.thinks) == ("x", "hm", True)


def test_reasoning_alone_is_the_answer_only_where_it_came_to_its_end():
    assert read_answer(answer({"content": None, "reasoning_content": "{x}"})).text == "{x}"
    said = read_answer(answer({"content": None, "reasoning_content": "{x}"}, "length"))
    assert (said.text, said.cut, said.thinks) == ("", True, True)


def test_an_answer_without_choices_is_empty():
    assert read_answer(b'{"choices":[]}') == ChatReply("")
    assert read_answer(b'{"choices":[null]}') == ChatReply("")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b'{"choices":{}}',
        b'{"error":{"message":"no"}}',
        b'{"error":{"message":"no"},"choices":[]}',
        b'{"choices":[{"error":{"code":502},"message":{"content":""}}]}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_answer(content):
    assert read_answer(content) is None


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}, Usage(10, 4)),
        # Reasoning that is in the sum alone.
        ({"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 40}, Usage(10, 30)),
        ({"prompt_tokens": 10, "completion_tokens": 4}, Usage(10, 4)),
        ({"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 8}}, Usage(10, 0, 8)),
        ({"prompt_tokens": 10, "prompt_cache_hit_tokens": 80}, Usage(10, 0, 10)),
        ({"prompt_tokens": 10, "completion_tokens": -4, "total_tokens": None}, Usage(10, 0)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, None),
        ({"prompt_tokens": True}, None),
        ({"prompt_tokens": "10"}, None),
        ([], None),
        (None, None),
    ],
)
def test_usage(usage, expected):
    assert read_answer(answer({"content": "x"}, usage=usage)).usage == expected


def test_who_counts_reasoning_thinks():
    usage = {"prompt_tokens": 1, "completion_tokens_details": {"reasoning_tokens": 5}}
    assert read_answer(answer({"content": "x"}, usage=usage)).thinks
    usage["completion_tokens_details"]["reasoning_tokens"] = 0
    assert not read_answer(answer({"content": "x"}, usage=usage)).thinks


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"retry-after": "7"}, 7),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "soon"}, 0),
        ({"x-ratelimit-reset-requests": "9s"}, 0),  # there are some left
        ({"x-ratelimit-reset-requests": "9s", "x-ratelimit-remaining-requests": "0"}, 9),
        ({"x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-remaining-tokens": "0",
          "x-ratelimit-reset-requests": "9s", "x-ratelimit-remaining-requests": "0"}, 360),
    ],
)  # fmt: skip
def test_seconds_that_a_server_names(headers, seconds):
    assert retry_after(headers) == seconds


def test_a_date_to_come_back_at():
    header = {"retry-after": formatdate(time.time() + 1_000, usegmt=True)}
    assert 900 < retry_after(header) <= 1_000


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("6m0s", 360), ("1h2m3.5s", 3723.5), ("12ms", 0.012), ("2", 2), ("", 0), ("x5s", 0),
     ("2015-10-21T07:28:00Z", 0)],
)  # fmt: skip
def test_lengths_of_time(value, seconds):
    assert length(value) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("content", "about"),
    [
        (b'{"error": {"message": "no", "param": "max_tokens"}}', ROOM),
        (b'{"error": {"message": "no", "code": "content_filter"}}', CONTENT),
        (b'{"error": "temperature is not supported"}', TEMPER),
        (b'{"error": "bad", "param": "temperature"}', TEMPER),
        (b'{"message": "temperature is not supported"}', TEMPER),
        (b'{"message": "no", "param": "max_tokens"}', ROOM),
        (b'{"detail": [{"loc": ["body", "response_format"], "msg": "extra"}]}', FORMAT),
        (b'[{"error": {"message": "prompt is too long"}}]', CONTENT),
        (b"the prompt exceeds the context window", CONTENT),
        (b"\xff temperature", TEMPER),
        (b"[" * 100_000 + b"temperature", UNKNOWN),
        (b'{"error": null}', UNKNOWN),
        (b"", UNKNOWN),
    ],
)
def test_the_subject_of_a_refusal_in_any_form(content, about):
    assert refusal_in(content) == about

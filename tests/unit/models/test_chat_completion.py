"""Calls of chat endpoints: answers, forms, limits."""

from __future__ import annotations

import json
import math
import time
from email.utils import formatdate

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from memtree.models.chat_endpoint import FAILURES, LONGEST_DOWN, LONGEST_REST, MINUTE, RateLimit
from memtree.models.chat_reply import (
    CONTENT,
    EFFORT,
    FORMAT,
    OBJECT,
    PLAIN,
    ROOM,
    SCHEMA,
    SPARE,
    TEMPER,
    UNKNOWN,
    ChatReply,
    KnownFormats,
    ResponseFormat,
    body,
    complaint,
    lesser,
    read_answer,
    refusal_in,
)
from memtree.models.openai_client import asked_wait, length
from memtree.ports.models import Usage

# ------------------------------------------------------------------------------------------------
# Reading answers of chat endpoints: text wherever it stands, usage, seconds to wait.


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
    assert asked_wait(headers) == seconds


def test_a_date_to_come_back_at():
    header = {"retry-after": formatdate(time.time() + 1_000, usegmt=True)}
    assert 900 < asked_wait(header) <= 1_000


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


# ------------------------------------------------------------------------------------------------
# Check which form of a call is tried next, by what servers say when they refuse.


ASKED = {"type": "json_schema", "json_schema": {"name": "parts"}}
# (parameter, message) as servers word it
REFUSALS = [
    (ROOM, "max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. "
     "Use 'max_completion_tokens' instead."),
    (TEMPER, "temperature", "Unsupported value: 'temperature' does not support 0.3 with this "
     "model. Only the default (1) value is supported."),
    (FORMAT, None, "invalid_request_error This response_format type is unavailable now"),
    (FORMAT, None, "'response_format.type' must be 'json_schema' or 'text'"),
    (FORMAT, None, "[{'loc': ['body', 'response_format'], 'msg': 'extra inputs'}]"),
    (FORMAT, None, "json_validate_failed Failed to generate JSON. Please adjust your prompt."),
    (FORMAT, "response_format", "Invalid parameter: schema with max_tokens"),
    (EFFORT, None, "Unrecognized request argument supplied: reasoning_effort"),
    (ROOM, "max_tokens", "max_tokens is too large: 5046. This model's maximum context length is "
     "4096 tokens"),
    (CONTENT, "messages", "context_length_exceeded This model's maximum context length is 8192 "
     "tokens. However, you requested 9000 tokens (8000 in the messages, max_tokens 1000)."),
    (CONTENT, None, "exceed_context_size_error the request exceeds the available context size"),
    (CONTENT, None, "content_filter The response was filtered"),
    (UNKNOWN, None, "Bad Request"),
    (UNKNOWN, None, ""),
    (UNKNOWN, None, "x" * 5_000 + " temperature"),
]  # fmt: skip


@pytest.mark.parametrize(("about", "param", "text"), REFUSALS)
def test_what_a_refusal_is_about(about, param, text):
    assert complaint(param, text) == about


def test_everything_is_asked_at_first():
    asked = body(ResponseFormat(), "m", [{"role": "user", "content": "x"}], 100, ASKED)
    assert list(asked) == ["model", "messages", "response_format", "max_tokens", "temperature"]
    assert asked["response_format"]["type"] == "json_schema"
    assert asked["max_tokens"] == 100


def test_nothing_but_model_and_messages_is_left_in_the_end():
    form, forms = ResponseFormat(effort="low"), []
    while form is not None:
        forms.append(form)
        form = lesser(form, UNKNOWN)
    assert [one.format for one in forms[1:4]] == [SCHEMA, OBJECT, PLAIN]  # first the newest thing
    last = lesser(forms[-1], TEMPER)
    assert list(body(last, "m", [], 100, ASKED)) == ["model", "messages"]
    assert [lesser(last, about) for about in (FORMAT, ROOM, TEMPER, EFFORT, UNKNOWN)] == [None] * 5


def test_room_changes_its_name_and_is_made_smaller_first():
    large = ResponseFormat(spare=SPARE[1])
    assert body(large, "m", [], 100, ASKED)["max_tokens"] == 100 + SPARE[1]
    less = lesser(large, ROOM)
    assert body(less, "m", [], 100, ASKED)["max_tokens"] == 100
    assert body(lesser(less, ROOM), "m", [], 100, ASKED)["max_completion_tokens"] == 100


def test_a_refusal_without_a_reason_is_about_the_text_once_the_form_has_worked():
    forms = KnownFormats()
    assert forms.without(forms.form, UNKNOWN) == lesser(forms.form, FORMAT)
    assert forms.without(forms.form, CONTENT) is None
    forms.worked(forms.form, tried=False, fruitful=True)
    assert forms.without(forms.form, UNKNOWN) is None
    assert forms.without(forms.form, TEMPER) is not None


def test_what_was_found_is_kept_and_what_did_not_help_is_not():
    forms = KnownFormats()
    found = lesser(forms.form, FORMAT)
    assert forms.form.format == SCHEMA
    forms.worked(found, tried=True, fruitful=True)
    assert forms.form == found
    forms.worked(ResponseFormat(), tried=False, fruitful=True)  # a call that began earlier
    assert forms.form == found


def test_a_schema_that_bears_no_fruit_is_given_up():
    forms = KnownFormats()
    for fruitful in (False, False, True, False, False):
        forms.worked(forms.form, tried=False, fruitful=fruitful)
        assert forms.form.format == SCHEMA
    forms.worked(forms.form, tried=False, fruitful=False)
    assert forms.form.format == OBJECT
    for _ in range(9):
        forms.worked(forms.form, tried=False, fruitful=False)
    assert forms.form.format == PLAIN


def test_effort_is_sent_to_those_that_think_unless_they_refuse_it():
    forms = KnownFormats()
    assert "reasoning_effort" not in body(forms.form, "m", [], 1, ASKED)
    forms.thinks()
    assert body(forms.form, "m", [], 1, ASKED)["reasoning_effort"] == "low"
    forms.worked(forms.without(forms.form, EFFORT), tried=True, fruitful=True)
    forms.thinks()
    assert "reasoning_effort" not in body(forms.form, "m", [], 1, ASKED)


def test_room_grows_and_stays():
    forms, form = KnownFormats(), ResponseFormat()
    for spare in SPARE[1:]:
        form = forms.grow(form)
        assert form.spare == forms.form.spare == spare
    assert forms.grow(form) is None
    assert forms.grow(ResponseFormat()).spare == SPARE[1]  # a call that began earlier
    assert forms.form.spare == SPARE[-1]
    assert KnownFormats().grow(ResponseFormat(room="")) is None  # there is no limit to raise


# ------------------------------------------------------------------------------------------------
# When calls may begin: limits in every minute, rests, one that finds out alone.


def admitted(pace, sizes, arrivals):
    """Begins of calls that come at these times, each waiting for its turn, one after another."""
    now, begun = 0.0, []
    for size, pause in zip(sizes, arrivals, strict=True):
        now += pause
        while (wait := pace.wait(now, size)) > 0:
            now += wait
        pace.end(pace.begin(now, size))
        begun.append((now, size))
    return begun


CALLS = st.lists(
    st.tuples(st.integers(0, 900), st.floats(0, 40, allow_nan=False)), min_size=1, max_size=60
)


@given(CALLS, st.integers(0, 12), st.integers(0, 2_000))
def test_no_minute_holds_more_than_the_limits(calls, requests, most):
    begun = admitted(RateLimit(requests, most), *zip(*calls, strict=True))
    waited = begun[-1][0] > sum(pause for _, pause in calls) + 1e-6
    event(f"waited: {waited}")
    for first, (start, _) in enumerate(begun):
        # Half-open, and a hair less than a minute: sums of floats are not exact.
        inside = [size for at, size in begun[first:] if at < start + MINUTE - 1e-6]
        assert not requests or len(inside) <= requests
        assert not most or sum(inside) <= most or len(inside) == 1


def test_without_limits_nobody_waits():
    assert admitted(RateLimit(), [10**6] * 50, [0.0] * 50)[-1][0] == 0.0


def test_one_that_is_larger_than_the_limit_goes_alone():
    begun = admitted(RateLimit(tokens=100), [10, 500, 10], [0.0] * 3)
    assert [at for at, _ in begun] == [0.0, 60.0, 120.0]


def test_estimates_are_corrected():
    pace = RateLimit(tokens=1_000)
    ticket = pace.begin(0.0, 900)
    assert pace.wait(1.0, 500) == 59.0
    pace.end(ticket, 300)
    assert pace.wait(1.0, 500) == 0.0
    pace.end(ticket, 0)  # it has ended already
    assert pace.wait(1.0, 800) == 59.0


def test_a_refusal_stops_all_until_one_finds_out_alone():
    pace = RateLimit()
    pace.slowed(0.0, 7.5)
    assert pace.wait(1.0, 1) == 6.5
    probe = pace.begin(8.0, 1)
    assert pace.wait(8.0, 1) == math.inf
    pace.slowed(9.0, 2.0)
    pace.end(probe)
    assert pace.wait(9.0, 1) == 2.0
    probe = pace.begin(11.0, 1)
    pace.worked()
    pace.end(probe)
    assert pace.wait(11.0, 1) == 0.0
    pace.begin(11.0, 1)
    assert pace.wait(11.0, 1) == 0.0


def test_a_probe_that_was_given_up_makes_room_for_another():
    pace = RateLimit()
    pace.slowed(0.0, 1.0)
    pace.end(pace.begin(2.0, 1))
    assert pace.wait(2.0, 1) == 0.0
    assert pace.begin(2.0, 1).alone


def test_rests_double_and_several_refusals_of_one_moment_are_one():
    pace, now, rests = RateLimit(), 0.0, []
    for _ in range(9):
        for _ in range(4):
            pace.slowed(now)
        rests.append(pace.rest(now))
        now += rests[-1]
    assert rests == [1, 2, 4, 8, 16, 32, LONGEST_REST, LONGEST_REST, LONGEST_REST]
    assert not pace.down  # who refuses, lives
    pace.worked()
    pace.slowed(now)
    assert pace.rest(now) == 1


def test_some_failures_in_a_row_are_an_outage():
    pace, now, rests = RateLimit(), 0.0, []
    for number in range(9):
        assert pace.down == (number >= FAILURES)
        pace.failed(now)
        rests.append(pace.rest(now))
        now += rests[-1]
    assert rests == [1, 2, 30, 60, 120, 240, 480, LONGEST_DOWN, LONGEST_DOWN]
    pace.worked()
    assert not pace.down


@pytest.mark.parametrize("way", ["slowed", "failed"])
def test_what_is_told_counts_within_reason(way):
    pace = RateLimit()
    getattr(pace, way)(0.0, 1e300)
    assert pace.rest(0.0) == 86_400
    getattr(pace, way)(0.0, 5.0)  # less does not shorten it
    assert pace.rest(0.0) == 86_400

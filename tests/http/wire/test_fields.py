"""Requests for memory, made of what a body, its headers and the settings say."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.budget.prices import LOCAL, UNKNOWN, Prices
from memtree.config import Settings
from memtree.context.context_memory import CompressRequest
from memtree.errors import BadRequest
from memtree.history.json_body import split
from memtree_proxy.chat import memory_switch, request_fields
from memtree_proxy.http.headers import EXPIRATION_HEADERS
from tests.http.served.fakes import dumps

MESSAGES = [{"role": "user", "content": "hi"}]
NONE: dict[str, str] = {}


def context(headers: Any = NONE, **posted: Any) -> CompressRequest:
    body = split(dumps({"messages": MESSAGES, **posted}))
    return request_fields.context_ask("t", body, headers, Settings())


def chat(headers: dict[str, str] = NONE, days: int | None = None, **posted: Any) -> CompressRequest:
    return request_fields.chat_ask("t", split(dumps(posted)), headers, Settings(), days)


def test_defaults():
    ask = context()
    assert (ask.window, ask.target, ask.hard) == (128_000, 20_000, False)
    assert (ask.expiration_days, ask.query, ask.tools_tokens) == (30, None, 0)


def test_a_target_is_hard_where_posted_and_capped_by_the_window():
    for posted, target in ((8_000, 8_000), (10**9, 50_000)):
        ask = context(target_tokens=posted, model_context_limit=50_000)
        assert (ask.window, ask.target, ask.hard) == (50_000, target, True)


def test_the_smallest_window_leaves_room_for_a_prompt():
    ask = context(model_context_limit=1_024, max_tokens=500)
    assert (ask.window, ask.target, ask.reserve) == (1_024, 1_024, 24)


def test_default_target_never_exceeds_the_window():
    assert context(model_context_limit=10_000).target == 10_000


def test_chat_target_is_soft():
    assert chat(target_tokens=8_000).target == 8_000
    assert not chat(target_tokens=8_000).hard


@pytest.mark.parametrize("header", EXPIRATION_HEADERS)
def test_expiration_header_wins_over_body_over_suffix(header: str):
    assert context({header: "5"}, expiration_days=6).expiration_days == 5
    assert chat(days=7, expiration_days=6).expiration_days == 6
    assert chat(days=7).expiration_days == 7
    assert chat(days=9_999).expiration_days == 365
    for wrong in ("0", "366", "soon", "1.5", ""):
        with pytest.raises(BadRequest, match=header):
            context({header: wrong})


def test_mode_header_wins_over_body():
    assert context({"x-memtree-mode": "auto"}, mode="fresh").mode == "auto"
    assert context(mode="stable").mode == "stable"
    with pytest.raises(BadRequest, match="x-memtree-mode"):
        context({"x-memtree-mode": "quick"})


def test_without_a_mode_context_memory_is_stable_and_a_chat_auto():
    assert context().mode == "stable"
    assert chat().mode == "auto"
    body = split(dumps({"messages": MESSAGES}))
    settings = Settings(mode="fresh")
    assert request_fields.context_ask("t", body, NONE, settings).mode == "fresh"
    assert request_fields.chat_ask("t", body, NONE, settings, None).mode == "fresh"


def test_prices_come_from_the_model_and_the_setting():
    assert context(model="gpt-4o").prices == Prices(1.0, 0.5, 3_600)
    assert chat(model="anthropic/claude-sonnet-4:memory").prices == Prices(1.25, 0.1, 300)
    assert context().prices == chat().prices == chat(model=7).prices == UNKNOWN
    home = Settings(upstream="http://localhost:11434/v1")
    unknown = split(dumps({"messages": MESSAGES, "model": "my-model"}))
    assert request_fields.chat_ask("t", unknown, NONE, home, None).prices == LOCAL
    assert request_fields.context_ask("t", unknown, NONE, home).prices == LOCAL
    nowhere = Settings(upstream=None)
    assert request_fields.context_ask("t", unknown, NONE, nowhere).prices == UNKNOWN
    body = split(dumps({"messages": MESSAGES, "model": "gpt-4o"}))
    assert request_fields.chat_ask("t", body, NONE, home, None).prices == Prices(1.0, 0.5, 3_600)
    settings = Settings(prices=("gpt-4o=1/0.9/60",))
    assert request_fields.context_ask("t", body, NONE, settings).prices == Prices(1.0, 0.9, 60)
    assert request_fields.chat_ask("t", body, NONE, settings, None).prices == Prices(1.0, 0.9, 60)


@pytest.mark.parametrize("wrong", [None, 5, "", "ab", "0" * 63, "0" * 65, "g" * 64, " " + "0" * 64,
                                   "0" * 62 + " 0", "٣" * 64, ["0" * 64]])  # fmt: skip
def test_an_address_is_64_hex_digits(wrong: Any):
    assert request_fields.address("Ab" * 32, "address") == b"\xab" * 32
    with pytest.raises(BadRequest) as caught:
        request_fields.address(wrong, "address")
    assert caught.value.param == "address"


def test_chat_window_comes_from_the_model():
    assert chat(model="gpt-4").window == 8_192
    assert chat(model="gpt-4", model_context_limit=5_000).window == 5_000
    assert chat(model="made-up").window == 128_000
    assert chat(model=5).window == 128_000


@pytest.mark.parametrize(
    ("posted", "reserve"),
    [({}, 4_096), ({"max_tokens": 7}, 7), ({"max_completion_tokens": 9}, 9),
     ({"max_tokens": 7, "max_completion_tokens": 9}, 7), ({"max_tokens": "x"}, 4_096),
     ({"max_tokens": True}, 4_096), ({"max_tokens": None, "max_completion_tokens": 3}, 3)],
)  # fmt: skip
def test_reserve(posted: dict[str, Any], reserve: int):
    assert chat(**posted).reserve == reserve


@pytest.mark.parametrize(
    ("posted", "reserve"),
    [({}, 0), ({"max_tokens": 7}, 7), ({"max_tokens": 0}, 0),
     ({"max_completion_tokens": 9}, 9), ({"max_tokens": 7, "max_completion_tokens": 9}, 7),
     ({"max_tokens": None, "max_completion_tokens": 3}, 3),
     ({"max_tokens": 12_000}, 12_000), ({"max_tokens": 19_500}, 19_000)],
)  # fmt: skip
def test_context_memory_reserves_what_is_asked_for(posted: dict[str, Any], reserve: int):
    assert context(model_context_limit=20_000, **posted).reserve == reserve


def test_windows_come_from_the_setting_unless_the_request_says():
    settings = Settings(window=("llama3.2=8192", "*=32768"))
    for model, wanted in (("llama3.2:3b", 8_192), ("mystery", 32_768), ("gpt-4o-mini", 128_000)):
        body = split(dumps({"messages": MESSAGES, "model": model}))
        assert request_fields.context_ask("t", body, NONE, settings).window == wanted
        assert request_fields.chat_ask("t", body, NONE, settings, None).window == wanted
    body = split(dumps({"messages": MESSAGES, "model": "mystery", "model_context_limit": 50_000}))
    assert request_fields.context_ask("t", body, NONE, settings).window == 50_000


def test_tools_functions_and_format_are_counted():
    tools = [{"type": "function", "function": {"name": "read_file"}}]
    one = context(tools=tools).tools_tokens
    assert one > 5
    all_three = context(tools=tools, functions=tools, response_format={"type": "json"})
    assert all_three.tools_tokens > 2 * one
    assert context(tools=[], functions=None).tools_tokens == 0


@pytest.mark.parametrize(
    ("model", "left", "days"),
    [("m:memory", "m", None), ("m:memory-90", "m", 90), ("m:online:memory-90", "m:online", 90),
     ("m:memory-9:online", "m:online", 9), ("a/b:free:memory", "a/b:free", None)],
)  # fmt: skip
def test_suffix_is_stripped(model: str, left: str, days: int | None):
    assert memory_switch.strip_suffix(model) == (left, True, days)


@pytest.mark.parametrize("model", ["m", "m:memoryless", "m:memory-x", "memory", "m-memory", ""])
def test_what_is_no_suffix_stays(model: str):
    assert memory_switch.strip_suffix(model) == (model, False, None)


@pytest.mark.parametrize(
    ("posted", "headers", "default", "on"),
    [
        ({}, {}, False, False),
        ({}, {}, True, True),
        ({}, {"x-polychat-memory": "on"}, False, True),
        ({}, {"x-polychat-memory": " ON "}, False, True),
        ({}, {"memory": "true"}, False, True),
        *(({}, {"x-polychat-memory": word}, False, True) for word in ("1", "true", "Yes", "on")),
        *(({}, {"x-polychat-memory": word}, True, False) for word in ("0", "FALSE", "no", "off")),
        ({}, {"memory": "1"}, False, True),
        ({}, {"memory": "0"}, True, False),
        ({"model": "m:memory"}, {"memory": "0"}, True, False),
        ({}, {"x-polychat-memory": ""}, False, False),
        ({}, {"x-polychat-memory": "2"}, True, False),
        ({"memory": True}, {}, False, True),
        ({"model": "m:memory"}, {}, False, True),
        ({"model": "m:memory"}, {"x-polychat-memory": "off"}, True, False),
        ({"memory": False}, {"x-polychat-memory": "on"}, True, False),
        ({"memory": True}, {"x-polychat-memory": "off"}, True, False),
        ({"memory": None}, {"x-polychat-memory": "maybe"}, True, False),
    ],
)
def test_the_switch(posted: dict[str, Any], headers: dict[str, str], default: bool, on: bool):
    suffix = memory_switch.suffix_of(split(dumps(posted))).present or None
    answers = (memory_switch.by_headers(headers)[0], posted.get("memory"), suffix)
    assert memory_switch.wanted(*answers, default=default) is on


@pytest.mark.parametrize(
    ("word", "on"),
    [("1", True), ("yes", True), ("on", True), ("0", False), ("no", False), ("off", False),
     ("maybe", None), ("", None)],
)  # fmt: skip
def test_the_switch_of_the_recall_tools(word: str, on: bool | None):
    headers = {"x-memtree-recall-tools": word}
    for default in (True, False):
        assert memory_switch.recall_tools(headers, default) is (default if on is None else on)


@pytest.mark.parametrize(("window", "reserve"), [(1_024, 256), (4_096, 1_024), (16_384, 4_096)])
def test_a_small_window_keeps_less_for_the_answer(window: int, reserve: int):
    assert chat(model_context_limit=window).reserve == reserve
    assert chat(model_context_limit=window, max_tokens=400).reserve == 400


def test_an_answer_as_long_as_the_window_leaves_room_for_the_prompt():
    asked = chat(model="gpt-4o", max_tokens=128_000)
    assert (asked.window, asked.reserve) == (128_000, 64_000)

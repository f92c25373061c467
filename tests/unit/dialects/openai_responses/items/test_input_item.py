"""Single items: what each is, and what cannot be read is named."""

from __future__ import annotations

import json

import pytest

from memtree.dialects.openai_responses.input_item import ItemKind, read_item
from memtree.errors import BadRequest


def item(**fields):
    return read_item(json.dumps(fields).encode(), "input[3]")


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"role": "user", "content": "hi"}, ItemKind.USER),
        ({"type": None, "role": "user", "content": None}, ItemKind.USER),
        ({"type": "message", "role": "developer", "content": "be brief"}, ItemKind.SYSTEM),
        ({"type": "additional_tools", "role": "developer", "tools": []}, ItemKind.SYSTEM),
        ({"type": "configuration_update", "reasoning": {"effort": "low"}}, ItemKind.SYSTEM),
        ({"role": "assistant", "content": "hi"}, ItemKind.MODEL),
        ({"type": "reasoning", "summary": [], "content": None}, ItemKind.MODEL),
        ({"type": "web_search_call", "id": "ws_1", "action": None}, ItemKind.MODEL),
        ({"type": "what_comes_next", "id": "wn_1"}, ItemKind.MODEL),
        ({"type": "what_comes_next_output"}, ItemKind.MODEL),
        ({"type": "what_comes_next_output", "call_id": "c"}, ItemKind.OUTPUT),
        ({"type": "function_call_output", "call_id": "c", "output": "x"}, ItemKind.OUTPUT),
        ({"type": "mcp_approval_response", "approval_request_id": "a"}, ItemKind.OUTPUT),
        ({"type": "compaction", "encrypted_content": "x"}, ItemKind.COMPACTION),
        ({"type": "item_reference", "id": "msg_1"}, ItemKind.SERVER_STATE),
        ({"id": "msg_1"}, ItemKind.SERVER_STATE),
        ({"type": "compaction_trigger"}, ItemKind.SERVER_STATE),
    ],
)
def test_each_item_is_of_one_kind(fields, kind):
    assert item(**fields).kind is kind


@pytest.mark.parametrize(
    ("raw", "kind", "told"),
    [
        (b'"hello"', ItemKind.OTHER, b""),
        (b'{"type": "message", "role": "user", "content": "\\ud800"}', ItemKind.USER, b""),
        (b'{"type": 1, "role": "user", "content": "x"}', ItemKind.USER, b""),
        (b'{"role": "critic", "content": "x"}', ItemKind.OTHER, b""),
        (b'{"role": {}, "content": "x"}', ItemKind.OTHER, b""),
        (b'{"role": "user", "content": 1}', ItemKind.USER, b""),
        (b'{"role": "assistant", "content": [1, {"text": "x"}]}', ItemKind.MODEL, b"1x"),
        (b'{"role": "assistant", "content": {"a": 1}}', ItemKind.MODEL, rb"{\"a\": 1}"),
        (
            b'{"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}',
            ItemKind.MODEL,
            b"No.",
        ),
        (b'{"type": "function_call", "call_id": 1, "name": "a"}', ItemKind.MODEL, b'"1"'),
        (b'{"type": "function_call", "call_id": "a"}', ItemKind.MODEL, b"unknown"),
        (b'{"type": "function_call_output", "call_id": 1}', ItemKind.OUTPUT, b'"1"'),
        (
            b'{"type": "function_call_output", "call_id": "c", "output": "a", "output": "b"}',
            ItemKind.OUTPUT,
            b'"b"',
        ),
        (b'{"type": "function_call_output", "output": ["a", {"b": 1}]}', ItemKind.OUTPUT, b"a"),
        (b'{"type": "function_call", "arguments": {"n": 1e999}}', ItemKind.MODEL, b"1e999"),
    ],
)  # fmt: skip
def test_what_some_server_accepts_is_read(raw, kind, told):
    made = read_item(raw, "input[3]")
    assert made.kind is kind
    assert told in made.text + made.call + made.opening + made.canonical


@pytest.mark.parametrize("raw", [b'{"a":' * 5_000 + b"1" + b"}" * 5_000, b'{"a":"\xff"}', b"{"])
def test_what_cannot_be_read_is_named(raw):
    with pytest.raises(BadRequest) as raised:
        read_item(raw, "input[3]")
    assert raised.value.param == "input[3]"


def test_a_message_of_the_user_is_its_own_canonical_form():
    assert item(type="message", id="msg_1", role="user", content="hi").canonical == b""


def test_a_cache_breakpoint_is_a_cache_marker():
    marker = {"mode": "explicit", "ttl": "12h"}
    part = {"type": "input_text", "text": "a", "prompt_cache_breakpoint": marker}
    found = item(type="message", role="user", content=[part, {"type": "input_text", "text": "b"}])
    assert json.loads(found.canonical) == {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "a", "cache_control": marker},
            {"type": "input_text", "text": "b"},
        ],
    }
    output = item(type="function_call_output", call_id="c", output=[part])
    assert json.loads(output.canonical)[0]["cache_control"] == marker


def test_of_an_output_only_the_place_is_kept():
    raw = b'{"type":"function_call_output", "call_id":"c", "output" : "four" }'
    found = read_item(raw, "input[0]")
    assert found.output is not None
    assert raw[slice(*found.output)] == b'"four"'
    assert found.size == len(found.opening)


def test_encrypted_reasoning_is_what_counts():
    raw = (
        b'{"type":"reasoning","summary":[{"type":"summary_text","text":"seen"}],'
        b'"encrypted_content":"gAAAA"}'
    )
    sealed = read_item(raw, "input[0]")
    assert sealed.sealed is not None
    assert raw[slice(*sealed.sealed)] == b'"gAAAA"'
    assert sealed.reasoning == ()
    shown = item(type="reasoning", summary=[{"type": "summary_text", "text": "seen"}], content=None)
    assert shown.reasoning == (b'"seen"',)
    assert shown.reasons
    assert not shown.identified


def test_an_unknown_item_is_kept_whole_without_what_the_server_counts():
    (part,) = item(type="dream", id="dr_1", status="completed", depth=3).parts
    assert json.loads(part) == {"type": "dream", "depth": 3}


def test_an_unknown_item_may_have_any_role():
    assert item(type="dream", role={"a": []}).kind is ItemKind.MODEL


def test_tools_among_the_items_are_counted():
    tools = [{"type": "function", "name": "read", "description": "word " * 300}]
    assert item(type="additional_tools", role="developer", tools=tools).tools_tokens > 300

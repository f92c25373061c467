"""Messages of any shape that some server accepts are read as text."""

from __future__ import annotations

import msgspec
import pytest

from memtree.conversation.history import describe
from memtree.conversation.message import Message, Volatile

DATA = "A" * 400
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def call(**fields):
    return {"role": "assistant", "tool_calls": [fields]}


@pytest.mark.parametrize(
    ("raw", "role", "text"),
    [
        (b'"hello"', "unknown", "hello"),
        (b"7", "unknown", "7"),
        (b"null", "unknown", ""),
        (b'[{"a": 1}]', "unknown", '[{"a": 1}]'),
        (b'{"content": "hi"}', "unknown", "hi"),
        (b'{"role": "ipython", "content": "hi"}', "ipython", "hi"),
        (b'{"role": "User", "content": "hi"}', "user", "hi"),
        (b'{"role": "user\\n2 user", "content": "hi"}', "unknown", "hi"),
        (b'{"role": ["user"]}', "unknown", ""),
        (b'{"role": "tool", "content": {"temp": 4.0}}', "tool", '{"temp": 4.0}'),
        (b'{"role": "user", "content": true}', "user", "true"),
        (b'{"role": "user", "content": [1, "a", null, ["b"]]}', "user", '1a["b"]'),
        (b'{"role": "user", "content": [{"text": "a"}, {"type": "text"}]}', "user", "a"),
        (b'{"role": "user", "content": [{"type": "text", "text": {"v": 1}}]}', "user", '{"v":1}'),
        (b'{"role": "user", "content": [{"k": "v"}]}', "user", '{"k": "v"}'),
        (b'{"role": "user", "content": "cut \\ud99c"}', "user", "cut \ufffd"),
        (b'{"role": "user", "content": "\\ud83d\\ude00\\udc00"}', "user", "\U0001f600\ufffd"),
        (b'{"role": "user", "content": "\\\\ud83d"}', "user", "\\ud83d"),
        (b'{"role": "user", "content": "a", "seed": 1e999}', "user", "a"),
        (b'{"role": "tool", "tool_call_id": 7, "content": "a"}', "tool", "a"),
    ],
)  # fmt: skip
def test_what_some_server_accepts_is_read(raw, role, text):
    message = Message(raw)
    assert (message.role, message.text) == (role, text)
    assert describe(message, Volatile()).role == role
    assert message.raw == raw


@pytest.mark.parametrize(
    ("fields", "id_", "name", "arguments"),
    [
        (call(id="a"), "a", "unknown", ""),
        (call(id=5, function={"name": "f", "arguments": None}), "5", "f", ""),
        (call(function={"arguments": "{}"}), "", "unknown", "{}"),
        (call(name="f", arguments={"a": 1}), "", "f", '{"a":1}'),
        (call(function={"name": "f", "arguments": [1 << 70]}), "", "f", f"[{1 << 70}]"),
        (call(function="f"), "", "f", ""),
        ({"role": "assistant", "tool_calls": {"function": {"name": "f"}}}, "", "f", ""),
        ({"role": "assistant", "tool_calls": [[1]]}, "", "unknown", "[1]"),
        ({"role": "assistant", "function_call": "f"}, "", "f", ""),
    ],
)
def test_odd_calls_are_read(fields, id_, name, arguments):
    message = Message.of(fields)
    (made,) = message.calls
    assert (made.id, made.name, made.arguments) == (id_, name, arguments)
    assert describe(message, Volatile()).calls == ((id_, name),)


@pytest.mark.parametrize("blank", ["", {}, False, 0, [], [{}], [None]])
def test_a_blank_field_of_calls_calls_nothing(blank):
    fields = {"tool_calls": blank, "function_call": None if blank else blank}
    message = Message.of({"role": "assistant", "content": "Hi", **fields})
    assert (message.calls, message.text) == ((), "Hi")
    assert describe(message, Volatile()).calls == ()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (IMAGE, "\n[image]"),
        ([{"inline_data": {"data": DATA}}], "\n[inline_data]"),
        ([{"type": "odd", "number": 1 << 70}], "\n[odd]"),
    ],
)
def test_data_is_no_text(content, text):
    message = Message.of({"role": "user", "content": content})
    assert message.text == text
    assert len(describe(message, Volatile()).digest) == 32


def test_spellings_of_one_message_that_was_read_before_keep_their_digest():
    posted = msgspec.json.encode({"role": "user", "content": "hi"})
    odd = Message(b'{"role": "User", "content": ["hi"]}')
    assert describe(odd, Volatile()).digest == describe(Message(posted), Volatile()).digest

"""Messages: lossless, parsed on demand, checked with a name for every place that is wrong."""

from __future__ import annotations

import itertools

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtree.conversation.history import price
from memtree.conversation.media import FLAT_TOKENS, LOW_DETAIL_TOKENS
from memtree.conversation.message import MESSAGE_OVERHEAD, Message, Segment, Volatile, read_messages
from memtree.errors import BadRequest

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def call(name="read", arguments="{}", id_="c1"):
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def length(text):
    """A token is a character, so that prices can be added up by hand."""
    return len(text)


def test_a_name_is_read_once(monkeypatch):
    named = Message.of({"role": "assistant", "name": "Ben", "content": "hello"})
    assert named.name == "Ben"
    monkeypatch.setattr(Message, "said", None)
    assert named.name == "Ben"


def test_a_message_keeps_its_bytes():
    raw = b'{"content" : "h\\u00e9\\/",  "role":"user", "x": [1.50, {"y":null}]}'
    assert Message(raw).raw == raw
    assert Message(msgspec.Raw(raw)).raw == raw


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        ("", ""),
        ([], ""),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        ([{"type": "input_text", "text": "a"}, {"type": "output_text", "text": "b"}], "ab"),
        ([IMAGE, {"type": "text", "text": "a"}], "a\n[image]"),
        ([{"type": "file", "file": {}}, {"type": "refusal", "refusal": "no"}], "no\n[file]"),
    ],
)
def test_text_of_content(content, text):
    assert Message.of({"role": "user", "content": content}).text == text


def test_absent_content_is_no_text():
    assert Message.of({"role": "assistant"}).text == ""


def test_calls_stand_in_the_text_and_their_arguments_can_be_quoted():
    message = Message.of(
        {
            "role": "assistant",
            "content": "Look:",
            "tool_calls": [call("ls", '{"p":1}'), call("cat")],
        }
    )
    assert message.text == 'Look:\nls {"p":1}\ncat {}'
    kinds = [(message.text[s.start : s.end], s.kind, s.quotable) for s in message.segments]
    assert kinds == [
        ("Look:", "text", True),
        ("\nls ", "name", False),
        ('{"p":1}', "call", True),
        ("\ncat ", "name", False),
        ("{}", "call", True),
    ]


def test_legacy_and_custom_calls():
    legacy = Message.of({"role": "assistant", "function_call": {"name": "f", "arguments": "1"}})
    custom = {"id": "c", "type": "custom", "custom": {"name": "f", "input": "1"}}
    modern = Message.of({"role": "assistant", "tool_calls": [custom]})
    assert [(c.name, c.arguments) for c in legacy.calls] == [("f", "1")]
    assert [(c.name, c.arguments) for c in modern.calls] == [("f", "1")]


# ---------------------------------------------------------------- volatile blocks


def test_closed_volatile_blocks_leave_the_view_of_user_messages():
    details = "<environment_details k='1'>\ny\n</environment_details>"
    text = f"a<system-reminder>x</system-reminder>b{details}c"
    assert Message.of({"role": "user", "content": text}).view(Volatile()).text == "abc"
    assert Message.of({"role": "assistant", "content": text}).view(Volatile()).text == text
    assert Message.of({"role": "user", "content": text}).view(Volatile(())).text == text


@pytest.mark.parametrize(
    "text",
    [
        "<system-reminder>never closed",
        "<system-reminders>x</system-reminders>",
        "<system-reminder>x</environment_details>",
        "<b>x</b>",
    ],
)
def test_what_is_no_closed_volatile_block_stays(text):
    assert Volatile().strip(text) == text


def test_a_view_leads_back_to_the_posted_text_split_at_blocks():
    text = "<system-reminder>1</system-reminder>ab<system-reminder>2</system-reminder>cd"
    view = Message.of({"role": "user", "content": text}).view(Volatile())
    assert view.text == "abcd"
    assert [text[s:e] for s, e in view.posted(0, 4)] == ["ab", "cd"]
    assert [text[s:e] for s, e in view.posted(1, 3)] == ["b", "c"]
    assert [text[s:e] for s, e in view.posted(2, 4)] == ["cd"]
    assert view.posted(2, 2) == ()


@pytest.mark.slow
@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.booleans(), st.text("ab\n<é漢", max_size=6)), max_size=6),
    st.integers(0, 40),
    st.integers(0, 40),
)
def test_posted_spans_hold_the_text_of_the_view(pieces, low, size):
    text = "".join(
        f"<system-reminder>{body}</system-reminder>" if hidden else body for hidden, body in pieces
    )
    content = [{"type": "text", "text": text}, IMAGE]
    view = Message.of({"role": "user", "content": content}).view(Volatile())
    high = min(low + size, len(view.text))
    words = "".join(text[start:end] for start, end in view.posted(low, high))
    quotable = len(view.text) - len("\n[image]")
    assert words == view.text[low : min(high, quotable)]
    joined = [Segment(0, 0, "text"), *view.segments]
    assert all(one.end == other.start for one, other in itertools.pairwise(joined))


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "bad", [b'{"role":"user","content":"\xff"}', b'{"role":', b"[" * 5_000 + b"]" * 5_000]
)
def test_bad_messages_name_the_place(bad):
    with pytest.raises(BadRequest) as caught:
        read_messages([b'{"role":"user","content":"hi"}', bad])
    assert (caught.value.param, caught.value.status) == ("messages[1]", 400)
    assert caught.value.message.startswith("messages[1]: not valid JSON")


@pytest.mark.parametrize("raw", [b"[]", b"{}", b"null", b'"x"', b"[", b"", b"[" * 100_000])
def test_what_is_no_list_of_messages(raw):
    with pytest.raises(BadRequest) as caught:
        read_messages(raw)
    assert caught.value.param == "messages"


def test_a_message_that_is_not_utf8():
    with pytest.raises(BadRequest) as caught:
        read_messages([b'{"role":"user","content":"\xff"}'])
    assert caught.value.param == "messages[0]"


def test_every_role_is_read():
    roles = ("system", "developer", "user", "assistant")
    messages = read_messages([msgspec.json.encode({"role": role}) for role in roles])
    assert tuple(message.role for message in messages) == roles


@pytest.mark.parametrize("text", [{"a": 1}, 5])
def test_a_part_of_unknown_type_with_a_strange_text_is_no_crash(text):
    part = {"type": "thinking", "text": text}
    (message,) = read_messages(msgspec.json.encode([{"role": "user", "content": [part]}]))
    price(message, length)


# ---------------------------------------------------------------- prices


def test_a_price_is_text_calls_reasoning_and_overhead():
    message = Message.of(
        {
            "role": "assistant",
            "content": "12345",
            "name": "ab",
            "reasoning_content": "123",
            "tool_calls": [call("ls", "{}"), call("cat", "{}")],
        }
    )
    calls = (2 + 2 + MESSAGE_OVERHEAD) + (3 + 2 + MESSAGE_OVERHEAD)
    assert price(message, length) == MESSAGE_OVERHEAD + 5 + 2 + 3 + calls


def test_images_without_a_size_have_a_flat_price():
    low = {"type": "image_url", "image_url": {"url": "x", "detail": "low"}}
    message = Message.of({"role": "user", "content": [IMAGE, low]})
    assert price(message, length) == MESSAGE_OVERHEAD + FLAT_TOKENS + LOW_DETAIL_TOKENS


def test_a_refusal_part_costs_its_words():
    refusal = {"type": "refusal", "refusal": "no"}
    assert price(Message.of({"role": "assistant", "content": [refusal]}), length) < 20


def test_what_is_kept_for_later_is_not_kept_parsed():
    message = Message.of({"role": "user", "content": "hi"})
    assert message.unread() is message
    assert message.role == "user"
    bare = message.unread()
    assert bare is not message
    assert bare.raw is message.raw
    assert bare.unread() is bare


def test_what_a_dialect_adds_is_kept_with_it():
    message = Message(b'{"role":"user","content":"hi"}', joined=True, loads=frozenset({"Edit"}))
    assert message.role == "user"
    bare = message.unread()
    assert bare is not message
    assert (bare.joined, bare.loads) == (True, {"Edit"})
    plain = Message.of({"role": "user", "content": "hi"})
    assert (plain.joined, plain.loads) == (False, frozenset())

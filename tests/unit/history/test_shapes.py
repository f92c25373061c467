"""Messages of any shape that clients send and servers accept."""

from __future__ import annotations

import base64
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.errors import BadRequest
from memtree.history import address_chain, message
from memtree.history.attachments import FLAT_TOKENS
from memtree.history.chat_history import describe, markers, price, read
from memtree.history.json_body import elements_of, fields_of, split, with_value
from memtree.history.message import MESSAGE_OVERHEAD, Message, Volatile, read_messages
from memtree.history.posted_json import decode, decode_any, encode, mended
from memtree.text import tokens

# ------------------------------------------------------------------------------------------------
# Messages as real clients send them: what is hashed, what the tree reads, what is counted.


SIGNATURE = base64.b64encode(bytes(range(256)) * 4).decode()
CACHED = {"cache_control": {"type": "ephemeral"}}
THOUGHT = "First I look at the file."


def length(text):
    return len(text)


def said(role="assistant", content="Done.", **more):
    return {"role": role, "content": content, **more}


def call(id_="c1", name="f", arguments="{}", **more):
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments},
            **more}  # fmt: skip


def text(words, **more):
    return {"type": "text", "text": words, **more}


def digest(fields):
    return address_chain.digest(Message.of(fields), Volatile())


def cost(fields, count=length):
    return price(Message.of(fields), count)


def history(*messages):
    return read("t", [Message.of(one) for one in messages], Volatile())


# ---------------------------------------------------------------- reasoning

REASONED = [
    {"reasoning_content": THOUGHT},
    {"reasoning": THOUGHT},
    {"thinking": THOUGHT},
    {"reasoning_text": THOUGHT, "reasoning_opaque": ""},
    {"reasoning_details": [{"type": "", "text": THOUGHT}]},
    {"thinking_blocks": [{"type": "", "thinking": THOUGHT}]},
    {"reasoning_content": THOUGHT, "reasoning": THOUGHT, "thinking": THOUGHT},
]


@pytest.mark.parametrize("spelled", REASONED)
def test_reasoning_is_counted_once_and_neither_hashed_nor_read(spelled):
    fields = said(**spelled)
    assert digest(fields) == digest(said())
    assert Message.of(fields).text == "Done."
    plain = MESSAGE_OVERHEAD + len("Done.")
    assert plain + len(THOUGHT) <= cost(fields) <= plain + len(THOUGHT) + 30


@pytest.mark.parametrize("kind", ["thinking", "reasoning", "redacted_thinking"])
def test_reasoning_as_a_part(kind):
    fields = said(
        content=[{"type": kind, "thinking": THOUGHT, "signature": SIGNATURE}, text("Done.")]
    )
    assert digest(fields) == digest(said())
    assert Message.of(fields).text == "Done."
    assert len(THOUGHT) < cost(fields) < len(SIGNATURE)


def test_signatures_are_not_counted_as_text():
    google = {"extra_content": {"google": {"thought_signature": SIGNATURE}}}
    fields = said(content=None, tool_calls=[call(**google)], **google)
    plain = {"role": "assistant", "content": None, "tool_calls": [call()]}
    assert digest(fields) == digest(plain)
    added = cost(fields) - cost(plain)
    assert 2 * len(SIGNATURE) // 5 <= added < 2 * len(SIGNATURE) // 5 + 80
    assert cost(fields, tokens.count) < 650


def test_encrypted_reasoning_is_no_text():
    fields = said(reasoning_details=[{"type": "reasoning.encrypted", "data": SIGNATURE * 99}])
    assert FLAT_TOKENS < cost(fields, tokens.count) < FLAT_TOKENS + 40


# ---------------------------------------------------------------- refusal, audio, media


def test_a_refusal_is_counted():
    refused = said(content=None, refusal="I cannot.", parsed=None)
    assert cost(refused) == MESSAGE_OVERHEAD + len("I cannot.")
    assert Message.of(refused).text == ""
    assert digest(refused) == digest(said(content=None))
    part = said(content=[{"type": "refusal", "refusal": "I cannot."}])
    assert cost(part) == cost(refused)
    assert digest(part) == digest(said(content="I cannot."))


def test_an_answer_that_was_spoken_leaves_a_placeholder():
    one, other = (said(content=None, audio={"id": id_}) for id_ in ("audio_1", "audio_2"))
    assert Message.of(one).text == "\n[audio]"
    assert cost(one) == MESSAGE_OVERHEAD + FLAT_TOKENS
    assert digest(one) == digest(other)
    assert cost(said(audio=None)) == cost(said())


@pytest.mark.parametrize(
    ("part", "placeholder"),
    [
        ({"type": "image_url", "image_url": {"url": "data:,x"}}, "[image]"),
        ({"type": "input_image", "image_url": "data:,x"}, "[image]"),
        ({"type": "input_audio", "input_audio": {"data": "AAAA"}}, "[audio]"),
        ({"type": "video_url", "video_url": {"url": "x"}}, "[video]"),
        (
            {"type": "file", "file": {"filename": "plan.pdf", "file_data": "AAAA"}},
            "[file plan.pdf]",
        ),
        ({"type": "input_file", "filename": "plan.pdf", "file_id": "f"}, "[file plan.pdf]"),
        ({"type": "file", "file": {"filename": 5}}, "[file]"),
        ({"type": "file", "file": {"filename": "n" * 500}}, f"[file {'n' * 60}]"),
        ({"type": "hologram", "data": SIGNATURE}, "[hologram]"),
        ({"type": "h" * 500}, f"[{'h' * 60}]"),
        ({"type": ""}, "[]"),
    ],
)
@pytest.mark.parametrize("role", ["user", "tool"])
def test_media_leave_a_placeholder_that_is_not_quoted(part, placeholder, role):
    message = Message.of(said(role, [part, text("Look: ")]))
    assert message.text == f"Look: \n{placeholder}"
    assert [one.quotable for one in message.segments] == [True, False]
    assert digest(said(role, [part])) != digest(said(role, []))
    assert digest(said(role, [{**part, **CACHED}])) == digest(said(role, [part]))


def test_media_are_hashed_by_their_data():
    long = [{"type": "image_url", "image_url": {"url": f"data:,{n}" + "x" * 5_000}} for n in "ab"]
    deep = [{"type": "a", "b": {"c": {"d": {"e": n + "x" * 5_000}}}} for n in "ab"]
    for one, other in (long, deep):
        assert digest(said("user", [one])) != digest(said("user", [other]))
        assert digest(said("user", [one])) == digest(said("user", [dict(reversed(one.items()))]))


def test_a_picture_in_a_tool_message_is_no_text():
    url = f"data:image/jpeg;base64,{SIGNATURE * 2_000}"
    content = [text("shot"), {"type": "image_url", "image_url": {"url": url}}]
    fields = said("tool", content, tool_call_id="c1")
    assert cost(fields, tokens.count) == MESSAGE_OVERHEAD + 1 + FLAT_TOKENS


# ---------------------------------------------------------------- content and fields


@pytest.mark.parametrize("content", ["", None, []])
def test_no_content(content):
    assert digest(said(content=content)) == digest({"role": "assistant"})
    assert cost(said(content=content)) == cost({"role": "assistant"}) == MESSAGE_OVERHEAD
    assert Message.of(said(content=content)).text == ""


def test_unknown_fields_stay_and_do_not_count():
    raw = (
        b'{"role":"assistant","content":"Done.","x-new":{"n":1.50},"prefix":true,"annotations":[1]}'
    )
    (message,) = read_messages([raw])
    assert message.raw == raw
    assert price(message, length) == cost(said())
    assert address_chain.digest(message, Volatile()) == digest(said())


def test_a_name_is_counted():
    assert cost(said("user", name="ada")) == cost(said("user")) + 3


@pytest.mark.parametrize(
    ("fields", "number"),
    [
        (said("user", "a"), 0),
        (said("user", "a", **CACHED), 1),
        (said("user", "a", cache_control=None), 0),
        (said("user", [text("a", **CACHED), text("b", **CACHED)]), 2),
        (said("tool", [text("a", **CACHED)], tool_call_id="c"), 1),
        (said(tool_calls=[call(**CACHED)]), 1),
        (said("user", 'we use "cache_control": {"type": "ephemeral"}'), 0),
    ],
)
def test_cache_markers_are_counted_where_they_are_markers(fields, number):
    assert len(markers(Message.of(fields))) == number
    found = history(said("system", "S", **CACHED), fields if fields["role"] != "tool" else said())
    assert found.facts[0].markers == (number if fields["role"] != "tool" else 0)
    assert found.system.markers == 1


# ---------------------------------------------------------------- calls and their answers


def result(id_="c1", content="x", **more):
    named = {} if id_ is ... else {"tool_call_id": id_}
    return {"role": "tool", "content": content, **named, **more}


def calls(*made, content=None):
    return {"role": "assistant", "content": content, "tool_calls": list(made)}


USER = said("user", "go")


def test_results_in_another_order_are_bound_to_their_calls():
    asked = calls(call("a"), call("b"))
    one = history(USER, asked, result("a", "1"), result("b", "2"))
    other = history(USER, asked, result("b", "2"), result("a", "1"))
    assert one.rounds == other.rounds == (0, 1)
    assert set(one.facts[2:]) - {one.facts[2]} != set()
    assert {fact.digest for fact in one.facts} == {fact.digest for fact in other.facts}


def test_the_same_id_in_a_later_round():
    again = [calls(call("call_0")), result("call_0"), calls(call("call_0")), result("call_0")]
    assert history(USER, *again).rounds == (0, 1, 3)


def nameless(name="f"):
    made = call(name=name)
    del made["id"]
    return made


@pytest.mark.parametrize("id_", ["", None, ...])
def test_calls_without_ids_are_answered_in_order(id_):
    made = [nameless() if id_ is ... else call(id_) for _ in range(2)]
    found = history(USER, calls(*made), result(id_, "same"), result(id_, "same"), said())
    assert found.rounds == (0, 1, 4)
    named = history(USER, calls(call("a"), call("b")), result("a", "same"), result("b", "same"))
    assert [f.digest for f in found.facts[:4]] == [f.digest for f in named.facts]


def test_a_result_without_an_id_answers_the_next_call():
    found = history(USER, calls(call("a"), call("b")), result("b", "2"), result(..., "1"))
    named = history(USER, calls(call("a"), call("b")), result("b", "2"), result("a", "1"))
    assert found.addresses == named.addresses


@pytest.mark.parametrize(
    "messages",
    [
        [USER, result(...)],
        [USER, calls(call("a")), result("a"), result(...)],
        [USER, calls(call("")), result(""), result("")],
        [USER, said(), result(None)],
        [USER, calls(call("a")), said("user", "wait"), result(...)],
    ],
)
def test_results_without_a_call_are_bound_to_none(messages):
    found = history(*messages)
    assert found.facts[-1].digest == digest(messages[-1])
    assert len(found) - 1 not in found.rounds


def test_a_second_result_of_a_call_is_let_through():
    """The upstream says whether a second result is allowed."""
    assert history(USER, calls(call("a")), result("a"), result("a")).rounds == (0, 1)


def test_arguments_as_an_object():
    fields = calls(call(arguments={"path": "a.py", "n": 1.5}))
    message = Message.of(fields)
    assert message.text == '\nf {"path":"a.py","n":1.5}'
    assert not any(one.quotable for one in message.segments)
    assert cost(fields) > len('{"path":"a.py"}')
    assert digest(fields) == digest(calls(call(arguments='{"path":"a.py","n":1.5}')))


def test_an_unanswered_call_is_a_round():
    assert history(USER, calls(call("a")), said("user", "stop")).rounds == (0, 1, 2)
    assert history(USER, calls(call("a"))).rounds == (0, 1)


def test_legacy_functions():
    asked = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "1"}}
    for name in ({"name": "f"}, {"name": "g"}, {}):
        assert history(USER, asked, {"role": "function", "content": "x", **name}).rounds == (0, 1)
    assert Message.of(asked).text == "\nf 1"


def test_nested_beyond_reason_is_a_bad_request():
    deep = b'{"a":' * 40_000 + b"1" + b"}" * 40_000
    raw = b'{"role":"user","content":[{"type":"x","v":' + deep + b"}]}"
    with pytest.raises(BadRequest) as caught:
        read("t", [Message(raw)], Volatile())
    assert caught.value.param == "messages[0]"


def test_one_message_that_would_take_minutes_is_a_bad_request(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(message, "MOST_TEXT", 300)
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 400}}
    parts = [{"type": "text", "text": "ä" * 140}, image]
    assert history(said(content=parts)).facts
    with pytest.raises(BadRequest, match="300 bytes of text") as caught:
        history(USER, said(content="ä" * 151))
    assert caught.value.param == "messages[1]"


@pytest.mark.parametrize("depth", [100, 300, 900])
def test_parts_are_as_deep_as_a_decoder_reads(depth):
    deep = b'{"a":' * depth + b"1" + b"}" * depth
    raw = b'{"role":"user","content":[{"type":"x","v":' + deep + b"}]}"
    assert read("t", [Message(raw)], Volatile()).facts[0].tokens > 0


@pytest.mark.parametrize(
    "newest",
    [said(content="Well, "), said(content="Well, ", prefix=True), calls(call("a"))],
)
def test_an_assistant_may_stand_last(newest):
    found = history(USER, newest)
    assert found.rounds == (0, 1)
    assert msgspec.json.decode(found.messages[-1].raw) == newest


# ------------------------------------------------------------------------------------------------
# Messages of any shape that some server accepts are read as text.


DATA = "A" * 400
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def message_shape_call(**fields):
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
        (message_shape_call(id="a"), "a", "unknown", ""),
        (message_shape_call(id=5, function={"name": "f", "arguments": None}), "5", "f", ""),
        (message_shape_call(function={"arguments": "{}"}), "", "unknown", "{}"),
        (message_shape_call(name="f", arguments={"a": 1}), "", "f", '{"a":1}'),
        (
            message_shape_call(function={"name": "f", "arguments": [1 << 70]}),
            "",
            "f",
            f"[{1 << 70}]",
        ),
        (message_shape_call(function="f"), "", "f", ""),
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


# ------------------------------------------------------------------------------------------------
# JSON with half characters and huge numbers.


HALF = rb'{"a":"\ud99c","b\udc00":[1,"\ud83d\ude00\ud83d"],"c":2}'


@given(st.text(st.characters(codec=None), max_size=20))
def test_halves_are_mended_and_nothing_else(text):
    raw = json.dumps([text]).encode()
    assert len(mended(raw)) == len(raw)
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if not any("\ud800" <= sign <= "\udfff" for sign in text):
        assert mended(raw) == raw
    assert [len(each) for each in decode(raw)] == [len(whole)]


def test_raw_pieces_keep_their_bytes():
    fields = fields_of(HALF)
    assert list(map(bytes, fields.values())) == [rb'"\ud99c"', rb'[1,"\ud83d\ude00\ud83d"]', b"2"]
    assert elements_of(bytes(fields["b\ufffd"]))[1] == rb'"\ud83d\ude00\ud83d"'
    assert with_value(HALF, fields, "c", b"3") == HALF.replace(b":2}", b":3}")


@pytest.mark.parametrize("halves", [True, False])
def test_fields_of_our_own_hold_no_half_characters(halves):
    assert split(HALF, halves=True).raw == HALF
    with pytest.raises(BadRequest, match="query holds half"):
        split(rb'{"query":"\ud99c"}', halves=halves)


def test_numbers_out_of_range_are_text():
    assert decode_any(b"[1e999, 1.5, 12, 123456789012345678901]") == [
        "1e999", 1.5, 12, "123456789012345678901"
    ]  # fmt: skip
    assert decode_any(b"[123456789012345678901]") == [123456789012345678901]
    assert encode({"b": 1 << 70, "a": "\u00e9"}, order="deterministic").startswith(b'{"a":"\xc3')
    with pytest.raises(msgspec.ValidationError):
        decode(b"1", list)

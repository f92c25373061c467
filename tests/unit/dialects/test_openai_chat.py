"""Messages of chat completions: what stays does so byte for byte, and what is ours has its form."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.context.answer import AssistantLine, KeptMessage, MemoryText
from memtree.conversation.message import Message
from memtree.dialects.openai_chat import messages, with_text_before

BLOCK = '<recalled_context>\nÄ quote "here"\n</recalled_context>\n\n'
POSTED = (
    Message(b'{"role": "system",  "content": "be brief"}'),
    Message(b'{"content": "What?",  "role": "user"}'),
)


def user(content, **more):
    return {"role": "user", "content": content, **more}


def test_kept_messages_stay_byte_for_byte_in_the_order_of_the_items():
    kept = messages([KeptMessage(1), KeptMessage(0)], POSTED)
    assert kept == (POSTED[1].raw, POSTED[0].raw)


def test_a_block_stands_in_front_of_the_text_of_its_message():
    (sent,) = messages([KeptMessage(1, BLOCK)], POSTED)
    assert sent == POSTED[1].raw.replace(
        b'"What?"', json.dumps(BLOCK + "What?", ensure_ascii=False).encode()
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("x", "x" + BLOCK),
        ("", BLOCK),
        (None, BLOCK),
        ([{"type": "text", "text": "x"}], [{"type": "text", "text": t} for t in ("x", BLOCK)]),
        ([], [{"type": "text", "text": BLOCK}]),
    ],
)
def test_a_block_stands_behind_the_text_of_a_result(content, expected):
    result = {"role": "tool", "tool_call_id": "c", "content": content}
    (sent,) = messages([KeptMessage(0, BLOCK, behind=True)], [Message.of(result)])
    assert json.loads(sent) == {**result, "content": expected}


def test_a_block_is_the_text_of_a_result_without_content():
    result = {"role": "tool", "tool_call_id": "c"}
    (sent,) = messages([KeptMessage(0, BLOCK, behind=True)], [Message.of(result)])
    assert json.loads(sent) == {**result, "content": BLOCK}


def test_a_line_is_the_assistants():
    (sent,) = messages([AssistantLine("Understood.")], ())
    assert json.loads(sent) == {"role": "assistant", "content": "Understood."}


MARKER = {"type": "ephemeral", "ttl": "1h"}


@pytest.mark.parametrize(
    ("memory", "content"),
    [
        (MemoryText("x"), "x"),
        (MemoryText("x", as_parts=True), [{"type": "text", "text": "x"}]),
        (
            MemoryText("x", as_parts=True, cache_marker=MARKER),
            [{"type": "text", "text": "x", "cache_control": MARKER}],
        ),
    ],
)
def test_the_memory_message_is_the_users(memory, content):
    (sent,) = messages([memory], ())
    assert json.loads(sent) == user(content)


# ---------------------------------------------------------------- text before a message's own


def test_a_string_stays_a_string():
    found = json.loads(with_text_before(b'{"role":"user","content":"What?"}', BLOCK))
    assert found == user(f"{BLOCK}What?")


def test_other_fields_stay_byte_for_byte():
    front = rb'{"name":"M\u00fcller","x-new":{"b":1.50, "a":[1e3,null]},"role":"user","content":'
    back = rb',"\u0061":"\ud83d\ude00","zz":12345678901234567890,"cache_control":{"type":"x"}}'
    found = with_text_before(front + b'"caf\xc3\xa9 \\u00e9"' + back, BLOCK)
    assert found.startswith(front)
    assert found.endswith(b'caf\xc3\xa9 \\u00e9"' + back)
    assert json.loads(found)["content"] == f"{BLOCK}café é"


def test_space_between_fields_stays():
    """`json.dumps` writes such space: a proxy that relays bytes must not make it compact."""
    front, back = b'{"role": "user", "content": ', b', "name": "me"}'
    found = with_text_before(front + b'"What?"' + back, BLOCK)
    assert found.startswith(front)
    assert found.endswith(back)


def test_a_string_keeps_its_text_whatever_it_holds():
    text = 'a "b" \\ \u2028 \U0001f600 \x00 </recalled_context>\n\n'
    raw = json.dumps(user(text)).encode()
    assert json.loads(with_text_before(raw, BLOCK))["content"] == f"{BLOCK}{text}"


PICTURE = (
    rb'{"image_url":{"url":"data:image/png;base64,iVBOR\/w=="},"type":"image_url","\u00e4":1.0}'
)
TEXT = rb'{"type":"text","text":"caf\u00e9","cache_control":{"type":"ephemeral"}}'


@pytest.mark.parametrize("parts", [[PICTURE, TEXT], [TEXT, PICTURE], [TEXT], [PICTURE]])
def test_a_list_gains_a_first_part_and_keeps_the_others_byte_for_byte(parts):
    raw = b'{"role":"user","content":[' + b",".join(parts) + b'],"name":"n"}'
    found = with_text_before(raw, BLOCK)
    assert found.endswith(b"," + b",".join(parts) + b'],"name":"n"}')
    first, *others = json.loads(found)["content"]
    assert first == {"type": "text", "text": f"{BLOCK}"}
    assert others == json.loads(raw)["content"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
parts = st.fixed_dictionaries({"type": st.just("text"), "text": st.text(max_size=20)})
contents = st.text(max_size=40) | st.lists(parts, max_size=3)


@pytest.mark.slow
@given(contents, st.dictionaries(st.text(max_size=6), values, max_size=4), st.booleans(), st.text())
def test_any_message_keeps_everything_else(content, more, ascii_, block):
    fields = {"role": "user", **more, "content": content}
    raw = json.dumps(fields, ensure_ascii=ascii_, separators=(",", ":")).encode()
    found = json.loads(with_text_before(raw, block))
    assert list(found) == list(fields)
    own = found.pop("content")
    assert found == {key: value for key, value in fields.items() if key != "content"}
    if isinstance(content, str):
        assert own == f"{block}{content}"
    else:
        assert own == [{"type": "text", "text": f"{block}"}, *content]

"""Check what is sent: posted items as they came, and what is ours in its form."""

from __future__ import annotations

import json
from array import array
from itertools import accumulate

import pytest

from memtree.context.answer import AssistantLine, KeptMessage, MemoryText
from memtree.conversation.preamble import Preamble
from memtree.dialects.openai_responses.conversation import CanonicalMessages
from memtree.dialects.openai_responses.responses_history import (
    PostedItems,
    with_text_before,
    with_text_behind,
)

RAWS = (
    b'{"role": "developer",  "content": "be brief"}',
    b'{"content": "What?",  "role": "user"}',
    b'{"type":"reasoning", "id":"rs_1", "summary":[]}',
    b'{"type":"function_call", "call_id":"1", "name":"a", "arguments":"{ }"}',
    b'{"type":"function_call_output","call_id":"1","output":"x"}',
)


def posted(raws, places):
    ends = list(accumulate(len(place) for place in places))
    order = array("L", [item for place in places for item in place])
    return PostedItems(raws, CanonicalMessages((), order, array("L", [0, *ends])))


POSTED = posted(RAWS, ((), (0,), (1,), (2, 3), (4,)))


def sent(*items, texts=None):
    return POSTED.of(items, texts or {})


def test_messages_that_stay_are_all_their_items_byte_for_byte():
    kept = sent(*(KeptMessage(index) for index in range(5)))
    assert kept == list(RAWS)


def test_items_keep_their_order_on_each_side_of_the_memory():
    found = posted(RAWS, ((0,), (3,), (1,), (2,))).of(
        [KeptMessage(0), MemoryText("m"), KeptMessage(1), KeptMessage(2)], {}
    )
    assert found[0] == RAWS[0]
    assert found[2:] == [RAWS[1], RAWS[3]]


def test_the_memory_is_an_item_of_the_user_without_an_id():
    (memory,) = sent(MemoryText("m"))
    assert json.loads(memory) == {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "m"}],
    }


@pytest.mark.parametrize(
    ("marker", "breakpoint_"),
    [
        ({"mode": "explicit", "ttl": "12h"}, {"mode": "explicit", "ttl": "12h"}),
        ({"type": "ephemeral"}, {"mode": "explicit"}),
    ],
)
def test_a_cache_marker_is_a_breakpoint(marker, breakpoint_):
    (memory,) = sent(MemoryText("m", as_parts=True, cache_marker=marker))
    assert json.loads(memory)["content"][0]["prompt_cache_breakpoint"] == breakpoint_


def test_the_items_of_the_preamble_stand_before_the_memory_with_their_ids():
    whole = (
        b'{"type":"message", "id":"msg_7","role":"user",'
        b'"content":[{"type":"input_text", "text":"<a>\\u00e9</a>"}],"extra":{"turn": 1}}'
    )
    marked = (
        b'{"id":"msg_8","role":"user","content":[{"type":"input_text","text":"b",'
        b'"prompt_cache_breakpoint":{"mode":"explicit"}},{"type":"input_text", "text":"c"},'
        b'{"type":"input_text","text":"What?"}]}'
    )
    only = posted((whole, marked), ((0,), (1,)))
    parts = ((0, 0), (1, 0), (1, 1))
    first, second, memory = only.of([MemoryText("m", Preamble("", parts, 9))], {})
    assert first == whole
    assert second == (
        b'{"id":"msg_8","role":"user","content":'
        b'[{"type":"input_text","text":"b"},{"type":"input_text", "text":"c"}]}'
    )
    assert json.loads(memory)["content"] == [{"type": "input_text", "text": "m"}]


def test_a_preamble_that_is_a_part_of_a_string_stands_in_the_memory_item():
    (memory,) = sent(MemoryText("m", Preamble("rules", (), 1)))
    assert [part["text"] for part in json.loads(memory)["content"]] == ["rules", "m"]


def test_a_line_is_the_assistants():
    (line,) = sent(AssistantLine("Understood."))
    assert json.loads(line) == {"role": "assistant", "content": "Understood."}


def test_a_text_stands_before_the_items_own():
    assert sent(KeptMessage(2, "block ")) == [RAWS[1].replace(b'"What?"', b'"block What?"')]
    both = sent(KeptMessage(2, "block "), texts={1: "facts "})
    assert both == [RAWS[1].replace(b'"What?"', b'"facts block What?"')]
    raw = b'{"role":"user", "content":[ {"type":"input_text","text":"a"}] }'
    assert with_text_before(raw, "b") == (
        b'{"role":"user", "content":[{"type":"input_text","text":"b"}, '
        b'{"type":"input_text","text":"a"}] }'
    )
    assert with_text_before(b'{"role":"user","content":[]}', "b") == (
        b'{"role":"user","content":[{"type":"input_text","text":"b"}]}'
    )
    assert with_text_before(RAWS[4], "b ").endswith(b'"output":"b x"}')


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (b'"x"', b'"x\\n\\nb"'),
        (b"[ ]", b'[ {"type":"input_text","text":"\\n\\nb"}]'),
        (
            b'[{"type":"input_text","text":"x"}]',
            b'[{"type":"input_text","text":"x"},{"type":"input_text","text":"\\n\\nb"}]',
        ),
    ],
)
def test_a_block_stands_behind_the_text_of_an_output(output, expected):
    raw = RAWS[4].replace(b'"x"', output)
    found = posted((*RAWS[:4], raw), ((), (0,), (1,), (2, 3), (4,)))
    (made,) = found.of([KeptMessage(4, "\n\nb", behind=True)], {})
    assert made == raw.replace(output, expected)


def test_behind_an_output_without_text_a_block_is_an_item_of_its_own():
    raw = b'{"type":"computer_call_output","call_id":"1","output":{"type":"screen"}}'
    both = json.loads(b"[" + with_text_behind(raw, "b") + b"]")
    assert both[0] == json.loads(raw)
    assert both[1]["content"][0]["text"] == "b"


def test_a_text_before_nothing_is_an_item_of_its_own():
    both = json.loads(b"[" + with_text_before(b'{"role":"user","content":null}', "b") + b"]")
    assert both[0]["content"][0]["text"] == "b"
    assert both[1] == {"role": "user", "content": None}


def test_of_two_contents_the_decoder_decides():
    raw = b'{"role":"user","content":"a","content":"b"}'
    assert json.loads(with_text_before(raw, "c ")) == {"role": "user", "content": "c b"}

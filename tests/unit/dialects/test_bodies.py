"""Bodies of the Responses API as they are read and sent."""

from __future__ import annotations

import json
from array import array
from itertools import accumulate

import msgspec
import pytest

from memtree.config import Settings
from memtree.context.answer import Answer, AssistantLine, KeptMessage, MemoryText
from memtree.context.answer_state import Reason, State
from memtree.dialects import responses_history
from memtree.dialects.openai_chat import PlacedMemories
from memtree.dialects.responses_conversation import CanonicalMessages
from memtree.dialects.responses_history import PostedItems, with_text_before, with_text_behind
from memtree.dialects.responses_items import InputItems, ItemCache, ItemKind
from memtree.dialects.translated_messages import raw_items
from memtree.errors import BadRequest
from memtree.history import json_body
from memtree.history.conversation_beginning import Preamble
from memtree_proxy.dialects.responses_dialect import OpenAIResponses
from tests.made.shown_lines import lines_of

# ------------------------------------------------------------------------------------------------
# Bodies of `/responses`: what is read of them, and which bytes change.


def read(raw, cache=None, most=None):
    body = raw if isinstance(raw, bytes) else json.dumps(raw).encode()
    return responses_history.read(json_body.split(body), "t", cache or ItemCache(1), most)


def user(text, **more):
    return {"type": "message", "role": "user", "content": text, **more}


def answer(*items, changed=True):
    return Answer(State.PACKED, changed, items, b"", 0, 0, 0)


def memories():
    return PlacedMemories(lines_of(["Likes tea."]), 5)


@pytest.mark.parametrize(
    "fields",
    [
        {"previous_response_id": "resp_1", "input": "hi"},
        {"conversation": "conv_1"},
        {"input": [user("a"), {"type": "item_reference", "id": "msg_1"}]},
        {"input": [user("a"), {"type": "compaction_trigger"}]},
        {"input": [user("a")], "prompt_cache_options": {"prewarm": True}},
        {
            "input": [user("a")],
            "client_metadata": {"x-codex-turn-metadata": '{"request_kind":"prewarm"}'},
        },
    ],
)
def test_what_lies_on_the_server_passes(fields):
    found = read(fields)
    assert found.passes == Reason.SERVER_STATE
    assert found.fields(answer(MemoryText("m"))) == {}


@pytest.mark.parametrize(
    ("metadata", "side"),
    [
        ({"x-codex-turn-metadata": '{"request_kind":"compaction"}'}, True),
        ({"x-codex-turn-metadata": '{"request_kind":"turn"}'}, False),
        ({"x-codex-turn-metadata": "{"}, False),
        ({"x-codex-turn-metadata": '{"request_kind":1}'}, False),
        ({}, False),
        (None, False),
        ("compaction", False),
    ],
)
def test_codex_says_what_it_asks_for(metadata, side):
    found = read({"input": [user("a")], "client_metadata": metadata})
    assert (found.side, found.passes) == (side, "")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({}, "input"),
        ({"input": []}, "input"),
        ({"input": 1}, "input"),
        ({"input": [user("a")] * 4}, "input"),
    ],
)
def test_what_cannot_be_read_is_named(fields, param):
    with pytest.raises(BadRequest) as raised:
        read(fields, most=3)
    assert raised.value.param == param


def test_instructions_of_any_form_are_read():
    assert read({"input": "a", "instructions": ["b"]}).messages[0].text == '["b"]'


def test_tools_count_wherever_they_stand():
    tools = [{"type": "function", "name": "read", "description": "word " * 200}]
    form = {"format": {"type": "json_schema", "schema": {"description": "word " * 200}}}
    bare = read({"input": "a"}).tools_tokens
    moved = {"type": "additional_tools", "role": "developer", "tools": tools}
    assert bare == 0
    assert read({"input": "a", "tools": tools}).tools_tokens > 200
    assert read({"input": "a", "text": form}).tools_tokens > 200
    assert read({"input": [moved, user("a")]}).tools_tokens > 200
    assert read({"input": "a", "tools": [], "text": {"verbosity": "low"}}).tools_tokens == 0


def test_explicit_breakpoints_ask_for_one_on_the_memory():
    assert read({"input": "a", "prompt_cache_options": {"mode": "explicit"}}).markers == 1
    assert read({"input": "a", "prompt_cache_options": {"mode": "implicit"}}).markers == 0
    assert read({"input": "a", "prompt_cache_options": None}).markers == 0


def test_nothing_to_change_changes_nothing():
    found = read({"input": [user("a")]})
    assert found.fields(None) == {}
    assert found.fields(answer(KeptMessage(0), changed=False)) == {}


def test_memories_stand_before_the_newest_words_of_the_user():
    array = (
        b'[ {"role":"user","content":"a"} , {"role": "user", "content":"b"},'
        b'\n{"role":"assistant","content":"c"} ]'
    )
    found = read(b'{"input" : ' + array + b"}").fields(None, memories())["input"]
    text = json.loads(found)[1]["content"]
    assert "Likes tea" in text
    assert text.endswith("\n\nb")
    assert found.replace(msgspec.json.encode(text), b'"b"') == array


def test_a_string_stays_one_while_it_can():
    raw = b'{"input":"caf\\u00e9"}'
    found = read(raw)
    assert found.fields(None, memories())["input"].endswith(b'caf\\u00e9"')
    more = found.fields(None, memories(), [b'{"type":"reasoning"}'])["input"]
    first, second = json.loads(more)
    assert first["content"].endswith("\n\ncafé")
    assert second == {"type": "reasoning"}
    folded = found.fields(answer(MemoryText("m"), KeptMessage(0)))["input"]
    assert json.loads(folded)[1] == {"role": "user", "content": "café"}


def test_memories_without_a_user_are_an_item_of_their_own():
    found = read({"input": [{"role": "developer", "content": "x"}]}).fields(None, memories())
    first, second = json.loads(found["input"])
    assert first["role"] == "user"
    assert second["content"] == "x"


def test_a_fold_brings_its_own_memories():
    found = read({"input": [user("a"), user("b")]})
    folded = found.fields(answer(MemoryText("m"), KeptMessage(1)), memories())["input"]
    assert b"Likes tea" not in folded
    kept = found.fields(answer(KeptMessage(0), KeptMessage(1, "block ")), memories())["input"]
    first, second = json.loads(kept)
    assert first["content"] == "a"
    assert "Likes tea" in second["content"]
    assert second["content"].endswith("block b")


def test_more_items_stand_behind_the_posted_bytes():
    raw = b'{"input": [ {"role":"user","content":"a"} ]}'
    more = read(raw).fields(None, None, [b'{"x":1}', b'{"y":2}'])["input"]
    assert more == b'[ {"role":"user","content":"a"} ,{"x":1},{"y":2}]'
    folded = read(raw).fields(answer(MemoryText("m")), None, [b'{"x":1}'])["input"]
    assert json.loads(folded)[1] == {"x": 1}


def test_items_that_were_met_are_not_read_again():
    class Counted(ItemCache):
        kept = 0

        def put(self, *given):
            self.kept += 1
            super().put(*given)

    cache = Counted(1)
    items = [user("a"), {"role": "assistant", "content": "b"}]
    first = read({"input": items}, cache).messages
    assert cache.kept == 2
    second = read({"input": [*items, user("c")]}, cache).messages
    assert cache.kept == 3
    assert [m.raw for m in second[:2]] == [m.raw for m in first]


# ------------------------------------------------------------------------------------------------
# Check what is sent: posted items as they came, and what is ours in its form.


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


# ------------------------------------------------------------------------------------------------
# The dialect as the routes see it.


def test_it_reads_bodies_and_forgets_them():
    dialect = OpenAIResponses(Settings())
    body = json_body.split(b'{"input":"hi","max_output_tokens":5}')
    (message,) = dialect.read(body, "t").messages
    assert (message.role, message.text) == ("user", "hi")
    dialect.forget()
    assert dialect.read(body, "t").messages[0].raw == message.raw


def test_an_item_that_is_looked_at_behind_a_deletion_is_not_kept():
    cache = ItemCache(1)
    raws = raw_items(json_body.split(b'{"input":[{"role":"user","content":"a"}]}'), "input")
    assert raws
    began = InputItems(raws, "t", cache)
    cache.forget()
    assert (began[0].kind, cache.nbytes) == (ItemKind.USER, 0)
    assert InputItems(raws, "t", cache)[0].kind is ItemKind.USER
    assert cache.nbytes

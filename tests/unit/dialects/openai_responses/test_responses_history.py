"""Bodies of `/responses`: what is read of them, and which bytes change."""

from __future__ import annotations

import json

import msgspec
import pytest

from memtree.context.answer import Answer, KeptMessage, MemoryText
from memtree.context.state import Reason, State
from memtree.dialects.openai_chat import PlacedMemories
from memtree.dialects.openai_responses import responses_history
from memtree.dialects.openai_responses.input_item import ItemCache
from memtree.errors import BadRequest
from memtree.wire import json_body
from tests.made.shown_lines import lines_of


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

"""Check what memory may not change about a Responses request is noticed, and what it may passes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.wire.clean import function_call, message, output, reasoning, responses_request
from tests.wire.responses.responses_changes import changed
from tests.wire.rule_break import Fields, rules

Plant = Callable[[Fields], Any]
CONTEXT = "<environment_context>x</environment_context>"
BLOCK = {"type": "input_text", "text": "<recalled_context>it</recalled_context>"}
LATER = {"type": "function", "name": "later", "parameters": {}}
SEARCH = {"type": "tool_search_call", "id": "tsc", "call_id": "call_s"}
FOUND = {"type": "tool_search_output", "call_id": "call_s", "tools": [LATER]}


def posted() -> Fields:
    body = responses_request(memory=True)
    body["input"][10:10] = [SEARCH, FOUND]
    body["input"][12:12] = [reasoning("8"), function_call("8"), output("8")]
    return body


def folded() -> Fields:
    body = copy.deepcopy(posted())
    del body["memory"]
    items = body["input"]
    memory = message("user", "<context_memory>short</context_memory>")
    body["input"] = [items[0], items[1], memory, items[10], items[11], *items[12:]]
    return body


def part(index: int) -> Callable[[Fields], Any]:
    return lambda body: body["input"][index]["content"]


FAULTS: list[tuple[str, Plant]] = [
    ("own-field", lambda sent: sent.update(memory=True)),
    ("field-added", lambda sent: sent.update(instructions="x")),
    ("field-lost", lambda sent: sent.pop("prompt_cache_key")),
    ("field-changed", lambda sent: sent.update(store=True)),
    ("tools-changed", lambda sent: sent["tools"].pop(0)),
    ("memory-twice", lambda sent: sent["input"].insert(3, sent["input"][2])),
    ("memory-form", lambda sent: sent["input"][2].update(id="msg_mem")),
    ("memory-misplaced", lambda sent: sent["input"].insert(5, sent["input"].pop(2))),
    ("item-not-posted", lambda sent: sent["input"].insert(3, message("user", "hi"))),
    ("item-not-posted", lambda sent: sent["input"][6].update(arguments="{}")),
    ("item-not-posted", lambda sent: sent["input"][5].update(encrypted_content="y")),
    ("newest-lost", lambda sent: sent["input"].pop()),
    ("history-gap", lambda sent: sent["input"].__delitem__(slice(8, 10))),
    ("reasoning-lost", lambda sent: sent["input"].pop(5)),
    ("reasoning-lost", lambda sent: sent["input"].pop(8)),
    ("round-split", lambda sent: sent["input"].__delitem__(slice(6, 7))),
    ("system-item-lost", lambda sent: sent["input"].pop(0)),
    ("tool-load-lost", lambda sent: sent["input"].__delitem__(slice(3, 5))),
    ("preamble-lost", lambda sent: sent["input"].pop(1)),
    ("preamble-lost", lambda sent: sent["input"][1].pop("id")),
    ("item-not-posted", lambda sent: part(1)(sent)[0].update(text=CONTEXT + "y")),
    ("output-without-call", lambda sent: sent["input"].__delitem__(slice(5, 7))),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "plant"), FAULTS)
def test_a_planted_change_is_named(rule: str, plant: Plant):
    sent = folded()
    plant(sent)
    assert rule in rules(changed(posted(), sent))


def test_a_fold_as_it_should_be_passes():
    assert changed(posted(), folded()) == []


def test_a_message_of_the_system_may_stand_further_in_front():
    before, after = posted(), folded()
    late = message("developer", "On.")
    before["input"].insert(-1, late)
    after["input"].insert(1, late)
    assert changed(before, after) == []
    after["input"].pop(1)
    assert "system-item-lost" in rules(changed(before, after))


def test_an_older_load_of_the_same_tool_may_go():
    before = posted()
    again = {"call_id": "call_t"}
    before["input"][8:8] = [{**SEARCH, **again, "id": "tsc_t"}, {**FOUND, **again}]
    assert changed(before, folded()) == []


def test_what_was_made_with_one_reasoning_may_stay_with_what_loads_a_tool():
    before, after = posted(), folded()
    made = [reasoning("7"), function_call("7"), output("7")]
    before["input"][10:10] = made
    after["input"][3:3] = made
    assert changed(before, after) == []
    before["input"].insert(10 + len(made), message("user", "Go on."))
    assert "history-gap" in rules(changed(before, after))


def test_a_recall_block_before_the_words_passes():
    sent = folded()
    part(-1)(sent).insert(0, BLOCK)
    assert changed(posted(), sent) == []


def test_a_request_that_goes_as_posted_passes():
    sent = {name: value for name, value in posted().items() if name != "memory"}
    assert changed(posted(), sent) == []


def test_a_fold_behind_a_compaction_leaves_all_before_it():
    before, sent = posted(), folded()
    compaction = {"type": "compaction", "id": "cmp_1", "encrypted_content": "x"}
    before["input"].insert(3, compaction)
    sent["input"][1:2] = before["input"][1:4]
    sent["input"][4] = message("user", "<context_memory>short</context_memory>")
    assert changed(before, sent) == []
    del sent["input"][2]
    assert "system-item-lost" in rules(changed(before, sent))


def test_a_string_is_one_user_message():
    before = {"model": "m", "input": "hello"}
    block = {"role": "user", "content": [BLOCK, {"type": "input_text", "text": "hello"}]}
    assert changed(before, {"model": "m", "input": [block]}) != []
    words = f"{BLOCK['text']}\n\nhello"
    assert changed(before, {"model": "m", "input": words}) == []

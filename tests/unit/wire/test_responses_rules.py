"""Rules of the Responses API, and what memory may not change there."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.wire.clean import function_call, message, output, reasoning, responses_request
from tests.wire.responses.responses_changes import changed
from tests.wire.responses.responses_rules import broken
from tests.wire.rule_break import Fields, rules

# ------------------------------------------------------------------------------------------------
# Each rule of the Responses API notices the fault that is planted for it; clean requests pass.


Plant = Callable[[Fields], Any]
MEMORY = message("user", "<context_memory>short</context_memory>")
COMPACTION = {"type": "compaction", "id": "cmp_1", "encrypted_content": "x"}


def field(**changes: Any) -> Plant:
    return lambda body: body.update(changes)


def put(index: int, *items: Any) -> Plant:
    def plant(body: Fields) -> None:
        body["input"][index:index] = items

    return plant


def drop(*places: int) -> Plant:
    def plant(body: Fields) -> None:
        for place in sorted(places, reverse=True):
            del body["input"][place]

    return plant


def change(index: int, **changes: Any) -> Plant:
    return lambda body: body["input"][index].update(changes)


def without(index: int, name: str) -> Plant:
    return lambda body: body["input"][index].pop(name)


def part(index: int, **changes: Any) -> Plant:
    return lambda body: body["input"][index]["content"][0].update(changes)


FAULTS: list[tuple[str, Plant]] = [
    ("own-field", field(memory=True)),
    ("own-field", field(model_context_limit=9)),
    ("own-model-suffix", field(model="gpt-5.5:memory-30")),
    ("unknown-field", field(messages=[])),
    ("unknown-field", field(max_tokens=5)),
    ("missing-field", lambda body: body.pop("model")),
    ("two-states", field(previous_response_id="resp_1", conversation="conv_1")),
    ("no-input", field(input=[])),
    ("no-input", field(input="")),
    ("tool-without-name", field(tools=[{"type": "function", "function": {"name": "x"}}])),
    ("tool-defined-twice", lambda body: body["tools"].append(body["tools"][0])),
    ("tool-of-another-api", lambda body: body["tools"].append(
        {"type": "function", "name": "x", "input_schema": {}})),
    ("tool-choice-unknown", field(tool_choice={"type": "function", "name": "x"})),
    ("unknown-item", put(3, {"type": "tool_use", "id": "x"})),
    ("unknown-item", put(3, "text")),
    ("unknown-item-field", change(4, tool_calls=[])),
    ("unknown-item-field", change(3, reasoning_content="x")),
    ("unknown-role", change(4, role="tool")),
    ("item-id", change(5, id="call_1")),
    ("item-id", change(3, id=7)),
    ("call-without-id", without(5, "call_id")),
    ("call-name", without(5, "name")),
    ("arguments-not-a-string", change(5, arguments={"cmd": "ls"})),
    ("output-missing", without(6, "output")),
    ("content-missing", change(2, content=None)),
    ("reasoning-without-summary", without(3, "summary")),
    ("part-in-wrong-role", part(4, type="input_text")),
    ("part-in-wrong-role", part(2, type="output_text")),
    ("part-in-wrong-role", part(2, type="text")),
    ("unknown-part-field", part(2, cache_control={"type": "ephemeral"})),
    ("text-not-a-string", part(2, text=None)),
    ("breakpoint-form", part(2, prompt_cache_breakpoint={"type": "ephemeral"})),
    ("output-without-call", drop(3, 4, 5)),
    ("output-without-call", put(12, output("9"))),
    ("call-without-output", drop(6)),
    ("output-of-another-kind", change(6, type="custom_tool_call_output")),
    ("output-twice", put(7, output("1"))),
    ("call-id-twice", put(6, function_call("1", id="fc_7"))),
    ("item-id-twice", put(12, message("user", "again", id="msg_2"))),
    ("lone-reasoning", drop(11)),
    ("lone-reasoning", put(13, reasoning("9"))),
    ("lone-reasoning", put(12, reasoning("9"))),
    ("reasoning-not-stored", without(3, "encrypted_content")),
    ("reference-not-stored", put(12, {"type": "item_reference", "id": "msg_9"})),
    ("approval-without-request", put(
        12, {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True})),
    ("trigger-not-last", put(3, {"type": "compaction_trigger"})),
    ("memory-before-compaction", put(1, MEMORY, COMPACTION)),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "plant"), FAULTS)
def test_a_planted_fault_is_named(rule: str, plant: Plant):
    body = copy.deepcopy(responses_request())
    plant(body)
    assert rule in rules(broken(body))


def test_at_least_forty_faults_are_planted():
    assert len(FAULTS) >= 40


def test_an_item_without_the_reasoning_that_it_was_made_with_is_noticed():
    needs = {"fc_1": "rs_1", "msg_4": "rs_3"}
    body = responses_request()
    assert broken(body, needs) == []
    del body["input"][3]
    assert rules(broken(body, needs)) == {"item-without-reasoning"}


CLEAN: dict[str, Plant] = {
    "an agent's": lambda body: None,
    "a string": field(input="hello"),
    "messages without type": field(input=[{"role": "user", "content": "hello"}]),
    "the memory message": put(1, MEMORY),
    "a trigger at the end": put(13, {"type": "compaction_trigger"}),
    "a compacted history": put(3, COMPACTION),
    "memory behind the compaction": put(3, COMPACTION, MEMORY),
    "reasoning without ids": lambda body: [body["input"][at].pop("id") for at in (3, 7, 10)],
    "a continued response": field(previous_response_id="resp_1", input=[output("7")]),
    "a note on every item": change(
        2, internal_chat_message_metadata_passthrough={"a": 1}),
    "calls of the server": put(11, {"type": "web_search_call", "id": "ws_1", "status": "done"}),
    "loaded tools": put(11, {"type": "tool_search_call", "id": "ts_1", "execution": "server"},
                        {"type": "tool_search_output", "id": "tso", "execution": "server"}),
    "tools as an item": put(0, {"type": "additional_tools", "tools": []}),
    "an image": lambda body: body["input"][2]["content"].append(
        {"type": "input_image", "image_url": "data:,"}),
    "parallel calls": put(6, function_call("7"), output("7")),
    "a breakpoint": part(2, prompt_cache_breakpoint={"mode": "explicit"}),
    "an output of parts": change(6, output=[{"type": "input_text", "text": "a"}]),
    "a stored response by id": field(
        store=True, input=[{"type": "item_reference", "id": "msg_9"}, message("user", "on")]),
}  # fmt: skip


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_request_breaks_nothing(name: str):
    body = copy.deepcopy(responses_request())
    CLEAN[name](body)
    assert broken(body) == []


# ------------------------------------------------------------------------------------------------
# Check what memory may not change about a Responses request is noticed, and what it may passes.


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


def responses_changes_part(index: int) -> Callable[[Fields], Any]:
    return lambda body: body["input"][index]["content"]


RESPONSES_CHANGES_FAULTS: list[tuple[str, Plant]] = [
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
    ("item-not-posted", lambda sent: responses_changes_part(1)(sent)[0].update(text=CONTEXT + "y")),
    ("output-without-call", lambda sent: sent["input"].__delitem__(slice(5, 7))),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "plant"), RESPONSES_CHANGES_FAULTS)
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
    responses_changes_part(-1)(sent).insert(0, BLOCK)
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

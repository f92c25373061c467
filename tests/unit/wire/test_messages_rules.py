"""Each rule of the Messages API notices the fault that is planted for it; clean requests pass."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.wire.clean import HOUR, MARK, messages_request, result, said, text, tool
from tests.wire.messages.messages_rules import broken
from tests.wire.rule_break import Fields, rules

Plant = Callable[[Fields], Any]


def at(index: int, place: int | None = None) -> Callable[[Fields], Any]:
    def find(body: Fields) -> Any:
        content = body["messages"][index]["content"]
        return content if place is None else content[place]

    return find


def put(index: int, place: int, block: Fields) -> Plant:
    return lambda body: at(index)(body).insert(place, block)


def swap(index: int, *content: Any) -> Plant:
    return lambda body: body["messages"][index].update(content=list(content))


def insert(index: int, *messages: Fields) -> Plant:
    def plant(body: Fields) -> None:
        body["messages"][index:index] = messages

    return plant


def drop(*places: int) -> Plant:
    def plant(body: Fields) -> None:
        for place in sorted(places, reverse=True):
            del body["messages"][place]

    return plant


def field(**changes: Any) -> Plant:
    return lambda body: body.update(changes)


def several(*plants: Plant) -> Plant:
    return lambda body: [plant(body) for plant in plants]


def marked(*places: tuple[int, int], marker: Fields = MARK) -> Plant:
    def plant(body: Fields) -> None:
        for index, place in places:
            at(index, place)(body)["cache_control"] = marker

    return plant


ENABLED = {"type": "enabled", "budget_tokens": 2048}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "sig=="}
MEMORY = text("<context_memory>short</context_memory>")
SERVER = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}

FAULTS: list[tuple[str, Plant]] = [
    # fields
    ("own-field", field(memory=True)),
    ("own-field", field(target_tokens=1000)),
    ("own-model-suffix", field(model="claude-sonnet-5-5:memory")),
    ("unknown-field", field(reasoning_content="x")),
    ("unknown-field", field(max_completion_tokens=5)),
    ("missing-field", lambda body: body.pop("max_tokens")),
    ("no-messages", field(messages=[])),
    ("thinking-budget", field(thinking={"type": "enabled", "budget_tokens": 100})),
    ("thinking-with-forced-tool", field(thinking=ENABLED, tool_choice={"type": "any"})),
    ("tool-defined-twice", lambda body: body["tools"].append(tool("Read"))),
    ("tool-without-schema", lambda body: body["tools"].append(
        {"type": "custom", "function": {"name": "x"}})),
    ("tool-name", lambda body: body["tools"].append(tool("a b"))),
    ("tool-choice-unknown", field(tool_choice={"type": "tool", "name": "None"})),
    ("tool-choice-without-tools", field(tools=[], tool_choice={"type": "any"})),
    ("system-not-text", lambda body: body["system"].append({"type": "image"})),
    ("system-not-text", field(system={"text": "x"})),
    ("empty-text", field(system=[text("")])),
    # messages and blocks
    ("unknown-role", insert(8, {"role": "tool", "content": "x"})),
    ("unknown-message-field", lambda body: body["messages"][0].update(tool_calls=[])),
    ("unknown-message-field", lambda body: body["messages"][0].update(joined=True)),
    ("content-not-blocks", lambda body: body["messages"][0].update(content=None)),
    ("empty-message", swap(6)),
    ("empty-message", lambda body: body["messages"][6].update(content="")),
    ("empty-text", put(7, 0, text(""))),
    ("empty-text", swap(3, result("toolu_1", [text("")]), result("toolu_2"))),
    ("blank-text", put(7, 0, text("  \n"))),
    ("text-not-a-string", put(7, 0, {"type": "text", "text": None})),
    ("block-without-type", put(7, 0, {"text": "x"})),
    ("unknown-block-field", put(7, 0, text("x", reasoning_content="y"))),
    ("block-in-wrong-role", put(7, 0, dict(THOUGHT))),
    ("block-in-wrong-role", put(6, 0, result("toolu_3"))),
    ("block-in-wrong-role", lambda body: body["messages"][1].update(
        content=[{"type": "image", "source": {}}])),
    ("block-in-wrong-role", put(7, 0, {"type": "tool_addition", "tool_name": "Later"})),
    ("thinking-incomplete", put(6, 0, {"type": "thinking", "thinking": "x"})),
    ("thinking-incomplete", put(6, 0, {"type": "redacted_thinking"})),
    ("call-id", lambda body: at(4, 0)(body).update(id="a b")),
    ("call-name", lambda body: at(4, 0)(body).update(name="")),
    ("input-not-an-object", lambda body: at(4, 0)(body).update(input='{"path": "a"}')),
    # order
    ("first-message-assistant", drop(0, 1)),
    ("first-message-system", drop(0)),
    ("prefill", drop(7)),
    ("consecutive-users", insert(0, said("user", MEMORY))),
    ("consecutive-assistants", insert(7, said("assistant", text("x")))),
    ("system-before-user", insert(6, {"role": "system", "content": "x"},
                                  said("user", text("y")))),
    ("system-behind-assistant", insert(7, {"role": "system", "content": "x"})),
    ("system-splits-round", insert(3, {"role": "system", "content": "x"})),
    # pairs
    ("result-not-first", put(3, 0, MEMORY)),
    ("result-not-first", put(3, 1, text("between"))),
    ("result-without-call", drop(1, 2)),
    ("result-without-call", swap(7, result("toolu_9"))),
    ("result-twice", put(3, 0, result("toolu_1"))),
    ("call-unanswered", lambda body: at(3)(body).pop()),
    ("call-unanswered", drop(5)),
    ("call-unanswered", swap(5, text("never mind"))),
    ("results-split", several(lambda body: at(3)(body).pop(),
                              insert(4, said("user", result("toolu_2"))))),
    ("call-id-twice", several(lambda body: at(4, 0)(body).update(id="toolu_1"),
                              swap(5, result("toolu_1")))),
    ("text-beside-server-call", put(4, 0, dict(SERVER))),
    ("server-result-without-call", put(6, 0, dict(FOUND))),
    ("reference-unknown", swap(5, result(
        "toolu_3", [{"type": "tool_reference", "tool_name": "Nobody"}]))),
    # markers
    ("too-many-markers", marked((0, 0), (2, 0), (3, 0))),
    ("too-many-markers", several(marked((0, 0), (2, 0)), field(cache_control=MARK))),
    ("too-many-markers", several(marked((0, 0), (2, 0)), lambda body: body["tools"][0].update(
        cache_control=MARK))),
    ("too-many-markers", several(marked((0, 0), (2, 0)), lambda body: at(3, 1)(body)["content"][
        0].update(cache_control=MARK))),
    ("long-marker-behind-short", marked((0, 0), marker=HOUR)),
    ("long-marker-behind-short", field(cache_control=HOUR)),
    ("marker-on-thinking", put(6, 0, {**THOUGHT, "cache_control": MARK})),
    ("marker-on-empty-text", put(6, 0, text("", cache_control=MARK))),
    ("marker-form", marked((0, 0), marker={"type": "ephemeral", "ttl": "2h"})),
    ("marker-form", marked((0, 0), marker={"ttl": "5m"})),
    # what the server made of a history
    ("memory-before-compaction", several(
        put(0, 1, MEMORY), put(6, 0, {"type": "compaction", "content": "c"}))),
    ("turn-without-thinking", several(field(thinking=ENABLED), swap(5, result("toolu_3")),
                                      drop(6, 7))),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "plant"), FAULTS)
def test_a_planted_fault_is_named(rule: str, plant: Plant):
    body = copy.deepcopy(messages_request())
    plant(body)
    assert rule in rules(broken(body))


def test_at_least_sixty_faults_are_planted():
    assert len(FAULTS) >= 60


def test_a_compaction_that_is_not_the_first_block_is_refused_with_the_newer_header():
    body = messages_request()
    body["messages"][6]["content"].insert(0, {"type": "compaction", "content": "c"})
    assert broken(body) == []
    assert rules(broken(body, betas=["compact-2026-09-04"])) == {"compaction-misplaced"}


CLEAN: dict[str, Plant] = {
    "an agent's": lambda body: None,
    "strings": field(system="be brief", messages=[{"role": "user", "content": "hello"}]),
    "the memory message in front of a kept one": swap(0, MEMORY, text("Write it.")),
    "a system message at the end": insert(8, {"role": "system", "content": "x"}),
    "several system messages": insert(1, {"role": "system", "content": "x"}),
    "a marker on each fourth": marked((0, 0), (2, 0)),
    "an hour before five minutes": lambda body: body["system"][1].update(cache_control=HOUR),
    "a prefill of an older model": several(field(model="claude-sonnet-4-5"), drop(7)),
    "thinking of others": put(6, 0, dict(THOUGHT)),
    "a turn that began with thinking": several(
        field(thinking=ENABLED), put(2, 0, dict(THOUGHT)), swap(5, result("toolu_3")), drop(6, 7)),
    "a turn that is over": field(thinking=ENABLED),
    "calls of the server": several(put(6, 0, dict(FOUND)), put(6, 0, dict(SERVER))),
    "a paused turn": several(drop(7), swap(6, dict(SERVER))),
    "a call beside a server's, its result alone": several(
        put(4, 0, dict(SERVER)), swap(5, result("toolu_3"))),
    "a loaded tool": swap(5, result(
        "toolu_3", [{"type": "tool_reference", "tool_name": "Later"}])),
    "a changed tool": lambda body: body["messages"][1].update(
        content=[{"type": "tool_addition", "tool_name": "Later"}]),
    "images": put(7, 0, {"type": "image", "source": {"type": "url", "url": "u"}}),
    "an unknown block": put(7, 0, {"type": "hologram", "anything": 1}),
    "compaction in front": insert(0, said("assistant", {"type": "compaction", "content": "c"})),
    "a call with no arguments": lambda body: at(4, 0)(body).update(input={}),
    "no thinking": lambda body: body.pop("thinking"),
}  # fmt: skip


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_request_breaks_nothing(name: str):
    body = copy.deepcopy(messages_request())
    CLEAN[name](body)
    assert broken(body) == []


def test_a_call_is_known_by_its_own_message_alone():
    """The right id, two messages late, is no answer."""
    body = messages_request()
    body["messages"][3:3] = [said("user", text("wait")), said("assistant", text("I do."))]
    assert {"call-unanswered", "result-without-call"} <= rules(broken(body))

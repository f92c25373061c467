"""Rules of the Messages API, and what memory may not change there."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.wire.clean import HOUR, MARK, call, messages_request, result, said, text, tool
from tests.wire.messages.messages_changes import changed
from tests.wire.messages.messages_rules import broken
from tests.wire.rule_break import Fields, rules

# ------------------------------------------------------------------------------------------------
# Each rule of the Messages API notices the fault that is planted for it; clean requests pass.


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


# ------------------------------------------------------------------------------------------------
# Check what memory may not change about a request is noticed, and what it may passes.


REMINDER = text("<system-reminder>rules</system-reminder>")
BLOCK = text("<recalled_context>it</recalled_context>")


def thought(words: str) -> Fields:
    return {"type": "thinking", "thinking": words, "signature": "sig=="}


def posted(**changes: Any) -> Fields:
    """A history whose last five messages are kept, with a round that loads a tool."""
    body = messages_request(memory=True, **changes)
    reference = [{"type": "tool_reference", "tool_name": "Later"}]
    body["messages"][6:7] = [
        said("assistant", call("toolu_s", "ToolSearch")),
        said("user", result("toolu_s", reference)),
        said("assistant", thought("a"), text("One.")),
        said("user", text("Go on.")),
        {"role": "system", "content": "typed meanwhile"},
        said("assistant", thought("b"), text("x"), call("toolu_8"), call("toolu_9")),
        said("user", result("toolu_8"), result("toolu_9"), text("and then")),
        said("assistant", thought("c"), text("Done.")),
    ]
    return body


def folded() -> Fields:
    """Return a request as it may be sent: memory, what stays in view, then the kept messages."""
    body = copy.deepcopy(posted())
    del body["memory"]
    messages = body["messages"]
    messages[8]["content"] = [text("One.")]
    front = said("user", REMINDER, {**MEMORY, "cache_control": dict(MARK)})
    body["messages"] = [front, messages[1], *messages[6:]]
    return body


def messages_changes_at(index: int) -> Callable[[Fields], Any]:
    return lambda body: body["messages"][index]["content"]


MESSAGES_CHANGES_FAULTS: list[tuple[str, Plant]] = [
    ("own-field", lambda sent: sent.update(memory=True)),
    ("field-added", lambda sent: sent.update(temperature=1)),
    ("field-lost", lambda sent: sent.pop("thinking")),
    ("field-changed", lambda sent: sent.update(max_tokens=1)),
    ("field-changed", lambda sent: sent["system"].insert(0, text("ours"))),
    ("tools-changed", lambda sent: sent["tools"].insert(0, tool("memory_search"))),
    ("tools-changed", lambda sent: sent["tools"].pop()),
    ("memory-twice", lambda sent: messages_changes_at(9)(sent).insert(2, MEMORY)),
    ("message-not-posted", lambda sent: messages_changes_at(5)(sent).append(text("more"))),
    ("message-not-posted", lambda sent: messages_changes_at(7)(sent)[1].update(text="y")),
    ("newest-lost", lambda sent: sent["messages"].pop()),
    ("newest-lost", lambda sent: messages_changes_at(-1)(sent)[0].update(text="Say hello.")),
    ("history-gap", lambda sent: sent["messages"].__delitem__(slice(7, 9))),
    ("history-gap", lambda sent: sent["messages"].pop(6)),
    ("recall-misplaced", lambda sent: messages_changes_at(8)(sent).append(BLOCK)),
    ("recall-misplaced", lambda sent: messages_changes_at(8)(sent).insert(1, BLOCK)),
    ("result-not-first", lambda sent: messages_changes_at(8)(sent).insert(1, BLOCK)),
    ("thinking-changed", lambda sent: messages_changes_at(7)(sent)[0].update(thinking="other")),
    ("thinking-window", lambda sent: messages_changes_at(9)(sent).pop(0)),
    ("preamble-lost", lambda sent: messages_changes_at(0)(sent).pop(0)),
    ("system-message-lost", lambda sent: sent["messages"].pop(1)),
    ("tool-load-lost", lambda sent: sent["messages"].__delitem__(slice(2, 4))),
    ("consecutive-users", lambda sent: sent["messages"].insert(1, said("user", MEMORY))),
    ("markers-added", lambda sent: messages_changes_at(4)(sent)[0].update(cache_control=MARK)),
    ("marker-on-system", lambda sent: sent["messages"][1].update(
        content=[text("# Environment", cache_control=MARK)])),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "plant"), MESSAGES_CHANGES_FAULTS)
def test_a_planted_change_is_named(rule: str, plant: Plant):
    sent = folded()
    plant(sent)
    assert rule in rules(changed(posted(), sent))


def test_thinking_that_is_lost_where_it_has_to_stay_is_noticed():
    enabled = {"type": "enabled", "budget_tokens": 2048}
    before, sent = posted(thinking=enabled), folded()
    sent["thinking"] = enabled
    assert rules(changed(before, sent)) == {"thinking-lost"}


def test_a_marker_where_the_client_uses_none_is_noticed():
    before = {"model": "m", "max_tokens": 9, "messages": [
        {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"}]}  # fmt: skip
    marked = said("user", {**MEMORY, "cache_control": dict(MARK)}, text("c"))
    assert rules(changed(before, {**before, "messages": [marked]})) == {"marker-not-asked-for"}
    assert changed(before, {**before, "messages": [said("user", MEMORY, text("c"))]}) == []
    words = f"{MEMORY['text']}\n\nc"
    assert changed(before, {**before, "messages": [{"role": "user", "content": words}]}) == []


def test_a_fold_as_it_should_be_passes():
    assert changed(posted(), folded()) == []


def test_a_recall_block_before_the_words_passes():
    sent = folded()
    messages_changes_at(-1)(sent).insert(0, BLOCK)
    messages_changes_at(8)(sent).insert(2, BLOCK)
    assert changed(posted(), sent) == []


def test_a_kept_user_message_may_stand_behind_the_results_of_a_pinned_round():
    """Two user messages in a row are not sent."""
    sent = folded()
    messages = sent["messages"]
    assert messages[3]["content"][0]["type"] == "tool_result"
    messages[3] = said("user", *messages[3]["content"], *messages[5]["content"])
    del messages[4:6]
    assert changed(posted(), sent) == []
    messages[3]["content"].reverse()
    assert "result-not-first" in rules(changed(posted(), sent))


def test_the_newest_message_may_be_the_one_with_the_memory_text():
    """With a system message behind it, and another that is carried."""
    before, sent = posted(), folded()
    end = {"role": "system", "content": "9 tokens are left"}
    before["messages"].append(end)
    words = before["messages"][-2]["content"]
    front = said("user", REMINDER, MEMORY, *words)
    sent["messages"] = [front, before["messages"][1], end]
    found = rules(changed(before, sent))
    assert found == {"tool-load-lost"}
    sent["messages"][0] = said("user", REMINDER, MEMORY)
    assert "newest-lost" in rules(changed(before, sent))


def test_a_request_that_goes_as_posted_passes():
    before = posted()
    sent = {name: value for name, value in before.items() if name != "memory"}
    assert changed(before, sent) == []


def test_the_clients_own_faults_are_not_held_against_us():
    before = posted()
    before["messages"].append(said("user", text("hello?")))
    sent = copy.deepcopy({name: value for name, value in before.items() if name != "memory"})
    assert changed(before, sent) == []

"""Check what memory may not change about a request is noticed, and what it may passes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.wire.clean import MARK, call, messages_request, result, said, text, tool
from tests.wire.messages.messages_changes import changed
from tests.wire.rule_break import Fields, rules

Plant = Callable[[Fields], Any]
REMINDER = text("<system-reminder>rules</system-reminder>")
MEMORY = text("<context_memory>short</context_memory>")
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


def at(index: int) -> Callable[[Fields], Any]:
    return lambda body: body["messages"][index]["content"]


FAULTS: list[tuple[str, Plant]] = [
    ("own-field", lambda sent: sent.update(memory=True)),
    ("field-added", lambda sent: sent.update(temperature=1)),
    ("field-lost", lambda sent: sent.pop("thinking")),
    ("field-changed", lambda sent: sent.update(max_tokens=1)),
    ("field-changed", lambda sent: sent["system"].insert(0, text("ours"))),
    ("tools-changed", lambda sent: sent["tools"].insert(0, tool("memory_search"))),
    ("tools-changed", lambda sent: sent["tools"].pop()),
    ("memory-twice", lambda sent: at(9)(sent).insert(2, MEMORY)),
    ("message-not-posted", lambda sent: at(5)(sent).append(text("more"))),
    ("message-not-posted", lambda sent: at(7)(sent)[1].update(text="y")),
    ("newest-lost", lambda sent: sent["messages"].pop()),
    ("newest-lost", lambda sent: at(-1)(sent)[0].update(text="Say hello.")),
    ("history-gap", lambda sent: sent["messages"].__delitem__(slice(7, 9))),
    ("history-gap", lambda sent: sent["messages"].pop(6)),
    ("recall-misplaced", lambda sent: at(8)(sent).append(BLOCK)),
    ("recall-misplaced", lambda sent: at(8)(sent).insert(1, BLOCK)),
    ("result-not-first", lambda sent: at(8)(sent).insert(1, BLOCK)),
    ("thinking-changed", lambda sent: at(7)(sent)[0].update(thinking="other")),
    ("thinking-window", lambda sent: at(9)(sent).pop(0)),
    ("preamble-lost", lambda sent: at(0)(sent).pop(0)),
    ("system-message-lost", lambda sent: sent["messages"].pop(1)),
    ("tool-load-lost", lambda sent: sent["messages"].__delitem__(slice(2, 4))),
    ("consecutive-users", lambda sent: sent["messages"].insert(1, said("user", MEMORY))),
    ("markers-added", lambda sent: at(4)(sent)[0].update(cache_control=MARK)),
    ("marker-on-system", lambda sent: sent["messages"][1].update(
        content=[text("# Environment", cache_control=MARK)])),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "plant"), FAULTS)
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
    at(-1)(sent).insert(0, BLOCK)
    at(8)(sent).insert(2, BLOCK)
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

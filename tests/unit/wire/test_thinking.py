"""Thinking is taken behind what made it, as one unbroken piece, and never once it was left out."""

from __future__ import annotations

import copy

from tests.wire.clean import messages_request, said, text
from tests.wire.rule_break import Fields, rules
from tests.wire.thinking import broken_thinking, signature


def session(turns: int = 3, **changes: object) -> Fields:
    """A session in which each answer began with thinking, signed for what was before it."""
    body = messages_request(messages=[said("user", text("Start."))], **changes)
    for turn in range(turns):
        answer(body, f"thought {turn}")
        body["messages"].append(said("user", text(f"go on {turn}")))
    return body


def answer(body: Fields, thought: str) -> None:
    block = {"type": "thinking", "thinking": thought, "signature": signature(body, thought)}
    body["messages"].append(said("assistant", block, text(f"said behind {thought}")))


def folded(body: Fields, kept: int, first_with_thinking: int | None = None) -> Fields:
    """With a memory text in front of the last `kept` messages."""
    sent = copy.deepcopy(body)
    rest = sent["messages"][-kept:]
    sent["messages"] = [said("user", text("<context_memory>m</context_memory>")), *rest]
    for index, message in enumerate(sent["messages"]):
        if first_with_thinking is None or index < first_with_thinking:
            strip(message)
    return sent


def strip(message: Fields) -> None:
    message["content"] = [one for one in message["content"] if one["type"] != "thinking"]


def test_what_came_as_it_was_made_is_taken():
    assert broken_thinking(session()) == []


def test_markers_and_the_form_of_a_text_change_nothing():
    body = session()
    body["messages"][0] = {"role": "user", "content": "Start."}
    body["messages"][2]["content"][0]["cache_control"] = {"type": "ephemeral"}
    assert broken_thinking(body) == []


def test_another_prefix_is_noticed():
    for change in ("system", "tools", "first"):
        body = session()
        if change == "first":
            body["messages"][0] = said("user", text("Other."))
        else:
            body[change] = []
        assert rules(broken_thinking(body)) == {"thinking-of-another-prefix"}, change


def test_thinking_behind_a_fold_that_was_made_before_it_is_noticed():
    body = session()
    assert broken_thinking(folded(body, 4)) == []
    assert "thinking-of-another-prefix" in rules(
        broken_thinking(folded(body, 4, first_with_thinking=0))
    )


def test_what_was_made_behind_a_fold_belongs_to_it():
    sent = folded(session(), 4)
    answer(sent, "behind the fold")
    sent["messages"].append(said("user", text("on")))
    assert broken_thinking(sent) == []
    sent["messages"][0] = said("user", text("<context_memory>n</context_memory>"))
    assert rules(broken_thinking(sent)) == {"thinking-of-another-prefix"}


def test_the_oldest_may_be_missing_and_the_middle_not():
    body = session(4)
    strip(body["messages"][1])
    assert broken_thinking(body) == []
    strip(body["messages"][5])
    assert rules(broken_thinking(body)) == {"thinking-gap"}


def test_the_newest_may_be_missing():
    body = session(4)
    strip(body["messages"][7])
    assert broken_thinking(body) == []


def test_what_was_left_out_does_not_come_back():
    """Enough for it that the thinking made since then saw none before it."""
    body = session()
    stripped = copy.deepcopy(body)
    for message in stripped["messages"]:
        strip(message)
    answer(stripped, "later")
    body["messages"] += [stripped["messages"][-1], said("user", text("on"))]
    assert rules(broken_thinking(body)) == {"thinking-came-back"}


def test_changed_thinking_is_noticed():
    body = session()
    body["messages"][3]["content"][0]["thinking"] += "."
    assert rules(broken_thinking(body)) == {"thinking-altered"}


def test_enabled_thinking_knows_no_prefix():
    body = session(thinking={"type": "enabled", "budget_tokens": 2000})
    body["messages"][0] = said("user", text("Other."))
    assert broken_thinking(body) == []


def test_a_message_of_thinking_alone_may_go():
    body = session(1)
    alone = {"type": "thinking", "thinking": "t", "signature": signature(body, "t")}
    body["messages"] += [said("assistant", alone), said("user", text("on"))]
    answer(body, "next")
    body["messages"].append(said("user", text("end")))
    assert broken_thinking(body) == []
    bare = copy.deepcopy(body)
    del bare["messages"][3]
    strip(bare["messages"][1])
    assert broken_thinking(bare) == []


def test_signatures_of_others_are_taken():
    body = session(1)
    body["messages"][1]["content"][0]["signature"] = "sig1=="
    body["messages"][0] = said("user", text("Other."))
    assert broken_thinking(body) == []

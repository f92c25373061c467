from __future__ import annotations

from datetime import date

from memtree.memories.agents.extraction.agent_messages import (
    AgentMessage,
    batches,
    message_key,
    told_by_user,
)

TODAY = date(2026, 3, 2)


def test_only_what_the_user_says_each_once() -> None:
    told = told_by_user(
        [
            AgentMessage("human", "I live in Graz", "m1"),
            AgentMessage("ai", "My name is Bot", "m2"),
            AgentMessage("system", "You are a bot"),
            AgentMessage("user", "I live in Graz, said again", "m1"),
            AgentMessage("user", " ", "m3"),
            AgentMessage("user", "My name is Bo"),
        ],
        "t1",
        TODAY,
    )
    assert [(one.id, one.read.text, one.read.said) for one in told] == [
        ("m1", "I live in Graz", None),
        ("", "My name is Bo", TODAY),
    ]


def test_after_a_play_began_the_user_speaks_for_somebody_else() -> None:
    told = told_by_user(
        [AgentMessage("user", "Let's roleplay"), AgentMessage("user", "I'm Bo")], "", TODAY
    )
    assert [one.read.fiction for one in told] == [False, True]


def test_what_a_message_is_known_by() -> None:
    one = AgentMessage("user", "hi", "m1")
    assert message_key(one, "t1") == message_key(AgentMessage("user", "other", "m1"), "t1")
    assert message_key(one, "t1") != message_key(one, "t2")
    bare = AgentMessage("user", "m1")
    assert message_key(bare, "t1") == message_key(bare, "t2") != message_key(one, "t1")
    assert len(message_key(AgentMessage("user", "\ud800"))) == 32


def test_batches_by_number_and_by_size() -> None:
    told = told_by_user([AgentMessage("user", f"text {n}") for n in range(5)], "", TODAY)
    assert [len(batch) for batch in batches(told, (2, 1_000))] == [2, 2, 1]
    assert [len(batch) for batch in batches(told, (9, 12))] == [2, 2, 1]
    assert [len(batch) for batch in batches(told, (9, 1))] == [1] * 5

"""Facts that are planted to measure summaries: where they stand, and what counts as kept."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.facts import FACTS, KINDS, Fact, Told, kept, plant, shares, told
from memtree.conversation.history import read
from memtree.conversation.message import Message, Volatile
from memtree.tree import growth
from memtree.tree.node import EMPTY, Summary
from tests.properties.strategies import prose

FACT = Fact("number", "coding", "user", "It took the 3.7 s.", ("took 3.7 s", "it|this"))


def history_of(messages):
    return read("t", messages, Volatile(()))


def grown(history):
    raws = tuple(one.raw for one in history.messages)
    digests = tuple(one.digest for one in history.facts)
    return growth.grow(growth.Tail(EMPTY, {}, raws, digests, history.addresses[1:], ())).nodes


def chat(length, words=250):
    return [
        Message.of({"role": role, "content": prose(2 * at + (role == "user"), words)})
        for at in range(length)
        for role in ("user", "assistant")
    ]


@pytest.mark.slow
@pytest.mark.long
def test_a_hundred_facts_of_all_kinds_that_differ():
    assert len(FACTS) == len({fact.sentence for fact in FACTS}) == 100
    counts = Counter(fact.kind for fact in FACTS)
    assert set(counts) == set(KINDS)
    assert min(counts.values()) >= 9
    assert all(kept(fact, fact.sentence) and "{" not in fact.sentence for fact in FACTS)
    # No fact is kept by another one's sentence.
    for fact in FACTS:
        assert [one for one in FACTS if kept(fact, one.sentence)] == [fact]


@pytest.mark.parametrize(
    ("text", "is_kept"),
    [
        ("this TOOK 3.7 s", True),
        ("It took\nthe 3.7 s.", True),
        ("It took 3.7 seconds", False),
        ("It took 13.7 s", False),
        ("took 3.7 s", False),
        ("", False),
    ],
)
def test_kept(text, is_kept):
    assert kept(FACT, text) is is_kept


def test_planting_is_the_same_every_time_and_changes_nothing_else():
    messages = chat(20)
    planted = plant(messages, FACTS)
    assert [one.raw for one in planted] == [one.raw for one in plant(messages, FACTS)]
    views = [one.view(Volatile(())).text for one in planted]
    for fact in FACTS:
        at = [place for place, text in enumerate(views) if fact.sentence in text]
        assert len(at) == 1
        assert messages[at[0]].role == fact.role
    for fact in FACTS:
        views = [text.replace(f" {fact.sentence}", "") for text in views]
    assert views == [one.view(Volatile(())).text for one in messages]


def test_no_fact_stands_in_code_or_in_a_message_with_calls():
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        Message.of({"role": "user", "content": "Look:\n\n```\na\n\nb\n```\n\nWell?"}),
        Message.of({"role": "assistant", "content": "Yes.", "tool_calls": [call]}),
    ]
    facts = [fact for fact in FACTS if fact.role == "user"]
    text = plant(messages, facts)[0].view(Volatile(())).text
    assert "```\na\n\nb\n```" in text
    assert all(fact.sentence in text for fact in facts)
    with pytest.raises(ValueError, match="assistant"):
        plant(messages, FACTS)


def test_shares_count_only_what_stands_below():
    texts = [
        Told("0", f"a {FACT.sentence}", "it took 3.7 s"),
        Told("0", "nothing of it", "it took 3.7 s"),
        Told("1", f"a {FACT.sentence} b", "something"),
    ]
    assert shares([FACT], texts) == {
        "0": {"number": (1, 1), "all": (1, 1)},
        "1": {"number": (0, 1), "all": (0, 1)},
    }


@pytest.mark.slow
def test_levels_of_a_tree():
    history = history_of(plant(chat(30), FACTS))
    nodes = grown(history)
    texts = list(told(history, nodes))
    assert sum(one.level == "0" for one in texts) == sum(node.is_leaf for node in nodes)
    found = shares(FACTS, texts)
    assert set(found) >= {"0", "1", "top"}
    # Each fact but those at the end, whose leaf is not final, stands in one leaf and one root.
    assert found["0"]["all"][1] == found["top"]["all"][1] > 80
    assert found["0"]["all"][0] > found["top"]["all"][0] > 0
    empty = {node.id: Summary("", "") for node in nodes}
    assert shares(FACTS, told(history, nodes, empty))["0"]["all"][0] == 0

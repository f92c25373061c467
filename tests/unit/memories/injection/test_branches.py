"""A memory of a branch that the user left, told from one of another conversation."""

from __future__ import annotations

import pytest

from memtree.conversation import history
from memtree.conversation.beginning import origin
from memtree.conversation.message import Message, Volatile
from memtree.memories.injection.choice import depends, fits, stands
from memtree.memories.memory import MemorySource

LONG = "I keep bees behind the house, and this year I want to know more about their honey. " * 3


def talk(*texts: str) -> history.History:
    """User and assistant in turn."""
    roles = ("user", "assistant")
    said = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
    return history.read("t", [Message.of(one) for one in said], Volatile())


def source(posted: history.History, index: int) -> MemorySource:
    address = posted.addresses[index + 1].hex()
    return MemorySource(address=address, origin=origin(posted, index))


def addresses(posted: history.History) -> set[str]:
    return {one.hex() for one in posted.addresses}


FIRST = talk(LONG, "Gladly.", "I like dark honey best.", "Noted.", "And now?")
OTHERS = {
    "goes on": talk(LONG, "Gladly.", "I like dark honey best.", "Noted.", "And now?", "Well."),
    "edited": talk(LONG, "Gladly.", "I like light honey best.", "Noted."),
    "another answer": talk(LONG, "Gladly.", "And now?"),
    "taken back": talk(LONG, "Gladly."),
    "new": talk("Which honey do I like?"),
    "new, alike at first": talk(LONG, "Why?", "Which honey do I like?"),
}


@pytest.mark.parametrize(
    ("now", "same", "strict"),
    [
        ("goes on", False, True),
        ("edited", False, False),
        ("another answer", False, False),
        ("taken back", False, False),
        ("new", True, False),
        ("new, alike at first", True, False),
    ],
)
def test_beside_which_history_it_stands(now, same, strict):
    said, there = source(FIRST, 2), addresses(OTHERS[now])
    assert fits(said, there, "same") is same
    assert fits(said, there, "strict") is strict
    assert fits(said, there, "off")


@pytest.mark.parametrize(
    ("now", "same", "strict"),
    [("goes on", True, True), ("edited", False, False), ("new", True, False)],
)
def test_a_standing_one_stands_beside_all_but_other_branches(now, same, strict):
    said, there = source(FIRST, 2), addresses(OTHERS[now])
    assert stands(said, there, "same") is same
    assert stands(said, there, "strict") is strict
    assert stands(said, there, "off")
    assert stands(None, there, "strict")


def test_what_may_be_folded_away_is_said_beside_its_own_history():
    said, there = source(FIRST, 2), addresses(OTHERS["goes on"])
    assert fits(said, there, "same", {said.address})
    assert not fits(source(FIRST, 4), there, "same", {said.address})
    assert not fits(said, addresses(OTHERS["edited"]), "same", {said.address})


@pytest.mark.parametrize("rule", ["same", "strict", "off"])
@pytest.mark.parametrize("said", [None, MemorySource(), MemorySource(message="msg_1")])
def test_what_was_said_nowhere_stands_beside_any(said, rule):
    assert not depends(said, rule)
    assert fits(said, {""}, rule)


def test_it_has_to_be_known_where_others_were_said():
    said = source(FIRST, 2)
    assert [depends(said, rule) for rule in ("same", "strict", "off")] == [True, True, False]


def test_what_was_said_before_the_conversation_had_a_beginning_is_of_no_other_branch():
    said = source(FIRST, 0)
    assert said.origin == ""
    assert fits(said, addresses(OTHERS["new, alike at first"]), "same") is False
    assert fits(said, addresses(OTHERS["new"]), "same")

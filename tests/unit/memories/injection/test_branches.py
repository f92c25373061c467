"""A memory of a branch that the user left, told from one of another conversation."""

from __future__ import annotations

import pytest

from memtree.conversation import history
from memtree.conversation.beginning import origin
from memtree.conversation.message import Message, Volatile
from memtree.memories.injection.branches import elsewhere, said_in
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
        ("goes on", False, False),
        ("edited", True, True),
        ("another answer", True, True),
        ("taken back", True, True),
        ("new", False, True),
        ("new, alike at first", False, True),
    ],
)
def test_which_history_is_another_branch(now, same, strict):
    said, there = source(FIRST, 2), addresses(OTHERS[now])
    assert elsewhere(said, there, "same") is same
    assert elsewhere(said, there, "strict") is strict
    assert not elsewhere(said, there, "off")
    assert said_in(said, there) is (now == "goes on")


@pytest.mark.parametrize("rule", ["same", "strict", "off"])
def test_what_was_said_nowhere_is_of_no_branch(rule):
    assert not elsewhere(None, set(), rule)
    assert not elsewhere(MemorySource(message="msg_1"), set(), rule)
    assert not said_in(MemorySource(), {""})

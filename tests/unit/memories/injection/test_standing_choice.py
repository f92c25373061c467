"""Check which standing memories a prompt gets."""

from __future__ import annotations

from memtree.memories.injection import choice, rendering
from memtree.memories.memory import Memory, PossibleUpdate


def memory(number: int, text: str, topic: str, **more) -> Memory:
    return Memory(f"mem_{number}", number, text, 1.0, 1.0, standing=topic, **more)


def chosen(*memories: Memory, budget: int = choice.STANDING_BUDGET) -> list[int]:
    return [each.number for each in choice.standing_ones(memories, rendering.line, budget)]


def test_of_a_topic_the_newest_counts():
    french, german = (memory(n, f"Answer in {n}.", "wish:language") for n in (1, 2))
    lists, jargon = memory(3, "Use lists.", "wish"), memory(4, "No jargon.", "wish")
    assert chosen(french, german, lists, jargon) == [2, 3, 4]


def test_wishes_come_before_facts_where_room_is_short():
    wish, fact = memory(1, "Never use emojis.", "wish"), memory(2, "Is vegan.", "fact:diet")
    assert chosen(wish, fact) == [1, 2]
    assert chosen(wish, fact, budget=18) == [1]


def test_what_cannot_be_shown_or_is_changed_is_left_out():
    newer = memory(2, "Use 24 px.", "wish", updates=(PossibleUpdate("mem_1", "", ("12 -> 24",)),))
    assert chosen(memory(1, "Use 12 px.", "wish"), newer, memory(3, "\u200b", "wish")) == [2]


def test_a_standing_line_has_its_day_alone():
    for category in ("fact", "instruction", None):
        wish = memory(3, "Call me Captain.", "wish.address", category=category)
        assert rendering.line(wish) == "Call me Captain. (1970-01-01)"


def test_a_changed_value_is_told_and_a_tainted_wish_is_a_fact():
    updates = (PossibleUpdate("mem_1", "The port is 8090.", ("8090 -> 8091",)),)
    port = Memory("mem_2", 2, "The port is 8091.", 1.0, 1.0, category="fact", updates=updates)
    assert rendering.line(port) == "The port is 8091. (was: 8090) (fact, 1970-01-01)"
    wish = memory(3, "Answer in French.", "wish:language", category="instruction", tainted=True)
    assert rendering.line(wish) == "Answer in French. (fact, 1970-01-01)"

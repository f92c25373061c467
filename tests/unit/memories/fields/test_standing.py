"""Wishes and traits stand in every prompt, ordinary memories do not."""

from __future__ import annotations

from memtree.memories.fields.standing import standing_topic
from tests.made.standing_lists import SEEN, UNSEEN, ordinary


def test_wishes_stand_and_ordinary_memories_do_not():
    assert [text for text in SEEN if not standing_topic(text)] == []
    assert sum(not standing_topic(text) for text in UNSEEN) <= 0.1 * len(UNSEEN)
    assert len(ordinary()) == 300
    assert sum(bool(standing_topic(text)) for text in ordinary()) <= 9


def test_a_long_text_is_no_wish():
    assert standing_topic("Always answer in English. " + "It is so. " * 60) == ""

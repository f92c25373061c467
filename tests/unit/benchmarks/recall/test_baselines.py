"""The plain ways that a memory is compared with."""

from __future__ import annotations

from benchmarks.recall.baselines import Turns
from memtree.conversation.message import Message
from memtree.text import tokens
from tests.properties.strategies import prose

TEXTS = [*(prose(n, 40) for n in range(30)), "The launch code is marigold."]
TURNS = Turns([Message.of({"role": "user", "content": text}) for text in TEXTS[::-1]])


def test_the_newest_turns_fill_the_target():
    shown = TURNS.newest("Why?", 300)
    assert TEXTS[0] in shown
    assert TEXTS[-1] not in shown
    assert 150 < tokens.count(shown) <= 300


def test_bm25_shows_what_holds_the_words():
    shown = TURNS.by_words("Which launch code?", 60)
    assert shown.startswith(TEXTS[-1])
    assert tokens.count(shown) <= 60

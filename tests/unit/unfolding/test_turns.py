"""Who speaks on which day: what plans keep of it."""

from __future__ import annotations

import numpy as np
import pytest

from memtree.ranking.corpus import Corpus
from memtree.ranking.fusion import Ranking
from memtree.ranking.ranked_history import RankedHistory
from memtree.tree.node import NodePlace
from memtree.unfolding.plan import TextSpan
from memtree.unfolding.turns import Turns
from tests.unit.unfolding.histories import history


def turns_of(*messages):
    found = history(*messages)
    corpus = Corpus(1)
    corpus.speakers.extend(message.text for message in found.messages)
    empty = np.zeros(0, np.float32)
    return Turns.of(RankedHistory(found, corpus, Ranking(empty, empty, None), frozenset())), found


def talk(turns=6, named=True):
    for at in range(turns):
        yield {"role": "user", "content": f"{'Ada: ' * named}hello {at}"}
        yield {"role": "assistant", "content": f"{'Ben: ' * named}hi {at}"}


def test_only_who_says_much_in_a_transcript_is_a_speaker():
    turns, _ = turns_of(*talk(), "Note: this is none")
    spans = [TextSpan(0, 0, 9), TextSpan(1, 3, 9), TextSpan(12, 0, 9)]
    assert turns.named(spans) == b"\1\0\0"
    turns, _ = turns_of(*talk(named=False))
    assert turns.named(spans) == b""


@pytest.mark.parametrize("named", [True, False])
def test_people_are_told_by_the_names_on_both_sides(named):
    turns, found = turns_of(*talk(named=named))
    assert turns.are_of_people(found) is named


def test_a_group_that_talks_to_a_model_is_no_record_of_people():
    said = list(talk())
    for message in said[1::2]:
        message["content"] = "I am a model, and say no name."
    turns, found = turns_of(*said, *talk(1), *said)
    assert not turns.are_of_people(found)


@pytest.mark.parametrize(
    ("words", "talk_", "short"), [(10, True, True), (40, True, False), (200, False, False)]
)
def test_how_long_messages_are(words, talk_, short):
    turns, _ = turns_of(*["word " * words] * 4)
    assert (turns.are_talk, turns.are_short) == (talk_, short)


def test_days_are_kept_by_message_and_line():
    turns, _ = turns_of("[8 May 2023]\nhello", "hi", "[10 May 2023]\nagain", "yes")
    assert turns.days_of([TextSpan(1, 0, 2), TextSpan(3, 0, 3)]) == (738648, 738650)
    assert turns.days_in(NodePlace(0, 0, 4, 0)) == {"first_day": 738648, "last_day": 738650}
    turns, _ = turns_of("hello", "hi")
    assert turns.days_of([TextSpan(1, 0, 2)]) == ()

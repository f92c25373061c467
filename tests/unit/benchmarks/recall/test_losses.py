"""Why a text that was posted is not visible."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.data import Needle
from benchmarks.recall import losses
from benchmarks.recall.baselines import Turns
from benchmarks.recall.losses import TurnOrders
from memtree.conversation.message import Message

LONG = " ".join(f"word{n}" for n in range(20))
LINES = "\n".join(f"A line of its own, which tells of thing number {n}." for n in range(3))
TEXTS = ("fine", LONG, "thanks", "thanks", "thanks", f"{LONG} again", LINES)


@pytest.fixture(scope="module")
def turns():
    return Turns([Message.of({"role": "user", "content": text}) for text in TEXTS])


def orders(words=(9,) * 7, meaning=(9,) * 7):
    return TurnOrders(list(range(7)), np.array(words), np.array(meaning))


@pytest.mark.parametrize(
    ("text", "cause"),
    [("fine", losses.SHORT), ("thanks", losses.COMMAND), (LONG, losses.UNPAID)],
)
def test_what_the_ranking_reaches_is_forbidden_or_not_paid_for(turns, text, cause):
    assert losses.cause_of(text, turns, orders(), [0, 1, 2]) == cause


def test_a_text_of_which_lines_are_visible_is_shown_in_part(turns):
    assert losses.cause_of(LINES, turns, orders(), [6], LINES.splitlines()[1]) == losses.PART


def test_a_text_whose_words_another_text_shows_is_quoted_elsewhere(turns):
    shown = f"Say {LONG.replace('word19', 'other')}"
    assert losses.cause_of(LONG, turns, orders(), [1], shown) == losses.ELSEWHERE
    assert losses.cause_of(LONG, turns, orders(), [1], LONG[:40]) == losses.UNPAID


def test_needles_are_planted_twice_and_asked_for_by_role():
    session = [
        Message.of({"role": role, "content": f"{LINES} {number} " + "It is said. " * 60})
        for number in range(60)
        for role in ("user", "assistant")
    ]

    class Planted:
        def coding_session(self):
            return tuple(session)

        def hard_needles(self):
            return [Needle("user", "My cat is Tom.", "pet?"), Needle("tool", "port 81", "where?")]

    [needles] = [each for each in losses.SETS if each.name == "needles"]
    short, long = needles.chats(Planted())
    assert [probe.kind for probe in short.probes] == [
        "as short messages, user",
        "as short messages, tool",
    ]
    assert [probe.kind for probe in long.probes] == ["in long texts, user", "in long texts, tool"]
    for probe in (*short.probes, *long.probes):
        [text] = [text for texts in probe.evidence.values() for text in texts]
        chat = short if probe in short.probes else long
        [holding] = [message for message in chat.messages if text in message.text]
        assert (holding.text == text) == (chat is short)


@pytest.mark.parametrize(
    ("words", "meaning", "cause"),
    [
        (0, 9, losses.LOW_MEANING),
        (9, 0, losses.LOW_WORDS),
        (9, 9, losses.LOW),
        (0, 1, losses.LOW_FUSED),
    ],
)
def test_what_it_does_not_reach_is_ranked_low_by_a_list(turns, words, meaning, cause):
    places = orders((9,) * 5 + (words, 9), (9,) * 5 + (meaning, 9))
    assert losses.cause_of(f"{LONG} again", turns, places, [0, 2]) == cause

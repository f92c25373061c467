"""Why a text that was posted is not visible."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.recall import losses
from benchmarks.recall.baselines import Turns
from benchmarks.recall.losses import TurnOrders
from memtree.conversation.message import Message

LONG = " ".join(f"word{n}" for n in range(20))
TEXTS = ("fine", LONG, "thanks", "thanks", "thanks", f"{LONG} again")


@pytest.fixture(scope="module")
def turns():
    return Turns([Message.of({"role": "user", "content": text}) for text in TEXTS])


def orders(words=(9,) * 6, meaning=(9,) * 6):
    return TurnOrders(list(range(6)), np.array(words), np.array(meaning))


@pytest.mark.parametrize(
    ("text", "cause"),
    [("fine", losses.SHORT), ("thanks", losses.REPEATS), (LONG, losses.UNPAID)],
)
def test_what_the_ranking_reaches_is_forbidden_or_not_paid_for(turns, text, cause):
    assert losses.cause_of(text, turns, orders(), [0, 1, 2]) == cause


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
    places = orders((9,) * 5 + (words,), (9,) * 5 + (meaning,))
    assert losses.cause_of(f"{LONG} again", turns, places, [0, 2]) == cause

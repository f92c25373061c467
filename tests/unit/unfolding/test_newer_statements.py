"""Check which excerpts are marked as newer than another one."""

from __future__ import annotations

import numpy as np
import pytest

from memtree.ranking.corpus import Corpus
from memtree.ranking.fusion import Ranking
from memtree.ranking.ranked_history import RankedHistory
from memtree.text import terms
from memtree.unfolding.excerpt_choice import ExcerptChoice
from memtree.unfolding.memory_plan import TextSpan
from memtree.unfolding.unfold import BEST, with_earlier
from tests.unit.unfolding.histories import history


def earlier(question, *messages, roles=(), ranks=()):
    """Return for each message that is quoted whole the message that it is newer than; -1: none."""
    made = [
        {"role": dict(enumerate(roles)).get(at, "user"), "content": text}
        for at, text in enumerate(messages)
    ]
    empty = np.empty(0, np.float32)
    asked = terms.terms(question).keys()
    ranked = RankedHistory(history(*made), Corpus(1), Ranking(empty, empty, None), asked)
    choices = [
        ExcerptChoice(
            TextSpan(at, 0, len(text)), 9, "user", at, rank=dict(enumerate(ranks)).get(at, at + 1)
        )
        for at, text in enumerate(messages)
    ]
    return [choice.earlier for choice in with_earlier(choices, ranked)]


QUESTION = "Which port does the export server listen on?"
OLD = "The export server listens on port 8090, which was free."


@pytest.mark.parametrize(
    "new",
    [
        "I moved it, so the export server listens on port 9100 now.",
        "I looked again: the export server never listened on any port.",
        "It doesn't work, the export server doesn't listen on that port.",
        "So that you know, the port on which the export server listens, which I changed, is 9100.",
    ],
)
def test_a_later_message_that_differs_names_the_older_one(new: str):
    assert earlier(QUESTION, OLD, "The weather is fine.", new) == [-1, -1, 0]


@pytest.mark.parametrize(
    "new",
    [
        "As I said, the export server listens on port 8090.",
        "The export server listens on that port.",
        "We have 12 chairs, none of them for the port.",
        "```\nthe export server listens on port 9100\n```",
    ],
)
def test_what_does_not_differ_on_the_matter_is_not_marked(new: str):
    assert earlier(QUESTION, OLD, "The weather is fine.", new) == [-1, -1, -1]


def test_the_newest_of_three_names_the_one_with_most_words_in_common():
    said = [OLD, "A port is 5.", "The export server listens on port 9100."]
    assert earlier(QUESTION, *said) == [-1, -1, 0]


def test_only_the_user_and_what_ranks_well_is_compared():
    new = "The export server listens on port 9100."
    assert earlier(QUESTION, OLD, new) == [-1, 0]
    assert earlier(QUESTION, OLD, new, roles=("user", "assistant")) == [-1, -1]
    assert earlier(QUESTION, OLD, new, ranks=(1, BEST + 1)) == [-1, -1]
    assert earlier(QUESTION, OLD, new, ranks=(0, 1)) == [-1, -1]


def test_where_all_are_about_the_matter_few_are_marked():
    said = [f"The export server listens on port {number}." for number in range(9_000, 9_030)]
    assert sum(at >= 0 for at in earlier(QUESTION, *said)) == 2

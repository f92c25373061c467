"""The segment of a passage that is quoted instead of it."""

from __future__ import annotations

import numpy as np

from memtree.ranking.segments import segments
from memtree.text import terms
from memtree.unfolding.excerpts.units import nearest_segment

FIRST = "The harbour was quiet in the morning, and the boats lay still at their moorings."
SECOND = "Our landlord raised the rent by two hundred euros, which nobody had expected at all."
TEXT = f"{FIRST}\n\n  {SECOND}\n\n{FIRST}"


def shown(cosines, question=""):
    low, high = nearest_segment(TEXT, np.array(cosines, np.float32), terms.terms(question).keys())
    return TEXT[low:high]


def test_the_nearest_one_is_shown_without_the_space_around_it():
    assert len(segments(TEXT)) == 3
    assert shown([0.1, 0.3, 0.2]) == SECOND


def test_words_of_the_question_outweigh_what_is_a_little_nearer():
    assert shown([0.3, 0.2, 0.1], "Who raised the rent?") == SECOND
    assert shown([0.9, 0.2, 0.1], "Who raised the rent?") == FIRST


def test_without_vectors_of_these_segments_all_is_shown():
    assert shown([]) == shown([0.1, 0.2]) == TEXT


def test_a_short_one_is_shown_with_what_stands_beside_it():
    text = f"{FIRST}\n\nThe key lies under the third stone.\n\n{SECOND}"
    cosines = np.array([0.1, 0.3, 0.1], np.float32)
    assert len(segments(text)) == 3
    low, high = nearest_segment(text, cosines, (), 15)
    assert text[low:high] == f"The key lies under the third stone.\n\n{SECOND}"
    low, high = nearest_segment(text, cosines[[0, 2, 1]], (), 20)
    assert text[low:high] == f"The key lies under the third stone.\n\n{SECOND}"
    assert nearest_segment(text, cosines, (), 10_000) == (0, len(text))

"""Fusion by rank, smoothed over neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from memtree.ranking.fusion import rank, smooth


def row(*values):
    return np.array(values, np.float32)


def apart(*values):
    """Scores with gaps between them, over which nothing is lent."""
    scores = np.zeros(3 * len(values), np.float32)
    scores[::3] = values
    return scores


def test_a_passage_scores_by_its_place_and_not_at_all_without_a_match():
    """Places count from 10: one step down matters among the first and hardly far below. The root
    of the score's part of the best one is the weight of a vote."""
    ranking = rank(apart(3, 0, 9), None)
    places, parts = np.array([10, 11, 13, 12]), np.array([1, 3 / 9, 0.3, 0.3])
    assert ranking.fused[[6, 0, 5, 7]] == pytest.approx(parts**0.5 / places)
    assert rank(row(0, 0, 0), None).fused.max() == 0
    assert ranking.cosine is None


def test_both_rankings_count():
    """A negative cosine is no match."""
    equal = rank(apart(9, 0, 0), apart(-0.5, 0, 0.9))
    assert equal.fused[0] == equal.fused[6] == pytest.approx(1 / 10)


def test_weights_count_before_the_ranking_and_before_the_neighbours():
    favoured = rank(row(3, 0, 0, 2), None, row(1, 1, 1, 2))
    assert favoured.fused[3] > favoured.fused[0]
    assert favoured.fused[2] > favoured.fused[1]
    assert list(favoured.lexical) == [3, 0, 0, 2]


def test_second_in_both_beats_first_in_one():
    """Fusion prefers agreement of words and meaning to one strong opinion."""
    fused = rank(apart(9, 8, 0), apart(0, 0.5, 0.9)).fused
    assert fused[3] > max(fused[0], fused[6])


def test_the_scale_of_scores_does_not_matter():
    close = rank(apart(3, 0, 9, 1), apart(0.1, 0.2, 0.3, 0.4))
    spread = rank(apart(30, 0, 90, 10), apart(0.2, 0.4, 0.6, 0.8))
    assert close.fused == pytest.approx(spread.fused)


def test_second_by_a_common_word_yields_to_second_by_meaning():
    """Passage 3 shares one common word with the question, passage 6 is nearly as near as 9."""
    fused = rank(apart(9, 0.3, 0, 0), apart(0, 0, 0.5, 0.6)).fused
    assert fused[6] > 1.5 * fused[3]
    assert rank(apart(9, 8, 0, 0), apart(0, 0, 0.5, 0.6)).fused[3] == pytest.approx(
        fused[6], rel=0.1
    )


def test_words_count_by_what_the_question_itself_would_score():
    """The best passage holds a quarter of the question: its vote has half of the weight, and more
    than the whole question is not in a passage."""
    assert rank(apart(2, 0), None, whole=8).fused[0] == pytest.approx(0.5 / 10)
    assert rank(apart(9, 0), None, whole=8).fused[0] == pytest.approx(1 / 10)


def test_of_equals_the_later_comes_first():
    fused = rank(apart(1, 1, 0), None).fused
    assert fused[3] > fused[0] > fused[6] == 0


def test_passages_lend_score_to_their_neighbours():
    smoothed = smooth(row(0, 0, 0, 1, 0, 0))
    assert smoothed == pytest.approx([0, 0.15, 0.3, 1, 0.3, 0.15])


def test_by_meaning_the_better_of_two_places_counts():
    """The lone passage 5 is first by itself; lent by each other, 0 to 2 would all pass it."""
    cosine = row(0.5, 0.5, 0.5, 0, 0, 0.6, 0)
    fused = rank(row(0, 0, 0, 0, 0, 0, 0), cosine).fused
    assert smooth(cosine).argmax() == 1
    assert fused[5] == fused[1] == pytest.approx(1 / 10)
    assert fused[3] > 0  # lent alone


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_small_rankings(size):
    scores = np.ones(size, np.float32)
    assert rank(scores, scores).fused.shape == (size,)


def test_what_is_shown_is_not_smoothed():
    ranking = rank(row(0, 1), row(0.5, -0.5))
    assert list(ranking.lexical) == [0, 1]
    assert list(ranking.cosine) == [0.5, -0.5]

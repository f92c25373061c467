"""Fusion by rank, smoothed over short neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from memtree.ranking.fusion import rank, smooth


def row(*values):
    return np.array(values, np.float32)


def flags(*values):
    return np.array(values, bool)


NONE = flags(*[False] * 4)


def test_a_passage_scores_by_its_place_and_not_at_all_without_a_match():
    """Places count from 10: one step down matters among the first and hardly far below."""
    ranking = rank(row(3, 0, 9, 1), None, NONE)
    assert ranking.fused == pytest.approx([1 / 11, 0, 1 / 10, 1 / 12])
    assert ranking.cosine is None


def test_both_rankings_count():
    """By words 0, 1; by meaning 2, 1 (a negative cosine is no match)."""
    by_words, by_meaning = row(9, 1, 0, 0), row(-0.5, 0.2, 0.9, 0)
    equal = rank(by_words, by_meaning, NONE)
    assert equal.fused == pytest.approx([1 / 10, 2 / 11, 1 / 10, 0])


def test_weights_count_before_the_ranking_and_before_the_neighbours():
    favoured = rank(row(3, 2, 0, 0), None, flags(False, False, False, False), row(1, 2, 1, 1))
    assert favoured.fused == pytest.approx([1 / 11, 1 / 10, 0, 0])
    assert list(favoured.lexical) == [3, 2, 0, 0]


def test_second_in_both_beats_first_in_one():
    """What fusion is for: agreement of words and meaning over one strong opinion."""
    fused = rank(row(9, 8, 0), row(0, 0.5, 0.9), flags(False, False, False)).fused
    assert fused[1] > max(fused[0], fused[2])


def test_only_order_matters():
    close = rank(row(3, 0, 9, 1), row(0.1, 0.2, 0.3, 0.4), NONE)
    spread = rank(row(30, 0, 9000, 2), row(0.01, 0.02, 0.9, 0.91), NONE)
    assert np.array_equal(close.fused, spread.fused)


def test_of_equals_the_later_comes_first():
    fused = rank(row(1, 1, 1, 0), None, NONE).fused
    assert fused[2] > fused[1] > fused[0] > fused[3] == 0


def test_short_passages_lend_score_to_short_neighbours():
    short = flags(True, True, True, True, False, True)
    smoothed = smooth(row(0, 0, 0, 1, 5, 0), short)
    assert smoothed == pytest.approx(
        [0, 0.15, 0.3, 1, 5, 0.3]
    )  # over the long one, which has no part


def test_by_meaning_the_better_of_two_places_counts():
    """The lone passage 5 is first by itself; lent by each other, 0 to 2 would all pass it."""
    short = flags(True, True, True, True, True, True, True)
    cosine = row(0.5, 0.5, 0.5, 0, 0, 0.6, 0)
    fused = rank(row(0, 0, 0, 0, 0, 0, 0), cosine, short).fused
    assert smooth(cosine, short).argmax() == 1
    assert fused[5] == fused[1] == pytest.approx(1 / 10)
    assert fused[3] > 0  # lent alone


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_small_rankings(size):
    scores = np.ones(size, np.float32)
    assert rank(scores, scores, np.ones(size, bool)).fused.shape == (size,)


def test_what_is_shown_is_not_smoothed():
    ranking = rank(row(0, 1), row(0.5, -0.5), flags(True, True))
    assert list(ranking.lexical) == [0, 1]
    assert list(ranking.cosine) == [0.5, -0.5]

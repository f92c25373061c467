"""The question's vector moves towards what was found, and only so far."""

from __future__ import annotations

import numpy as np
import pytest

from memtree.ranking import feedback, vectors
from memtree.ranking.corpus import Corpus
from tests.properties.strategies import batch, conversation, history_of, leaves_of
from tests.trees import places


@pytest.fixture(scope="module")
def corpus():
    """Each passage with a vector along the second axis."""
    grown = batch(history_of(conversation(3, 4_000)))
    leaves = leaves_of(grown.frontier, {node.id: node for node in grown.nodes})
    made = Corpus(3)
    made.extend(leaves, places(leaves))
    for leaf in leaves:
        count = len(leaf.passages)
        rows = np.tile(np.array([[0, 1, 0]], np.float32), (count, 1))
        made.add_vectors({leaf.id: vectors.pack(rows, [1] * count)})
    return made


QUERY = np.array([1, 0, 0], np.float32)


def test_it_moves_towards_the_best(corpus):
    scores = np.zeros(len(corpus), np.float32)
    scores[2] = 0.2
    moved = feedback.moved(QUERY, corpus, scores)
    assert moved[1] / moved[0] == pytest.approx(feedback.WEIGHT, abs=0.01)
    assert np.linalg.norm(moved) == pytest.approx(1)
    assert np.allclose(feedback.moved(9 * QUERY, corpus, scores), moved, atol=1e-6)


def test_nothing_found_moves_nothing(corpus):
    unmoved = feedback.moved(QUERY, corpus, np.zeros(len(corpus), np.float32))
    assert np.array_equal(unmoved, QUERY)
    without = Corpus(3)
    without.extend(corpus.leaves, corpus.places)
    scores = np.ones(len(corpus), np.float32)
    assert np.array_equal(feedback.moved(QUERY, without, scores), QUERY)

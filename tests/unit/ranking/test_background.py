"""Cosines without what all texts of a language share."""

from __future__ import annotations

import numpy as np
import pytest

from memtree.ranking.background import AXES, Background

RNG = np.random.default_rng(7)
WIDTH = 200


def rows(count: int, shared: float) -> np.ndarray:
    """Unit rows that have a direction in common."""
    made = RNG.normal(size=(count, WIDTH)).astype(np.float32)
    made[:, 0] += shared * np.sqrt(WIDTH)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def test_what_all_share_makes_no_two_texts_near() -> None:
    background = Background.of(rows(200, 2.0))
    strangers = rows(50, 2.0)
    assert float((strangers[1:] @ strangers[0]).mean()) > 0.7
    near = background.cosines(strangers[0], strangers[1:])
    assert abs(float(near.mean())) < 0.05
    assert background.scale.relevance(float(near.max())) < 0.7


def test_a_text_stays_near_to_itself_and_to_what_says_much_the_same() -> None:
    background = Background.of(rows(200, 2.0))
    [text, other] = rows(2, 2.0)
    said_again = text + 0.2 * (other - text)
    said_again /= np.linalg.norm(said_again)
    near = background.cosines(text, np.stack([text, said_again, other]))
    assert near[0] == pytest.approx(1.0, abs=1e-3)
    assert background.scale.relevance(float(near[1])) > 0.85
    assert near[2] < 0.3


def test_one_relevance_means_the_same_whatever_is_shared() -> None:
    plain, near = Background.of(rows(200, 0.0)), Background.of(rows(200, 2.0))
    assert near.scale.chance == pytest.approx(plain.scale.chance, abs=0.1)
    assert near.axes.shape == (AXES, WIDTH)


def test_a_text_without_a_vector_is_near_to_nothing() -> None:
    background = Background.of(rows(200, 1.0))
    nothing = np.zeros((1, WIDTH), np.float32)
    assert background.cosines(rows(1, 1.0)[0], nothing).tolist() == [0.0]
    assert background.cosines(nothing[0], rows(1, 1.0)).tolist() == [0.0]

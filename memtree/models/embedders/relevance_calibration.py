"""Measure from which cosine on a model's vectors mean that texts are related.

Models differ: unrelated texts have a cosine of 0.03 with MiniLM, about 0.1 with text-embedding-3
and over 0.7 with ada-002 or E5. So eight questions and the passages that answer them are embedded;
each question with the other seven passages gives the floor.

    relevant(questions, passages)    # MiniLM: floor 0.03, answers 0.55, so 0.376

The threshold is two thirds of the way up: this gives MiniLM's 0.38, which was measured on whole
conversations (`local_embedder.py`).

Memories have a scale of their own (`ranking/relevance_scale.py`), measured from pairs of equal
meaning and from messages with unrelated memories:

    scale(pairs, messages, memories)    # MiniLM: half 0.36, strong 0.74, as on many more texts
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memtree.language.word_file import sections
from memtree.ranking.relevance_scale import RelevanceScale

Matrix = NDArray[np.float32]

SHARE = 2 / 3
# For 5 % of messages, the best of 100 unrelated memories lies so many standard deviations above the
# mean of all: measured on 100 messages and 10,000 memories with MiniLM, where the mean is 0.04.
DEVIATIONS = 4.5
LOWEST, HIGHEST = 0.1, 0.95  # limits, whatever a model computes for these few texts


def texts(name: str) -> tuple[str, ...]:
    """Return the texts to embed: `questions`, `passages`, `pairs`, `messages` or `memories`."""
    return sections("en", "relevance_calibration")[name]


def relevant(questions: Matrix, passages: Matrix) -> float:
    """Return the threshold, given a model's (8, d) unit rows for the texts above."""
    cosines = questions @ passages.T
    answers = np.eye(len(cosines), dtype=bool)
    floor, related = float(cosines[~answers].mean()), float(cosines[answers].mean())
    return min(HIGHEST, max(LOWEST, floor + SHARE * (related - floor)))


def scale(pairs: Matrix, messages: Matrix, memories: Matrix) -> RelevanceScale:
    """Return the scale, given a model's unit rows for the texts above. Any rows give a valid
    scale."""
    same = np.einsum("ij,ij->i", pairs[::2], pairs[1::2])
    strangers = messages @ memories.T
    return RelevanceScale.measured(
        float(strangers.mean() + DEVIATIONS * strangers.std()),
        float(np.quantile(same, 0.25)),
    )

"""Where a model's cosines begin to mean something, measured by the model itself.

Models differ: texts that have nothing to do with each other have a cosine of 0.03 with MiniLM,
about 0.1 with text-embedding-3 and over 0.7 with ada-002 or E5. So eight questions and the passages
that answer them are embedded; the questions with the other seven passages show the floor.

    relevant(questions, passages)    # MiniLM: floor 0.03, answers 0.55, so 0.376

The threshold lies two thirds of the way up: there lies MiniLM's 0.38, which was measured on whole
conversations (`local_embedder.py`).

Memories have a scale of their own (`ranking/relevance_scale.py`), measured from pairs that say the
same and from messages with memories that do not concern them:

    scale(pairs, messages, memories)    # MiniLM: half 0.36, strong 0.74, as on many more texts
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memtree.language.lists import sections
from memtree.ranking.relevance_scale import RelevanceScale

Matrix = NDArray[np.float32]

SHARE = 2 / 3
# The best of 100 strangers, for 5 % of messages, lies so many standard deviations above the mean of
# all: measured on 100 messages and 10,000 memories with MiniLM, where the mean is 0.04.
DEVIATIONS = 4.5
LOWEST, HIGHEST = 0.1, 0.95  # whatever a model makes of these few texts


def texts(name: str) -> tuple[str, ...]:
    """Return the `questions`, `passages`, `pairs`, `messages` or `memories` that are embedded."""
    return sections("en", "relevance_calibration")[name]


def relevant(questions: Matrix, passages: Matrix) -> float:
    """The threshold of a model that gave these (8, d) unit rows for the texts above."""
    cosines = questions @ passages.T
    answers = np.eye(len(cosines), dtype=bool)
    floor, related = float(cosines[~answers].mean()), float(cosines[answers].mean())
    return min(HIGHEST, max(LOWEST, floor + SHARE * (related - floor)))


def scale(pairs: Matrix, messages: Matrix, memories: Matrix) -> RelevanceScale:
    """The scale of a model that gave these unit rows for the texts above. Whatever they hold, there
    is one."""
    same = np.einsum("ij,ij->i", pairs[::2], pairs[1::2])
    strangers = messages @ memories.T
    return RelevanceScale.measured(
        float(strangers.mean() + DEVIATIONS * strangers.std()),
        float(np.quantile(same, 0.25)),
    )

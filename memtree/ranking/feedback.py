"""Pseudo-relevance feedback: the question's vector, moved towards the best passages (Rocchio).

What the first passages say in other words than the question is what further ones are near to. It
costs a second pass over the vectors and no embedding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memtree.ranking.corpus import Corpus

BEST = 5  # passages; 3 to 10 differ by less than a question or two
WEIGHT = 0.3  # of them, beside the question's 1; 0.5 loses paraphrases in long histories

Vector = NDArray[np.float32]


def moved(query: Vector, corpus: Corpus, scores: NDArray[np.float32]) -> Vector:
    """The query's vector (of unit length), moved towards those of the best passages."""
    best = np.argsort(-scores, kind="stable")[:BEST]
    found = [(float(scores[row]), corpus.vector(int(row))) for row in best if scores[row] > 0]
    mean = np.zeros_like(query)
    for score, vector in found:
        if vector is not None:
            mean += score * vector
    length = float(np.linalg.norm(mean))
    if not length:
        return query
    towards = query / max(float(np.linalg.norm(query)), 1e-9) + WEIGHT * mean / length
    return np.asarray(towards / np.linalg.norm(towards), np.float32)

"""Which passages matter for a query: BM25 and cosine, smoothed, then reciprocal rank fusion (RRF).

Recipe (DESIGN section 7): each of the two scores is smoothed over neighbouring short passages
(0.3 / 0.15 at distance 1 / 2), since a short turn is understood by its neighbours; pieces of one
long answer are not smoothed. Then reciprocal rank fusion with k = 10, which holds from short chats
to a million tokens where sums of z-scores collapse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RRF_K = 10.0
NEAR, FAR = 0.3, 0.15

Scores = NDArray[np.float32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Per passage: `fused` orders, `lexical` and `cosine` are what `explain` shows."""

    fused: Scores
    lexical: Scores
    cosine: Scores | None


def rank(
    lexical: Scores, cosine: Scores | None, short: Flags, dense_weight: float = 1.0
) -> Ranking:
    """Fuse the scores of all passages, in order of the history; `short`: of short messages."""
    fused = _by_rank(smooth(lexical, short))
    if cosine is not None:
        fused = fused + dense_weight * _by_rank(smooth(np.maximum(cosine, 0), short))
    return Ranking(fused, lexical, cosine)


def smooth(scores: Scores, short: Flags) -> Scores:
    """Lend short passages the score of their short neighbours."""
    lent = np.where(short, scores, 0).astype(np.float32)
    total = np.zeros_like(lent)
    for distance, share in ((1, NEAR), (2, FAR)):
        if len(lent) > distance:
            total[distance:] += share * lent[:-distance]
            total[:-distance] += share * lent[distance:]
    return (scores + np.where(short, total, 0)).astype(np.float32)


def _by_rank(scores: Scores) -> Scores:
    """Reciprocal rank of each score; what scored nothing gets nothing. Ties: the later first."""
    order = np.lexsort((-np.arange(len(scores)), -scores))
    ranks = np.empty(len(scores), np.float32)
    ranks[order] = np.arange(len(scores), dtype=np.float32)
    return np.where(scores > 0, 1.0 / (RRF_K + ranks), 0).astype(np.float32)

"""Rank passages for a query: words and meaning, smoothed, then fused by rank (RRF).

Both scores are smoothed over neighbouring passages (weight 0.3, at distance 2 half of it), since a
turn is understood by its neighbours. By meaning, a passage gets the better of its ranks before and
after smoothing: a passage that says everything by itself must not fall behind passages in a group.
A passage of a long message is also ranked by its raw cosine, one rank lower, since the correction
for chance lowers a segment's score even if it is relevant. The ranks are joined by reciprocal rank
fusion with k = 10, which works from short chats to a million tokens, where sums of z-scores
collapse. A vote is weighted by the square root of its score relative to the best score or, for
words, to the score of the question itself: hundreds of passages share one common word with a
question, and ranks among these say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RRF_K = 10.0
LENT = 0.3  # share of a score added to the adjacent passages
FIRST = 200  # best raw cosines that count, without the correction for chance

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Scores per passage: `fused` gives the order; `explain` shows `lexical` and `cosine`.
    `segments`: returns the cosine of each segment of a passage; empty without a vector."""

    fused: Scores
    lexical: Scores
    cosine: Scores | None
    segments: Callable[[int], Scores] = lambda _: np.empty(0, np.float32)


def rank(
    lexical: Scores,
    cosine: Scores | None,
    weights: Scores | None = None,
    long: tuple[Scores, NDArray[np.bool_]] | None = None,
    whole: float = 0.0,
) -> Ranking:
    """Fuse the scores of all passages, in order of the history. `cosine`: their nearness in
    meaning, ignored below 0. `long`: nearness without the correction for chance, and a mask of the
    passages for which it counts as well. `weights`: factors of the scores, None for 1. `whole`: the
    BM25 score of a passage that is the question itself."""
    factors = np.float32(1) if weights is None else weights
    fused = _by_rank(smooth(lexical * factors), whole)
    if cosine is not None:
        own = np.maximum(cosine, 0) * factors
        meaning = np.maximum(_by_rank(own), _by_rank(smooth(own)))
        if long is not None:
            nearest, passages = long
            meaning = np.maximum(meaning, _first_places(nearest * factors) * passages)
        fused = fused + meaning
    return Ranking(fused, lexical, cosine)


def together(rankings: Sequence[Ranking]) -> Ranking:
    """Return the mean of rankings by the same words and different meanings. A passage is as near as
    to the nearest meaning."""
    if len(rankings) == 1:
        return rankings[0]
    cosines = [ranking.cosine for ranking in rankings if ranking.cosine is not None]
    return Ranking(
        np.mean([ranking.fused for ranking in rankings], axis=0),
        rankings[0].lexical,
        np.max(cosines, axis=0) if cosines else None,
        lambda row: np.max([ranking.segments(row) for ranking in rankings], axis=0),
    )


def smooth(scores: Scores) -> Scores:
    """Add to each passage a share of the scores of those before and after it."""
    smoothed = scores.astype(np.float32)
    for distance in (1, 2):
        if len(scores) > distance:
            smoothed[distance:] += LENT / distance * scores[:-distance]
            smoothed[:-distance] += LENT / distance * scores[distance:]
    return smoothed


def _first_places(scores: Scores) -> Scores:
    """Return the votes of the best `FIRST` scores, one rank lower; the others get 0."""
    first = np.argpartition(-scores, min(FIRST, len(scores)) - 1)[:FIRST]
    return _votes(scores, first[scores[first] > 0], behind=1)


def _by_rank(scores: Scores, whole: float = 0.0) -> Scores:
    """Return the vote of each score; 0 for a score of 0. Among equals the later is first."""
    return _votes(scores, np.flatnonzero(scores > 0)[::-1], whole)


def _votes(scores: Scores, rows: NDArray[np.int64], whole: float = 0.0, behind: int = 0) -> Scores:
    """Return the reciprocal rank of each of `rows`, times the square root of its score relative to
    the best one, or to `whole` if that is more; other rows get 0. `behind`: added to every rank."""
    order = rows[np.argsort(-scores[rows], kind="stable")]
    votes = np.zeros(len(scores), np.float32)
    if len(order):
        best = scores[order]
        places = np.arange(behind, behind + len(order), dtype=np.float32)
        votes[order] = np.sqrt(best / max(float(best[0]), whole)) / (RRF_K + places)
    return votes

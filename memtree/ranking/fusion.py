"""Rank passages for a query: words and meaning, smoothed, then fused by rank (RRF).

Each of the two scores is smoothed over neighbouring passages (0.3, at distance 2 half of it), since
a turn is understood by its neighbours. By meaning a passage has the better of its own place and its
place with what its neighbours lent: what says all by itself must not fall behind those that stand
in a group. A passage of a long message also has its place by plain nearness, a place behind: what
so many segments reach by chance is taken off, whether one is about the matter or not. Then
reciprocal rank fusion with k = 10, which holds from short chats to a million tokens where sums of
z-scores collapse. A vote counts by the root of its score's part of the best one, by words of what
the question itself would score: hundreds of passages share one common word with a question, and
places among these say nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RRF_K = 10.0
LENT = 0.3  # of a score, to the passages beside it
FIRST = 200  # places of passages of long messages that count without a correction for chance

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Per passage: `fused` orders, `lexical` and `cosine` are what `explain` shows. `segments`: how
    near each segment of a passage is in meaning; none of a passage without a vector."""

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
    """Fuse the scores of all passages, in order of the history. `cosine`: how near they are in
    meaning, where more than 0; `long`: the same whatever the size of the message, and the passages
    whose first places by it count as well. `weights`: factors of the scores, 1 where None. `whole`:
    the score by words of a passage that is the question itself."""
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


def smooth(scores: Scores) -> Scores:
    """Lend each passage some of the score of those before and after it."""
    smoothed = scores.astype(np.float32)
    for distance in (1, 2):
        if len(scores) > distance:
            smoothed[distance:] += LENT / distance * scores[:-distance]
            smoothed[:-distance] += LENT / distance * scores[distance:]
    return smoothed


def _first_places(scores: Scores) -> Scores:
    """The votes of the best `FIRST` scores, a place behind; the others have none."""
    first = np.argpartition(-scores, min(FIRST, len(scores)) - 1)[:FIRST]
    return _votes(scores, first[scores[first] > 0], behind=1)


def _by_rank(scores: Scores, whole: float = 0.0) -> Scores:
    """The vote of each score; what scored nothing has none. Ties: the later first."""
    return _votes(scores, np.flatnonzero(scores > 0)[::-1], whole)


def _votes(scores: Scores, rows: NDArray[np.int64], whole: float = 0.0, behind: int = 0) -> Scores:
    """Reciprocal rank of each of these rows among them, times the root of its score's part of the
    best one, or of `whole` where that is more; the other rows get nothing. `behind`: places before
    the first."""
    order = rows[np.argsort(-scores[rows], kind="stable")]
    votes = np.zeros(len(scores), np.float32)
    if len(order):
        best = scores[order]
        places = np.arange(behind, behind + len(order), dtype=np.float32)
        votes[order] = np.sqrt(best / max(float(best[0]), whole)) / (RRF_K + places)
    return votes

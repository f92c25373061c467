"""How the rows of a scope are ranked for a query: words and meaning, fused by reciprocal rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtree.memories.search.scope_index import Flags, ScopeIndex, Scores
from memtree.memories.search.vector_bytes import Vector

DEPTH = 200  # rows of each ranking that take part
RRF_K = 10.0
MOST_BY_WORDS = 0.75  # relevance of a row without vector that holds every term of the query


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Best first, beside each other: `numbers`, fused `scores`, `cosines` and whether they are
    known (`embedded`), and the `covered` share of the query's weight in words."""

    numbers: NDArray[np.int32]
    scores: Scores
    cosines: Scores
    embedded: Flags
    covered: Scores


def ranked(
    index: ScopeIndex,
    terms: Mapping[int, int],
    vector: Vector | None,
    now: float,
    wanted: NDArray[np.int32] | None = None,
) -> Ranked:
    """The rows that share a term with the query or are near it. `wanted`: numbers that a filter
    lets through, ascending; None: all."""
    live = index.live(now)
    numbers = index.numbers
    words, covered = index.words(terms, live)
    allowed = live if wanted is None else live & np.isin(numbers, wanted)
    scores = np.zeros(len(numbers), np.float32)
    cosines, embedded = scores.copy(), np.zeros(len(numbers), np.bool_)
    if vector is not None:
        cosines, embedded = index.cosines(vector), index.embedded
        _add_reciprocal_ranks(scores, np.where(allowed & embedded, cosines, 0), numbers)
    _add_reciprocal_ranks(scores, np.where(allowed, words, 0), numbers)
    rows = np.flatnonzero(scores > 0)
    rows = rows[np.lexsort((-numbers[rows], -scores[rows]))]
    return Ranked(numbers[rows], scores[rows], cosines[rows], embedded[rows], covered[rows])


def relevance_by_meaning(cosine: float, half: float) -> float:
    """`half`: the cosine that means 0.5."""
    if cosine < half:
        return max(0.0, 0.5 * cosine / half)
    return min(1.0, 0.5 + 0.5 * (cosine - half) / (1 - half))


def relevance_by_words(covered: float) -> float:
    """Of a row whose vector is not known: in proportion to the share of the query's weight (idf)
    that its words cover, so that two thirds of it pass a threshold of 0.5.

    >>> relevance_by_words(1.0), relevance_by_words(0.5)
    (0.75, 0.375)
    """
    return MOST_BY_WORDS * covered


def _add_reciprocal_ranks(scores: Scores, of: Scores, numbers: NDArray[np.int32]) -> None:
    """Of the best `DEPTH` rows above 0; of equal ones the newest first."""
    rows = np.flatnonzero(of > 0)
    if len(rows) > DEPTH:
        least = np.partition(of[rows], len(rows) - DEPTH)[len(rows) - DEPTH]
        rows = rows[of[rows] >= least]
    rows = rows[np.lexsort((-numbers[rows], -of[rows]))][:DEPTH]
    scores[rows] += (1.0 / (RRF_K + np.arange(len(rows)))).astype(np.float32)

"""How the rows of a scope are ranked for a query: words and meaning, added as scores.

    words      BM25, in parts of what a row that holds all the query's terms would get
    meaning    the cosine on the embedder's scale of relevance, twice

Reciprocal ranks, as context memory fuses passages, find less here: memories are single sentences,
and how much better the first is than the second says more than that it is the first. Both scores
are lent to the memories before and after in the same session, since what was saved in a row is
about one thing. docs/decisions/0021 has the figures.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtree.memories.search.block_rows import BlockRows, Flags, Scores
from memtree.memories.search.query import Query
from memtree.memories.search.vector_bytes import spoken_by
from memtree.ranking.relevance_scale import HALF, STRONG, RelevanceScale

MEANING = 2.0  # weight beside words; 1.5 to 3 differ by half a point
LENT_WORDS, LENT_MEANING = 0.3, 0.1  # to the next memory of the session; half of it to the second
SPEAKER = 1.3  # times the score, for what the one speaker said whom a query names
TEXTS_OF_SPEAKER = 5  # that make the name before a colon a speaker
LOOKED_AT = 500  # best rows, and nearest ones, among which the relevant ones are looked for
MOST_BY_WORDS = 0.75  # relevance of a row without vector that holds every term of the query

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Rows of an index, best first: `rows`, `numbers`, `scores` and `relevance`. `complete`: every
    live row has a vector."""

    rows: Rows
    numbers: NDArray[np.int32]
    scores: Scores
    relevance: Scores
    complete: bool


def ranked(
    index: BlockRows,
    query: Query,
    scale: RelevanceScale | None,
    now: float,
    *,
    most: int,
    least: float = 0.0,
    wanted: NDArray[np.int32] | None = None,
    cosines: Scores | None = None,
) -> Ranked:
    """At most `most` rows of relevance `least` or more that share a term with the query or have
    some of its meaning. `scale`: of the embedder, None for none. `wanted`: numbers that a filter
    lets through; None: all. `cosines`: of `query.moved` with all rows, where they are known."""
    live, numbers, embedded = index.live(now), index.numbers, index.embedded
    matches = index.words(query.terms, live)
    words, known = matches.scores, relevance_by_words(matches.covered)
    meaning = np.zeros_like(words)
    if query.moved is not None and scale is not None:
        if cosines is None:
            cosines = index.cosines(query.moved)
        meaning = np.where(embedded, _relevance(cosines, scale), known) * live

    def relevance(rows: Rows) -> Scores:
        if query.vector is None or scale is None:
            return known[rows]
        if query.background is None:
            by_meaning = _relevance(index.cosines(query.vector, rows), scale)
        else:
            near = index.unit_rows(rows, len(query.vector))
            cosines = query.background.cosines(query.vector, near)
            by_meaning = _relevance(cosines, query.background.scale)
        return np.where(embedded[rows], by_meaning, known[rows])

    scores = _fused(index, query, live, words, matches.most, meaning)
    rows = np.flatnonzero(live & (scores > 0))
    if wanted is not None:
        rows = rows[np.isin(numbers[rows], wanted)]
    if least > 0 and len(rows) > LOOKED_AT:
        looked_at = max(most, LOOKED_AT)
        best = _best(rows, scores, numbers, looked_at)
        rows = np.union1d(best, _best(rows, meaning, numbers, looked_at))
    rows = _best(rows, scores, numbers, len(rows) if least > 0 else most)
    near_enough = relevance(rows)
    kept = np.flatnonzero(near_enough >= least)[:most]
    return Ranked(
        rows[kept],
        numbers[rows[kept]],
        scores[rows[kept]],
        near_enough[kept],
        bool(embedded[live].all()),
    )


def relevance_by_words(covered: Scores) -> Scores:
    """Rate rows whose vectors are not known: in proportion to the share of the query's weight (idf)
    that their words cover, so that two thirds of it pass a threshold of 0.5."""
    return np.asarray(MOST_BY_WORDS * covered, np.float32)


def _relevance(cosines: Scores, scale: RelevanceScale) -> Scores:
    """`RelevanceScale.relevance` of many."""
    return np.interp(cosines, (0, scale.half, scale.strong, 1), (0, HALF, STRONG, 1)).astype(
        np.float32
    )


def _fused(
    index: BlockRows, query: Query, live: Flags, words: Scores, most: float, meaning: Scores
) -> Scores:
    """One score out of two; `most`: of words."""
    speaker = _speaker(index, query, live)
    if speaker is not None:
        factors = np.where(speaker, np.float32(SPEAKER), np.float32(1))
        words, meaning = words * factors, meaning * factors
    words = _lent(index, live, words, LENT_WORDS)
    meaning = _lent(index, live, meaning, LENT_MEANING)
    whole = np.float32(max(float(words.max(initial=0)), most, 1e-9))
    return np.asarray(words / whole + np.float32(MEANING) * meaning, np.float32)


def _speaker(index: BlockRows, query: Query, live: Flags) -> Flags | None:
    """Flag the rows of the one speaker whom the query names; None where it names none, or
    several."""
    said = [index.holding(spoken_by(term), live) for term in query.terms]
    said = [rows for rows in said if rows.sum() >= TEXTS_OF_SPEAKER]
    return said[0] if len(said) == 1 else None


def _lent(index: BlockRows, live: Flags, scores: Scores, share: float) -> Scores:
    """Scores with parts of those of the live neighbours, by number, of the same session."""
    sessions = index.sessions
    rows = np.flatnonzero(live & (sessions != 0))
    if len(rows) < 2:
        return scores
    rows = rows[np.argsort(index.numbers[rows], kind="stable")]
    own, session = scores[rows], sessions[rows]
    total = own.copy()
    for distance, part in ((1, share), (2, share / 2)):
        near = np.float32(part) * (session[distance:] == session[:-distance])
        total[distance:] += near * own[:-distance]
        total[:-distance] += near * own[distance:]
    lent = scores.copy()
    lent[rows] = total
    return lent


def _best(rows: Rows, scores: Scores, numbers: NDArray[np.int32], most: int) -> Rows:
    """The best `most` of these rows, best first; of equal ones the newest."""
    if len(rows) > most > 0:
        least = np.partition(scores[rows], len(rows) - most)[len(rows) - most]
        rows = rows[scores[rows] >= least]
    return rows[np.lexsort((-numbers[rows], -scores[rows]))][:most]

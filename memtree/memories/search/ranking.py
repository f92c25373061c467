"""How the rows of a scope are ranked for a query: words and meaning, added as scores.

    words      BM25, in parts of what a row that holds all the query's terms would get
    meaning    the cosine on the embedder's scale of relevance, twice

Reciprocal ranks, as context memory fuses passages, find less here: memories are single sentences,
and how much better the first is than the second says more than that it is the first. Both scores
are lent to the memories before and after in the same session, since what was saved in a row is
about one thing. docs/decisions/0020 has the figures.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtree.memories.search.index.scope_index import Flags, ScopeIndex, Scores
from memtree.memories.search.query import Query
from memtree.memories.search.text_terms import spoken_by
from memtree.ranking.relevance_scale import HALF, STRONG, RelevanceScale

MEANING = 2.0  # weight beside words; 1.5 to 3 differ by half a point
LENT_WORDS, LENT_MEANING = 0.3, 0.1  # to the next memory of the session; half of it to the second
SPEAKER = 1.3  # times the score, for what the one speaker said whom a query names
TEXTS_OF_SPEAKER = 5  # that make the name before a colon a speaker
MOST_BY_WORDS = 0.75  # relevance of a row without vector that holds every term of the query


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Rows of an index, best first: `numbers`, `scores`, `relevance`, and the share of the query's
    weight that their words hold (`covered`). `complete`: every live row has a vector."""

    numbers: NDArray[np.int32]
    scores: Scores
    relevance: Scores
    covered: Scores
    complete: bool


def ranked(
    index: ScopeIndex,
    query: Query,
    scale: RelevanceScale | None,
    now: float,
    *,
    most: int,
    least: float = 0.0,
    wanted: NDArray[np.int32] | None = None,
) -> Ranked:
    """At most `most` rows of relevance `least` or more that share a term with the query or have
    some of its meaning. `scale`: of the embedder, None for none. `wanted`: numbers that a filter
    lets through; None: all."""
    live, numbers = index.live(now), index.numbers
    found = index.words(query.terms, live)
    words = found.scores
    relevance, embedded = relevance_by_words(found.covered), index.embedded
    meaning = np.zeros_like(words)
    if query.vector is not None and query.moved is not None and scale is not None:
        moved, known = query.moved, relevance
        relevance = np.where(embedded, _relevance(index.cosines(query.vector), scale), known)
        meaning = relevance
        if moved is not query.vector:
            meaning = np.where(embedded, _relevance(index.cosines(moved), scale), known)
        meaning = meaning * live
    speaker = _speaker(index, query, live)
    if speaker is not None:
        words, meaning = (np.where(speaker, SPEAKER * part, part) for part in (words, meaning))
    words, meaning = (
        _lent(index, live, words, LENT_WORDS),
        _lent(index, live, meaning, LENT_MEANING),
    )
    scores = words / max(float(words.max(initial=0)), found.most, 1e-9) + MEANING * meaning
    rows = np.flatnonzero(live & (scores > 0) & (relevance >= least))
    if wanted is not None:
        rows = rows[np.isin(numbers[rows], wanted)]
    rows = _best(rows, scores, numbers, most)
    return Ranked(
        numbers[rows],
        scores[rows].astype(np.float32),
        relevance[rows].astype(np.float32),
        found.covered[rows],
        bool(embedded[live].all()),
    )


def relevance_by_words(covered: Scores) -> Scores:
    """Of rows whose vectors are not known: in proportion to the share of the query's weight (idf)
    that their words cover, so that two thirds of it pass a threshold of 0.5."""
    return np.asarray(MOST_BY_WORDS * covered, np.float32)


def _relevance(cosines: Scores, scale: RelevanceScale) -> Scores:
    """`RelevanceScale.relevance` of many."""
    return np.interp(cosines, (0, scale.half, scale.strong, 1), (0, HALF, STRONG, 1)).astype(
        np.float32
    )


def _speaker(index: ScopeIndex, query: Query, live: Flags) -> Flags | None:
    """What the one speaker said whom the query names; None where it names none, or several."""
    said = [index.holding(spoken_by(term), live) for term in query.terms]
    said = [rows for rows in said if rows.sum() >= TEXTS_OF_SPEAKER]
    return said[0] if len(said) == 1 else None


def _lent(index: ScopeIndex, live: Flags, scores: Scores, share: float) -> Scores:
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


def _best(
    rows: NDArray[np.intp], scores: Scores, numbers: NDArray[np.int32], most: int
) -> NDArray[np.intp]:
    """The best `most` of these rows, best first; of equal ones the newest."""
    if len(rows) > most:
        least = np.partition(scores[rows], len(rows) - most)[len(rows) - most] if most else np.inf
        rows = rows[scores[rows] >= least]
    return rows[np.lexsort((-numbers[rows], -scores[rows]))][:most]

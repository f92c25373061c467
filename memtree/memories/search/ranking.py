"""Rank the rows of a scope for a query by words and by meaning, added as scores.

    words      BM25, in parts of what a row that holds all the query's terms would get
    meaning    the cosine between what is measured of the embedder, twice

Reciprocal ranks, as context memory fuses passages, find less here: memories are single sentences,
and how much better the first is than the second says more than that it is the first. Both scores
are lent to the memories before and after in the same session, since what was saved in a row is
about one thing. docs/decisions/0021 has the figures.

Once the memories of the best rows are read, newer versions are put before older ones.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, sqrt

import numpy as np
from numpy.typing import NDArray

from memtree.memories.memory import Memory
from memtree.memories.search.block_rows import BlockRows, Flags, Scores, inverse_frequency
from memtree.memories.search.query import LEAST_MEMORIES, Query, common, is_common, without
from memtree.memories.search.vector_bytes import spoken_by
from memtree.ranking.relevance_scale import RelevanceScale
from memtree.text.terms import terms

MEANING = 2.0  # weight beside words; 1.5 to 3 differ by half a point
MEANINGS = 0.5, 0.85  # of the two measured cosines
LENT_WORDS, LENT_MEANING = 0.3, 0.1  # to the next memory of the session; half of it to the second
SPEAKER = 1.3  # times the score, for what the one speaker said whom a query names
TEXTS_OF_SPEAKER = 5  # that make the name before a colon a speaker
LOOKED_AT = 128  # best rows, and nearest ones, among which the relevant ones are looked for
WEAK = 0.3  # relevance below which a hit is probably not about the query
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
    """Rank at most `most` rows of relevance `least` or more that share a term with the query or
    have some of its meaning. `scale`: of the embedder, None for none. `wanted`: numbers that a
    filter lets through; None: all. `cosines`: of `query.moved` with all rows, where they are
    known."""
    live, numbers, embedded = index.live(now), index.numbers, index.embedded
    matches = index.words(query.terms, live)
    # Rows whose vectors are not known are rated in proportion to the share of the query's weight
    # (idf) that their words cover, so that two thirds of it pass a threshold of 0.5.
    words, known = matches.scores, np.asarray(MOST_BY_WORDS * matches.covered, np.float32)
    meaning = np.zeros_like(words)
    if query.moved is not None and scale is not None:
        if cosines is None:
            cosines = index.cosines(query.moved)
        meaning = np.where(embedded, _meaning(cosines, scale), known) * live

    def relevance(rows: Rows) -> Scores:
        if query.vector is None or scale is None:
            return known[rows]
        if query.background is None:
            by_meaning = scale.relevances(index.cosines(query.vector, rows))
        else:
            near = index.unit_rows(rows, len(query.vector))
            cosines = query.background.cosines(query.vector, near)
            by_meaning = query.background.scale.relevances(cosines)
        return np.where(embedded[rows], by_meaning, known[rows])

    scores = _fused(index, query, live, words, matches.most, meaning)
    rows = np.flatnonzero(live & (scores > 0))
    if wanted is not None:
        rows = rows[np.isin(numbers[rows], wanted)]
    looked_at = max(2 * most, LOOKED_AT)
    if least > 0 and len(rows) > looked_at:
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


def best_of(rankings: Sequence[Ranked], most: int) -> Ranked:
    """Join the rankings of several queries on one index: each row with its best score and its best
    relevance, at most `most` rows."""
    if len(rankings) == 1:
        return rankings[0]
    rows, at = np.unique(np.concatenate([each.rows for each in rankings]), return_inverse=True)
    numbers = np.zeros(len(rows), np.int32)
    numbers[at] = np.concatenate([each.numbers for each in rankings])
    scores, relevance = np.zeros(len(rows), np.float32), np.zeros(len(rows), np.float32)
    np.maximum.at(scores, at, np.concatenate([each.scores for each in rankings]))
    np.maximum.at(relevance, at, np.concatenate([each.relevance for each in rankings]))
    order = np.lexsort((-numbers, -scores))[:most]
    complete = all(each.complete for each in rankings)
    return Ranked(rows[order], numbers[order], scores[order], relevance[order], complete)


def _meaning(cosines: Scores, scale: RelevanceScale) -> Scores:
    """Score cosines for the order: less steep than relevance is for what is far."""
    return np.interp(cosines, (0, scale.chance, scale.strong, 1), (0, *MEANINGS, 1)).astype(
        np.float32
    )


def _fused(
    index: BlockRows, query: Query, live: Flags, words: Scores, most: float, meaning: Scores
) -> Scores:
    """Add the two scores. `most`: the score by words of a row that holds all terms."""
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
    """Return the scores with parts of those of the live neighbours, by number, of the same
    session."""
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
    """Return the best `most` of these rows, best first; of equal ones the newest."""
    if len(rows) > most > 0:
        least = np.partition(scores[rows], len(rows) - most)[len(rows) - most]
        rows = rows[scores[rows] >= least]
    return rows[np.lexsort((-numbers[rows], -scores[rows]))][:most]


NO_EMBEDDER = ("embedder",)  # what `degraded` says where words had to rank alone


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """`relevance`: how near it is to what was asked, 0 to 1, comparable between searches.
    `score`: orders the hits of one search and means nothing beyond."""

    memory: Memory
    relevance: float
    score: float

    @property
    def weak(self) -> bool:
        """Return True if it is probably not about what was asked."""
        return self.relevance < WEAK


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of a search, best first. `degraded`: what could not be used ("embedder": words alone
    ranked all hits, or some). `by_words`: no hit's relevance tells its meaning. `known`: the
    embedder knows the language of the query well."""

    hits: tuple[MemoryHit, ...] = ()
    degraded: tuple[str, ...] = ()
    by_words: bool = False
    known: bool = True


REACH = 2_000  # characters of a text that are compared
FIRST = 32  # candidates that are looked at: each is compared with each
# Share of the older one's score, and how alike the texts are by their words. With less, evidence of
# more questions sinks than versions are put right: docs/decisions/0021.
SCORE, ALIKE = 0.7, 0.28


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that was found. `said`: when, in any unit."""

    text: str = field(repr=False)
    said: tuple[float, int]
    score: float


def newest_first(
    candidates: Sequence[Candidate],
    query: Collection[int],
    weigh: Callable[[Sequence[int]], Sequence[float]],
) -> list[int]:
    """Return the order of these candidates, which are best first, with each newer version moved
    before the older one that it follows.

    A query cannot tell "The staging port is 8090" from "The staging port is 8091", and neither
    can a ranking: of 145 facts saved in two versions the newer one stood above the older for 19
    %. Nothing is hidden by this: both are found, and the older follows. What is near and newer
    is a version only where it holds the weightiest word of the query that the older one holds:
    asked for the car at the airport, the newer car at the station is another fact.

    `query`: its terms. `weigh`: returns the weights of terms, 0 for one that tells nothing
    apart.
    """
    texts = [terms(candidate.text[:REACH]) for candidate in candidates[:FIRST]]
    held = list(dict.fromkeys(term for text in texts for term in text))
    weights = dict(zip(held, weigh(held), strict=True))
    totals = [sum(map(weights.__getitem__, text)) for text in texts]
    order = list(range(len(texts)))
    at = 0

    def alike(one: int, other: int) -> float:
        """The weight of shared terms in that of all, 0 to 1."""
        shared = fsum(map(weights.__getitem__, texts[one].keys() & texts[other].keys()))
        whole = totals[one] * totals[other]
        return shared / sqrt(whole) if whole else 0.0

    while at < len(order):
        older = order[at]
        query_weights = {term: weights[term] for term in texts[older] if term in query}
        newer = [
            other
            for other in order[at + 1 :]
            if candidates[other].said > candidates[older].said
            and candidates[other].score >= SCORE * candidates[older].score
            and _answers(texts[other], query_weights)
            and alike(other, older) >= ALIKE
        ]
        if newer:
            newest = max(newer, key=lambda other: candidates[other].said)
            order.remove(newest)
            order.insert(at, newest)
        at += 1
    return [*order, *range(len(texts), len(candidates))]


def _answers(newer: Mapping[int, int], query_weights: Mapping[int, float]) -> bool:
    """Return True if the newer text lacks no word that weighs as much as the weightiest."""
    missing = [weight for term, weight in query_weights.items() if term not in newer]
    return max(missing, default=-1.0) < max(query_weights.values(), default=0.0)


def as_hits(ranked: Ranked, memories: Mapping[int, Memory]) -> list[MemoryHit]:
    """Return the hits of the ranked rows whose memories are there. `memories`: by number."""
    columns = (ranked.numbers.tolist(), ranked.relevance.tolist(), ranked.scores.tolist())
    return [
        MemoryHit(memories[number], relevance, score)
        for number, relevance, score in zip(*columns, strict=True)
        if number in memories
    ]


def without_common(index: BlockRows, text: str, now: float) -> str:
    """Return a query without the words that most memories hold; empty where it has none of
    these."""
    live = index.live(now)
    return without(text, common(index.counts(terms(text), live), int(live.sum())))


def newest_hits_first(index: BlockRows, query: Query, hits: Sequence[MemoryHit]) -> list[MemoryHit]:
    """Return the hits best first, but newer versions before the older ones."""

    def weigh(terms: Sequence[int]) -> list[float]:
        # In a handful of memories a word that two of them hold is not common yet.
        live = index.live_rows
        total = max(live, LEAST_MEMORIES)
        counts = index.holders(terms).tolist()
        return [
            0.0 if is_common(count, live) else inverse_frequency(min(count, total), total)
            for count in counts
        ]

    candidates = [
        Candidate(hit.memory.text, (hit.memory.updated, hit.memory.number), hit.score)
        for hit in hits
    ]
    return [hits[at] for at in newest_first(candidates, query.terms, weigh)]

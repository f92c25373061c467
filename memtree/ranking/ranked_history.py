"""Rank the passages of a history for a query: the single place where the parts are combined.

The scores are words (BM25) and meaning (the nearest segment's centred cosine, less what its number
of segments reaches by chance), both smoothed over neighbours and fused by rank.
docs/decisions/0060 says what else was tried.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from memtree.history.chat_history import History
from memtree.ranking.corpus import Corpus, SegmentCosines
from memtree.ranking.fusion import Ranking, Scores, rank, together
from memtree.text import terms


@dataclass(frozen=True, slots=True)
class RankedHistory:
    """History with its passages ranked for a query. Valid only while the corpus is locked, so copy
    what must outlive the lock. `query`: the terms of the question."""

    history: History
    corpus: Corpus
    ranking: Ranking
    query: Collection[int] = ()


_WORD = re.compile(r"\w+(?:['’]s\b)?")
LONG = 3  # a message with at least this many segments is long
SPEAKER = 1.5  # factor for passages of the only speaker that a question names; with 2, fewer
# questions that name the wrong speaker find their evidence (LoCoMo adversarial at 4k: 98.7 to 97.5)


def nameless(corpus: Corpus, query: str) -> str:
    """Return a query without speakers' names, which stand in each of their messages and so draw
    the query's vector to all of these equally. A query without such names is returned unchanged.
    `corpus`: as `heard` returns it."""
    named = corpus.speakers.named(terms.terms(query))
    names = frozenset().union(*named.values())
    if not names:
        return query
    return _WORD.sub(
        lambda word: "" if terms.terms(word[0]).keys() & names else word[0], query
    ).strip()


def heard(history: History, corpus: Corpus) -> Corpus:
    """Return the corpus with the speakers of all its messages."""
    new = history.facts[len(corpus.speakers) : corpus.messages]
    if not new:
        return corpus
    return corpus.with_speakers(corpus.speakers.extended(fact.spoken for fact in new))


def ranking(corpus: Corpus, query: str, vectors: Sequence[NDArray[np.float32]]) -> Ranking:
    """Rank every passage of the corpus for the words of a query, and for its meanings, each a
    vector; none without an embedder. In the result, `lexical` and `cosine` are the unsmoothed
    scores. `corpus`: as `heard` returns it."""
    query_terms = terms.terms(query)
    named = corpus.speakers.named(query_terms)
    names = frozenset().union(*named.values())
    matter = {term: count for term, count in query_terms.items() if term not in names}
    lexical, whole = corpus.lexicon.matches(matter or query_terms)
    weights = None
    if len(named) == 1:
        says = corpus.speakers.says(next(iter(named)), corpus.message)
        weights = np.where(says, np.float32(SPEAKER), np.float32(1))
    nearness = [near for each in vectors if (near := corpus.cosines(each)).embedded.any()]
    if not nearness:
        return rank(lexical, None, weights, whole=whole)
    return together([_by_meaning(near, lexical, weights, whole) for near in nearness])


def _by_meaning(
    near: SegmentCosines, lexical: Scores, weights: Scores | None, whole: float
) -> Ranking:
    meaning = near.meaning - near.deviation * expected_maxima(near.segments)
    ranked = rank(lexical, meaning, weights, (near.nearest, near.segments >= LONG), whole)
    return replace(ranked, cosine=near.nearest, segments=near.of_passage)


_NORMAL = NormalDist()


def expected_maxima(counts: NDArray[np.int32]) -> NDArray[np.float32]:
    """Return for each count the expected maximum of that many standard normals; 0 below 2.

    A message is as near as its nearest segment. The more segments it has, the nearer the best of
    them is by chance alone, so that a sentence of ten words would rank behind every long answer.
    The expected gain of n segments is this maximum times the standard deviation of all segments'
    cosines with the query.

    >>> [round(float(each), 2) for each in expected_maxima(np.array([1, 2, 10, 200]))]
    [0.0, 0.59, 1.55, 2.73]
    """
    different, which = np.unique(counts, return_inverse=True)
    maxima = [_expected_maximum(count) for count in different.tolist()]
    return np.array(maxima, np.float32)[which]


@lru_cache(1_000)
def _expected_maximum(count: int) -> float:
    """Return Blom's approximation, with an error of at most 0.02 (Statistical Estimates and
    Transformed Beta-Variables, 1958)."""
    return _NORMAL.inv_cdf((count - 0.375) / (count + 0.25)) if count > 1 else 0.0

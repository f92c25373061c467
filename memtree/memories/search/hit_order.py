"""Order the best rows of an index once their memories are read.

Hits of a search.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, sqrt

from memtree.memories.memory import Memory
from memtree.memories.search.block_rows import BlockRows, inverse_frequency
from memtree.memories.search.query import LEAST_MEMORIES, Query, common, is_common, without
from memtree.memories.search.ranking import Ranked
from memtree.text.words.terms import terms

NO_EMBEDDER = ("embedder",)  # what `degraded` says where words had to rank alone


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """`relevance`: how near it is to what was asked, 0 to 1, comparable between searches.
    `score`: orders the hits of one search and means nothing beyond."""

    memory: Memory
    relevance: float
    score: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Best first. `degraded`: what could not be used ("embedder": words alone ranked all hits, or
    some). `by_words`: no hit's relevance tells its meaning."""

    hits: tuple[MemoryHit, ...] = ()
    degraded: tuple[str, ...] = ()
    by_words: bool = False


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
    """Return True if it lacks no word that weighs as much as the weightiest."""
    missing = [weight for term, weight in query_weights.items() if term not in newer]
    return max(missing, default=-1.0) < max(query_weights.values(), default=0.0)


def as_hits(ranked: Ranked, memories: Mapping[int, Memory]) -> list[MemoryHit]:
    """Those of the rows that are there. `memories`: by number."""
    columns = (ranked.numbers.tolist(), ranked.relevance.tolist(), ranked.scores.tolist())
    return [
        MemoryHit(memories[number], relevance, score)
        for number, relevance, score in zip(*columns, strict=True)
        if number in memories
    ]


def without_common(index: BlockRows, text: str, now: float) -> str:
    """A query without the words that most memories hold; empty where it has none of these."""
    live = index.live(now)
    return without(text, common(index.counts(terms(text), live), int(live.sum())))


def newest_hits_first(index: BlockRows, query: Query, hits: Sequence[MemoryHit]) -> list[MemoryHit]:
    """Best first, but for newer versions, which come before the older ones."""

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

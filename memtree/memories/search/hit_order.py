"""Order the best rows of an index once their memories are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtree.memories.memory import Memory
from memtree.memories.search.hits import MemoryHit
from memtree.memories.search.index.block_rows import BlockRows, inverse_frequency
from memtree.memories.search.query import LEAST_MEMORIES, Query, common, is_common, without
from memtree.memories.search.ranking import Ranked
from memtree.memories.search.versions import Candidate, newest_first
from memtree.text.terms import terms


def as_hits(found: Ranked, memories: Mapping[int, Memory]) -> list[MemoryHit]:
    """Those of the rows that are there. `memories`: by number."""
    columns = (found.numbers.tolist(), found.relevance.tolist(), found.scores.tolist())
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

"""Hits of a search."""

from __future__ import annotations

from dataclasses import dataclass

from memtree.memories.memory import Memory

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

"""Retrieval: rank the passages of a history for a query, and unfold the tree by the ranking.

Ranking takes milliseconds to tenths of a second, so it runs in a thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memtree.budget.packing import Packed, work_tokens
from memtree.context.index_lookup import IndexState
from memtree.context.indexing import Indexing
from memtree.errors import EmbedderUnavailable
from memtree.history.chat_history import History
from memtree.history.message import MESSAGE_OVERHEAD
from memtree.ports.models import Embedder
from memtree.process import tracing
from memtree.process.threads import in_thread
from memtree.ranking.corpus import Corpus
from memtree.ranking.ranked_history import RankedHistory, heard, nameless, ranking
from memtree.ranking.ranking_query import Query, query_of
from memtree.text import terms
from memtree.unfolding import explain
from memtree.unfolding.excerpt_choice import ONE_SHOT, BudgetSplit
from memtree.unfolding.memory_plan import FoldWindow, SummaryTree
from memtree.unfolding.unfold import Unfolding, unfold

log = logging.getLogger("memtree")

BRIEF_BELOW = 4_000  # tokens of the target: below it, summaries above excerpts are a few words

Result = TypeVar("Result")
Vectors = Sequence[NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class RetrievedContext:
    """A tree unfolded for a query, the scores by row of the corpus, and True if the embedder
    failed, so that passages were ranked without vectors."""

    unfolding: Unfolding
    passages: Mapping[int, explain.ScoredPassage] = field(default_factory=dict)
    by_words: bool = False


@dataclass(frozen=True, slots=True)
class EarlyVectors:
    """The vectors of a query, started before they are needed."""

    query: Query
    vectors: asyncio.Task[tuple[Vectors, bool]]


class Retriever:
    """Ranks the passages of a history. Without an embedder, or if it fails, by BM25 alone."""

    def __init__(self, indexing: Indexing, embedder: Embedder | None) -> None:
        self._indexing, self._embedder = indexing, embedder

    @property
    def recipe(self) -> str:
        """Embedder name for the epoch key; stable before the first call, so that a late connection
        does not end epochs."""
        return self._embedder.name if self._embedder else "words"

    @property
    def relevant(self) -> float:
        """Return the cosine from which a passage counts as relevant."""
        return self._embedder.relevant if self._embedder else 1.0

    @asynccontextmanager
    async def ahead(self, query: Query | None) -> AsyncIterator[EarlyVectors | None]:
        """Start computing the vectors of a query that will be needed inside the block (None: none
        will); the work ends with the block."""
        if query is None or self._embedder is None:
            yield None
            return
        task = asyncio.create_task(self._vectors(query.meanings))
        try:
            yield EarlyVectors(query, task)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def rank(
        self,
        posted: History,
        index: IndexState,
        query: Query,
        work: Callable[[RankedHistory], Result],
        early: EarlyVectors | None = None,
    ) -> tuple[Result, bool]:
        """Return the result of `work` on the ranked passages, and True if they were ranked without
        vectors because the embedder failed. `work` runs in a thread. `early`: vectors of this very
        query."""
        vectors, by_words = await (early.vectors if early else self._vectors(query.meanings))
        with tracing.step("rank"):
            corpus = await self._indexing.corpus(index)
            if vectors:  # none if the embedder failed
                corpus, vectors = await self._less_named(posted, corpus, query.meanings, vectors)

            def ranked() -> tuple[Corpus, Result]:
                known = heard(posted, corpus)
                whole = known.with_open(index.open, index.open_place)
                scores = ranking(whole, query.words, vectors)
                sought = terms.terms(query.words).keys()
                return known, work(RankedHistory(posted, whole, scores, sought))

            known, result = await in_thread(ranked)
            self._indexing.conversations.keep_speakers(index.tree, known)
            return result, by_words

    async def _less_named(
        self, posted: History, corpus: Corpus, texts: Sequence[str], vectors: Vectors
    ) -> tuple[Corpus, Vectors]:
        """Return the corpus with its speakers, and the mean of each query's vector and of the same
        without the speakers that it names (docs/decisions/archive.md#0083)."""
        corpus = heard(posted, corpus)
        bare = {text: nameless(corpus, text) for text in texts}
        bare = {text: less for text, less in bare.items() if less not in ("", text)}
        known = await self._vectors(list(bare.values())) if bare else ((), False)
        others = dict(zip(bare, known[0], strict=False))  # none if the embedder failed
        return corpus, [
            np.asarray((vector + others[text]) / 2, np.float32) if text in others else vector
            for text, vector in zip(texts, vectors, strict=True)
        ]

    async def unfolded(
        self,
        posted: History,
        index: IndexState,
        packed: Packed,
        query: str | None,
        target: int,
        split: BudgetSplit = ONE_SHOT,
        early: EarlyVectors | None = None,
    ) -> RetrievedContext:
        """Unfold the tree for the query; without one, for the newest words. `target`: tokens of the
        whole answer."""
        tree = SummaryTree(index.roots, index.all_nodes, index.newer, index.tree.leaf_count)
        window = FoldWindow(
            packed.cut,
            packed.memory - MESSAGE_OVERHEAD,
            packed.head,
            packed.ask,
            target < BRIEF_BELOW,
            packed.pinned,
            work_tokens(target),
            packed.kept,
            packed.tail,
        )

        def work(
            ranked: RankedHistory,
        ) -> tuple[Unfolding, Mapping[int, explain.ScoredPassage]]:
            unfolding = unfold(ranked, tree, window, split)
            return unfolding, explain.scored_by(unfolding, ranked)

        search_query = early.query if early else query_of(posted, query)
        made, by_words = await self.rank(posted, index, search_query, work, early)
        if signs := made[0].cut_lines:
            log.info("quotes.cut characters=%d", signs)
        return RetrievedContext(*made, by_words)

    async def _vectors(self, texts: Sequence[str]) -> tuple[Vectors, bool]:
        """Return the vectors of the texts, none if there are none; and True if the embedder
        failed."""
        if self._embedder is None or not texts or not all(map(str.strip, texts)):
            return (), False
        try:
            with tracing.step("embed"):
                if len(texts) == 1:
                    return [await self._embedder.embed_query(texts[0])], False
                return list(await self._embedder.embed_queries(texts)), False
        except EmbedderUnavailable as error:
            log.warning("embedder.failed code=%s", error.code)
            return (), True

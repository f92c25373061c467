"""Ranking the passages of a history for a text, and unfolding by it, off the event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from memtree import tracing
from memtree.budget.packing import Packed
from memtree.context.index_state import IndexState
from memtree.context.indexing import Indexing
from memtree.conversation.history import History
from memtree.conversation.message import MESSAGE_OVERHEAD
from memtree.errors import EmbedderUnavailable
from memtree.ports.models import Embedder
from memtree.ranking.corpus import Corpus
from memtree.ranking.fusion import Ranking, rank
from memtree.ranking.query_text import query_text
from memtree.text import terms, tokens
from memtree.unfolding import explain
from memtree.unfolding.unfold import ONE_SHOT, BudgetSplit, Unfolding, unfold

log = logging.getLogger("memtree")

SHORT_MESSAGE = 100  # tokens: at 60 LoCoMo recall at 4k is 90.4, at 100 92.3, at 250 91.7

Found = TypeVar("Found")


class Retriever:
    """Without an embedder, or where it fails, BM25 ranks alone."""

    def __init__(self, indexing: Indexing, embedder: Embedder | None) -> None:
        self._indexing, self._embedder = indexing, embedder

    @property
    def recipe(self) -> str:
        """Names what ranks; the same before and after a model is met, so that no epoch ends."""
        return self._embedder.name if self._embedder else "words"

    @property
    def relevant(self) -> float:
        """The cosine from which on a passage may matter."""
        return self._embedder.relevant if self._embedder else 1.0

    async def seek(
        self,
        posted: History,
        known: IndexState,
        text: str,
        work: Callable[[Corpus, Ranking], Found],
    ) -> Found:
        """What `work` makes of the ranked passages; it runs in a thread and holds the corpus.
        `known.by_words` is set where the embedder failed."""
        vector = await self._vector(known, text)

        with tracing.step("rank"):
            return await self._beside_corpus(posted, known, text, vector, work)

    async def _beside_corpus(
        self,
        posted: History,
        known: IndexState,
        text: str,
        vector: Any,
        work: Callable[[Corpus, Ranking], Found],
    ) -> Found:
        async with self._indexing.corpus(posted, known) as corpus:

            def ranked() -> Found:
                with corpus.with_open(known.open, known.open_place):
                    return work(corpus, _ranked(corpus, text, vector))

            return await asyncio.to_thread(ranked)

    async def unfolded(
        self,
        posted: History,
        known: IndexState,
        decision: Packed,
        query: str | None,
        split: BudgetSplit = ONE_SHOT,
    ) -> tuple[Unfolding, Mapping[int, explain.ScoredPassage]]:
        """The tree unfolded for the query, or the newest words; and the scores behind it."""
        nodes, roots = known.all_nodes, known.roots
        budget = decision.memory - MESSAGE_OVERHEAD

        def work(
            corpus: Corpus, ranking: Ranking
        ) -> tuple[Unfolding, Mapping[int, explain.ScoredPassage]]:
            found = unfold(
                posted,
                roots,
                nodes,
                corpus,
                ranking,
                decision.cut,
                budget,
                tokens.count,
                split,
                decision.head,
            )
            return found, explain.rows_of(found, corpus, ranking)

        return await self.seek(posted, known, query_text(posted, query), work)

    async def _vector(self, known: IndexState, text: str) -> Any:
        if self._embedder is None or not text.strip():
            return None
        try:
            with tracing.step("embed"):
                return await self._embedder.embed_query(text)
        except EmbedderUnavailable as error:
            log.warning("embedder.failed code=%s", error.code)
            known.by_words = True
            return None


def _ranked(corpus: Corpus, text: str, vector: Any) -> Ranking:
    lexical = corpus.lexicon.scores(terms.terms(text))
    cosine = None
    if vector is not None:
        cosine, known = corpus.cosines(vector)
        if not known.any():
            cosine = None
    return rank(lexical, cosine, corpus.short(SHORT_MESSAGE))

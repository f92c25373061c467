"""Answer questions about an answer after it was made: why these passages were shown, and what was
folded.

An `Answer` is a small value. Details keep the history and its tree in memory, so callers that do
not need them should drop them.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from memtree.context.index_lookup import IndexState
from memtree.context.indexing import Indexing
from memtree.context.retrieval import Retriever
from memtree.ranking.ranked_history import RankedHistory
from memtree.ranking.ranking_query import Query
from memtree.tree.btree import walk
from memtree.unfolding.explain import Evidence, Explanation, explanation
from memtree.unfolding.folded_history import (
    EXCERPTS,
    LEAST,
    NO_ROOM,
    QUERY,
    READ_TOKENS,
    SEARCH_TOKENS,
    FoldedHistory,
)
from memtree.unfolding.pins import ledger


class FoldedReader:
    """Searches and reads a history of which a part was `folded`; returns texts for a model."""

    def __init__(
        self,
        folded: FoldedHistory,
        index: IndexState,
        indexing: Indexing,
        retriever: Retriever,
        generation: int,
    ) -> None:
        """`generation`: the tenant's deletion count when the request began."""
        self.folded, self._index, self._generation = folded, index, generation
        self._indexing, self._retriever = indexing, retriever

    async def search(self, query: str, most: int = EXCERPTS, room: int = SEARCH_TOKENS) -> str:
        """Return the best passages before the cut, at most `most` of them and `room` tokens in all;
        those that the model does not see come first."""
        if room < LEAST:
            return NO_ROOM
        posted = self.folded.posted
        # Once for all searches, and in a thread, since the open leaf may be part of a long message.
        self._index = await asyncio.to_thread(self._index.with_open_extracted, posted)

        def work(ranked: RankedHistory) -> str:
            return self.folded.excerpts(ranked, most, room)

        try:
            wanted = Query.of(query[:QUERY])
            text, _ = await self._retriever.rank(posted, self._index, wanted, work)
            return text
        finally:
            self._indexing.drop_forgotten(posted.tenant, self._generation)

    def read(
        self, first: int, last: int | None = None, start: int = 0, room: int = READ_TOKENS
    ) -> str:
        """Read a range of messages as `FoldedHistory.read` does; may take a while for a message of
        megabytes."""
        return self.folded.read(first, last, start, room)


class AnswerDetails:
    """Details of an answer, computed on demand. `folded`: access to the folded part; None if
    nothing was folded, or if some of it cannot be ranked."""

    def __init__(
        self,
        evidence: Evidence | None = None,
        folded: FoldedReader | None = None,
        index: IndexState | None = None,
    ) -> None:
        """`index`: of the history; the standing rules are read from it."""
        self._evidence, self.folded, self._index = evidence, folded, index

    def explain(self) -> Explanation:
        """Explain why the answer shows these passages; empty if it has no memory message. Takes
        some milliseconds."""
        evidence, index = self._evidence, self._index
        if evidence is None:
            return Explanation()
        if index is None:
            return explanation(evidence)
        history = evidence.history
        index = index.with_open_extracted(history)
        placed = walk(index.roots, {**index.all_nodes, **evidence.nodes})
        rules = ledger(history, placed, 0, len(history))
        return explanation(replace(evidence, rules=rules))

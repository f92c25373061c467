"""A history with the ranking of its passages for a query."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from memtree.history.chat_history import History
from memtree.ranking.corpus import Corpus
from memtree.ranking.fusion import Ranking


@dataclass(frozen=True, slots=True)
class RankedHistory:
    """History with its passages ranked for a query. Valid only while the corpus is locked, so copy
    what must outlive the lock. `query`: the terms of the question."""

    history: History
    corpus: Corpus
    ranking: Ranking
    query: Collection[int] = ()

"""A history and its passages as they rank for one query."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from memtree.conversation.history import History
from memtree.ranking.corpus import Corpus
from memtree.ranking.fusion import Ranking


@dataclass(frozen=True, slots=True)
class RankedHistory:
    """History with its passages ranked for a query. Valid while the corpus is locked, so copy what
    is kept longer. `query`: the terms of the question."""

    history: History
    corpus: Corpus
    ranking: Ranking
    query: Collection[int] = ()

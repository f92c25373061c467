"""A history and its passages as they rank for one query."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from memtree.conversation.history import History
from memtree.ranking.corpus import Corpus
from memtree.ranking.fusion import Ranking


@dataclass(frozen=True, slots=True)
class RankedHistory:
    """Holds as long as the corpus is locked: what is kept longer is copied out of it. `query`: the
    terms of what was asked."""

    history: History
    corpus: Corpus
    ranking: Ranking
    query: Collection[int] = ()

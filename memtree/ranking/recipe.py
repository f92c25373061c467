"""How the passages of a history are ranked for a query: the one place where it is put together.

Words (BM25) and meaning (the nearest segment's cosine without what the whole history shares, less
what so many segments reach by chance), both smoothed over neighbours and fused by rank.
docs/decisions/0049 and 0060 hold what else was tried.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from memtree.conversation.history import History
from memtree.ranking.chance import expected_maxima
from memtree.ranking.corpus import Corpus
from memtree.ranking.fusion import Ranking, rank
from memtree.text import terms

LONG = 3  # segments of a long message
SPEAKER = 1.5  # times the score, for passages of the one speaker that a question names; at 2 fewer
# questions that name the wrong one find their evidence (LoCoMo adversarial at 4k 98.7, then 97.5)


def ranking(
    history: History, corpus: Corpus, query: str, vector: NDArray[np.float32] | None
) -> Ranking:
    """Every passage of the corpus for a query; `vector`: the query's, None without an embedder.
    `lexical` and `cosine` are the plain scores."""
    corpus.speakers.extend(
        history.view(index).text for index in range(len(corpus.speakers), corpus.messages)
    )
    asked = terms.terms(query)
    named = corpus.speakers.named(asked)
    names = frozenset().union(*named.values())
    matter = {term: count for term, count in asked.items() if term not in names}
    lexical, whole = corpus.lexicon.matches(matter or asked)
    weights = None
    if len(named) == 1:
        says = corpus.speakers.says(next(iter(named)), corpus.message)
        weights = np.where(says, np.float32(SPEAKER), np.float32(1))
    if vector is None:
        return rank(lexical, None, weights, whole=whole)
    near = corpus.cosines(vector)
    if not near.embedded.any():
        return rank(lexical, None, weights, whole=whole)
    meaning = near.meaning - near.deviation * expected_maxima(near.segments)
    ranked = rank(lexical, meaning, weights, (near.nearest, near.segments >= LONG), whole)
    return replace(ranked, cosine=near.nearest, segments=near.of_passage)

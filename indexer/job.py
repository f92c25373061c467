"""What stage 2 reads of a job: the texts of the passages of its leaves."""

from __future__ import annotations

from collections.abc import Sequence

from memtree.conversation.history import History
from memtree.ports.store import LeafWork

MIN_TOKENS = 2  # a passage of one token says nothing; it gets a zero vector


def passage_texts(history: History, work: Sequence[LeafWork]) -> list[str]:
    """The text of every passage of these leaves, in order; empty where it is not worth a vector."""
    texts = []
    for one in work:
        for passage in one.leaf.passages:
            view = history.view(one.first + passage.message).text
            worth = passage.tokens >= MIN_TOKENS
            texts.append(view[passage.start : passage.end] if worth else "")
    return texts

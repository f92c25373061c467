"""Show of a conversation what plain ways show, without any tree: the newest turns, or those that
BM25 finds, as many as the target holds. A memory has to beat them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from memtree.history.message import Message
from memtree.ranking.bm25 import Lexicon
from memtree.text import terms, tokens

LABEL = 6  # tokens of a turn's number and role


class Turns:
    """The turns of one conversation, counted and indexed once."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.texts = [message.text for message in messages]
        self._sizes = tokens.count_many(self.texts)
        packed = terms.pack(terms.terms(text) for text in self.texts)
        self._lexicon = Lexicon().extended([packed])

    def newest(self, question: str, target: int) -> str:
        room = target - tokens.count(question)
        shown = []
        for turn in reversed(range(len(self.texts))):
            room -= self._sizes[turn] + LABEL
            if room < 0:
                break
            shown.append(self.texts[turn])
        return "\n".join(shown)

    def by_words(self, question: str, target: int) -> str:
        turns = self.filled(self.order_by_words(question), question, target, LABEL)
        return "\n".join(self.texts[turn] for turn in turns)

    def order_by_words(self, question: str) -> list[int]:
        """Numbers of all turns, the best by BM25 first."""
        order: list[int] = np.argsort(-self.word_scores(question), kind="stable").tolist()
        return order

    def word_scores(self, question: str) -> NDArray[np.float32]:
        """BM25 of each turn."""
        return self._lexicon.scores(terms.terms(question))

    def filled(self, order: Iterable[int], question: str, target: int, overhead: int) -> list[int]:
        """Turns in this order, as many as fit into the target; one that does not fit is skipped."""
        room = target - tokens.count(question)
        chosen = []
        for turn in order:
            cost = self._sizes[turn] + overhead
            if cost <= room:
                room -= cost
                chosen.append(turn)
        return chosen

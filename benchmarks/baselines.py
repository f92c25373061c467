"""What plain ways show of a conversation, without any tree: the newest turns, or those that BM25
finds, as many as the target holds. They are what a memory has to beat."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from memtree.conversation.message import Message
from memtree.ranking.bm25 import Lexicon
from memtree.text import terms, tokens

LABEL = 6  # tokens of a turn's number and role


class Turns:
    """The turns of one conversation, counted and indexed once."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._texts = [message.text for message in messages]
        self._sizes = tokens.count_many(self._texts)
        self._lexicon = Lexicon()
        self._lexicon.extend([terms.pack(terms.terms(text) for text in self._texts)])

    def newest(self, question: str, target: int) -> str:
        return self._first(reversed(range(len(self._texts))), question, target)

    def by_words(self, question: str, target: int) -> str:
        scores = self._lexicon.scores(terms.terms(question))
        return self._first(map(int, np.argsort(-scores, kind="stable")), question, target)

    def _first(self, order: Iterable[int], question: str, target: int) -> str:
        room = target - tokens.count(question)
        shown = []
        for turn in order:
            room -= self._sizes[turn] + LABEL
            if room < 0:
                break
            shown.append(self._texts[turn])
        return "\n".join(shown)

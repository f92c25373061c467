"""Cache what was found in the lines of one history, for lines that occur again.

A coding session shows files and outputs again and again: in a million tokens, four lines in five
have occurred before. The cache lives only while one history is read, since it holds that history's
words. This file does not judge lines itself (`clauses.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from memtree.text import request_words
from memtree.text.standing_rules import ReadSentence, read_sentence

LONGEST = 1_000  # characters of a cached line: longer lines rarely occur again
MOST = 4_000_000  # characters in all


class Judgement(NamedTuple):
    """Judgement of a sentence by itself, whoever the speaker.

    `merit`: how informative its words are; `boilerplate`: it recurs in every session; `source`: it
    is a line of source or numbered output (not tested for boilerplate that is excluded anyway);
    `ends`: it may say how something ended; `orders`: it orders something permanently.
    """

    merit: float
    boilerplate: bool
    source: bool
    ends: bool
    orders: bool


class ReadLines:
    """Cache of the sentences of each line and, for each sentence, its judgement, its reading as a
    standing rule, and whether it is a request. It is emptied when it grows too large."""

    def __init__(
        self,
        split: Callable[[str], tuple[str, ...]],
        judge: Callable[[str], Judgement],
        most: int = MOST,
    ) -> None:
        """Create an empty cache. `split`, `judge`: pure functions. `most`: cached characters in
        all."""
        self._split, self._judge, self._most = split, judge, most
        self._sentences: dict[str, tuple[str, ...]] = {}
        self._judgements: dict[str, Judgement] = {}
        self._rules: dict[str, ReadSentence] = {}
        self._asks: dict[str, bool] = {}
        self.size = 0

    def sentences(self, line: str) -> tuple[str, ...]:
        pieces = self._sentences.get(line)
        if pieces is None:
            pieces = self._split(line)
            if self._has_room(line):
                self._sentences[line] = pieces
        return pieces

    def judgement(self, sentence: str) -> Judgement:
        verdict = self._judgements.get(sentence)
        if verdict is None:
            verdict = self._judge(sentence)
            if self._has_room(sentence):
                self._judgements[sentence] = verdict
        return verdict

    def rule(self, sentence: str) -> ReadSentence:
        """Return `read_sentence` from the cache. The user's sentences are read in the message, in
        the passage, and in the summaries of each level."""
        reading = self._rules.get(sentence)
        if reading is None:
            reading = read_sentence(sentence)
            if self._has_room(sentence):
                self._rules[sentence] = reading
        return reading

    def asks(self, sentence: str) -> bool:
        """Return `requests.asks` from the cache. Used for texts of others: mails and files come
        again many times."""
        asking = self._asks.get(sentence)
        if asking is None:
            asking = request_words.asks(sentence)
            if self._has_room(sentence):
                self._asks[sentence] = asking
        return asking

    def _has_room(self, text: str) -> bool:
        if len(text) > LONGEST:
            return False
        self.size += len(text)
        if self.size > self._most:
            self._sentences.clear()
            self._judgements.clear()
            self._rules.clear()
            self._asks.clear()
            self.size = len(text)
        return True

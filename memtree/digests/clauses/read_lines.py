"""Remember what was found in the lines of one history, for the next time that one of them is met.

A coding session shows files and outputs again and again: of a million tokens four lines in five
were there before. Kept while one history is read and not longer, since these are its words.
What this file does not do: read them (`clauses.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from memtree.text import requests
from memtree.text.instructions.standing_rules import ReadSentence, read_sentence

LONGEST = 1_000  # characters of a line that is kept: a longer one is hardly met again
MOST = 4_000_000  # characters in all


class Judgement(NamedTuple):
    """Judgement of a sentence by itself, whoever says it.

    `merit`: how telling its words are; `boilerplate`: it recurs in every session; `source`: it is
    a line of source or of numbered output (not told of boilerplate that counts as such in any
    case); `ends`: it may say how something ended.
    """

    merit: float
    boilerplate: bool
    source: bool
    ends: bool


class ReadLines:
    """Caches what was read of lines and sentences: the sentences of a line, and of each sentence
    its judgement, whether it is a standing rule, and whether it asks for something. The cache is
    emptied when it grows too large."""

    def __init__(
        self,
        split: Callable[[str], tuple[str, ...]],
        judge: Callable[[str], Judgement],
        most: int = MOST,
    ) -> None:
        """`split` and `judge` are pure. `most`: characters of lines and sentences in all."""
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
        """`read_sentence`: of the user, who is read by the message, by the passage, and in the
        summaries of each level."""
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
            asking = requests.asks(sentence)
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

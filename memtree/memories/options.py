"""How the memories of one scope are chosen for a message, and how they read.

Decide which of the memories that a search found may stand beside a message, unasked.

In a language that the embedder knows well, relevance tells: 0.5 and more, a little more where there
are more memories to be near by chance, less where there are few, or where the two share a word that
says something (`telling_words.py`). In another language strangers are as near as what is meant, so
that the word decides; and a message that asks about the world (`language_rules.py`) is near to
anything. docs/decisions/0094 has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from memtree.memories import rendering
from memtree.memories.memory import Memory
from memtree.memories.notes import Wish
from memtree.memories.user_memories import SCORE_THRESHOLD
from memtree.ranking.relevance_scale import CHANCE, HALF, STRONG
from memtree.text.memory_lines import MOST

# Relevance of a hit that shares a telling word with the message, where the embedder knows the
# language well, and elsewhere.
SHARING, SHARING_ABROAD = 0.33, 0.1
# Outside English, where the embedder knows the language: with 0.5 twice as many messages that
# concern no memory get one, for one right memory of forty more.
ALONE_ABROAD = 0.55
ALONE_GENERAL = 0.8  # of a question about the world: photosynthesis is near to who takes photos
GROWTH = 0.15  # more for each tenfold scope, less for a smaller one
USUAL, FEWEST = 50, 10  # memories of a scope that asks for no more and no less; where less ends
LEAST = 0.05  # what a search for injection is asked for: a word of a long message covers no more
NEW = 3  # hits of one message that may be shown
# Of the best hit's score that another one needs to stand beside it; where words alone rank.
BESIDE, BESIDE_BY_WORDS = 0.8, 0.7


class Message(NamedTuple):
    """Message as the rule sees it, which says how near a memory has to be. `memories`: how many
    the scope has. `known`: the embedder knows its language well. `by_words`: no vector says how
    near a memory is. `general`: it asks about the world. `english`: it is, or in no language."""

    memories: int
    known: bool = True
    by_words: bool = False
    general: bool = False
    english: bool = True

    def admits(self, relevance: float, *, shares_word: bool) -> bool:
        """Return True if a memory may stand beside it. `shares_word`: a telling word of both."""
        if self.by_words:
            return shares_word
        if shares_word:
            return relevance >= (SHARING if self.known else SHARING_ABROAD)
        plain = HALF if self.english else ALONE_ABROAD
        alone = ALONE_GENERAL if self.general else plain if self.known else CHANCE
        larger = math.log10(max(self.memories, FEWEST) / USUAL)
        return relevance >= min(STRONG, alone + GROWTH * larger)


@dataclass(frozen=True, slots=True)
class InjectionOptions:
    """`most`: lines at a time. `threshold`: the relevance that a hit needs; None: what
    `Message.admits` says. `new`: most hits of one message; None: as many as lines. `near`: without
    a threshold, only hits near to the best. `category`: only memories of it. `line`: a memory as
    one line, empty where it cannot be shown. `wish`: what the message asks of the memory itself; a
    note of it is the last line."""

    most: int = MOST
    threshold: float | None = None
    category: str | None = None
    line: Callable[[Memory], str] = rendering.line
    new: int | None = None
    near: bool = True
    wish: Wish | None = None

    @property
    def least(self) -> float:
        """The relevance below which a hit is of no use."""
        return LEAST if self.threshold is None else self.threshold

    def fits(self, relevance: float, message: Message, *, shares_word: bool) -> bool:
        """Return True if a hit may stand beside a message. `shares_word`: a telling word of
        both."""
        if self.threshold is not None:
            return relevance >= self.threshold
        return message.admits(relevance, shares_word=shares_word)

    def admits(self, memory: Memory) -> bool:
        """Return True if the memory may be shown at all."""
        return self.category is None or memory.category == self.category


CHAT_OPTIONS = InjectionOptions(new=NEW)


def threshold_of(setting: float) -> float | None:
    """Return the threshold that a setting means: the default leaves it to the rule, which knows
    more than a cosine."""
    return None if setting == SCORE_THRESHOLD else setting

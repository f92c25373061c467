"""How the memories of one scope are chosen for a message, and how they read.

Decide which of the memories that a search found may stand beside a message, unasked.

The cosine alone cannot tell: "my dog barks at night" is no nearer to "Otto is a beagle" than to a
stranger's memory, and in a large scope some stranger is near to anything. A shared word that says
something can (`telling_words.py`): few strangers have one. So a hit with such a word needs hardly
any relevance; one without needs more, and more yet where there are more memories to be near by
chance, or where the message asks about the world (`language_rules.py`). docs/decisions/0057 has
the curves, by language, 0076 those of questions about the world.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from memtree.memories.injection import rendering
from memtree.memories.injection.notes import Wish
from memtree.memories.memory import Memory
from memtree.memories.user_memories import SCORE_THRESHOLD
from memtree.text.memory_lines import MOST

SHARING = 0.06  # relevance of a hit that shares a telling word with the message
ALONE, GROWTH = 0.5, 0.08  # relevance of one that does not; more for each tenfold scope
ALONE_GENERAL = 0.75  # of a question about the world: photosynthesis is near to who takes photos
FEW = 100  # memories of a scope that needs no more than this
LEAST = 0.03  # what a search for injection is asked for: a word of a long message covers no more


def injectable(
    relevance: float, *, shares_word: bool, memories: int, general: bool = False
) -> bool:
    """`memories`: how many the scope has. `general`: the message asks about the world."""
    if shares_word:
        return relevance >= SHARING
    alone = ALONE_GENERAL if general else ALONE
    return relevance >= alone + GROWTH * math.log10(max(memories, FEW) / FEW)


@dataclass(frozen=True, slots=True)
class InjectionOptions:
    """`most`: lines at a time. `threshold`: the relevance that a hit needs; None: what
    `injectable` says. `category`: only memories of it. `line`: a memory as one line, empty
    where it cannot be shown. `wish`: what the message asks of the memory itself; a note of it is
    the last line."""

    most: int = MOST
    threshold: float | None = None
    category: str | None = None
    line: Callable[[Memory], str] = rendering.line
    wish: Wish | None = None

    @property
    def least(self) -> float:
        """The relevance below which a hit is of no use."""
        return LEAST if self.threshold is None else self.threshold

    def fits(
        self,
        relevance: float,
        shares_word: bool,
        memories: int,
        *,
        by_words: bool = False,
        general: bool = False,
    ) -> bool:
        """Return True if a hit may stand beside a message. `shares_word`: a telling word of both.
        `memories`: how many the scope has. `by_words`: its relevance is that of words alone.
        `general`: the message asks about the world."""
        if self.threshold is not None:
            return relevance >= self.threshold
        if by_words:
            return shares_word
        return injectable(relevance, shares_word=shares_word, memories=memories, general=general)

    def admits(self, memory: Memory) -> bool:
        """Return True if the memory may be shown at all."""
        return self.category is None or memory.category == self.category


CHAT_OPTIONS = InjectionOptions()


def threshold_of(setting: float) -> float | None:
    """Return the threshold that a setting means: the default leaves it to the rule, which knows
    more than a cosine."""
    return None if setting == SCORE_THRESHOLD else setting

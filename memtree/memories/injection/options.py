"""How the memories of one scope are chosen for a message, and how they read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memtree.memories.injection import injectable, rendering
from memtree.memories.memory import Memory
from memtree.memories.users.user_memories import SCORE_THRESHOLD
from memtree.text.memory_lines import MOST


@dataclass(frozen=True, slots=True)
class InjectionOptions:
    """`most`: lines at a time. `threshold`: the relevance that a hit needs; None: what
    `rules.injectable` says. `category`: only memories of it. `line`: a memory as one line, empty
    where it cannot be shown."""

    most: int = MOST
    threshold: float | None = None
    category: str | None = None
    line: Callable[[Memory], str] = rendering.line

    @property
    def least(self) -> float:
        """The relevance below which a hit is of no use."""
        return injectable.LEAST if self.threshold is None else self.threshold

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
        return injectable.injectable(
            relevance, shares_word=shares_word, memories=memories, general=general
        )

    def admits(self, memory: Memory) -> bool:
        """Return True if the memory may be shown at all."""
        return self.category is None or memory.category == self.category


CHAT_OPTIONS = InjectionOptions()


def threshold_of(setting: float) -> float | None:
    """Return the threshold that a setting means: the default leaves it to the rule, which knows
    more than a cosine."""
    return None if setting == SCORE_THRESHOLD else setting

"""Which of the memories that a search found may stand beside a message, unasked.

The cosine alone cannot tell: "my dog barks at night" is no nearer to "Otto is a beagle" than to a
stranger's memory, and in a large scope some stranger is near to anything. A shared word that says
something can: few strangers have one. So a hit with such a word needs less relevance; one without
needs more, and more yet where there are more memories to be near by chance.

With MiniLM and relevance 0.5 alone, of 100 messages that concern one of 1,000 memories 83 get it
among five, and of 40 written later 27; with this rule 88 and 32 (`benchmarks/noise.py`).
"""

from __future__ import annotations

import math

from memtree.memories.rules.wording import foreign
from memtree.text.terms import terms

SHARING = 0.36  # relevance of a hit that shares a word with the message
ALONE, GROWTH = 0.54, 0.01  # relevance of one that does not; more for each tenfold scope
FEW = 100  # memories of a scope that needs no more than this
LEAST = SHARING  # what a search for injection is asked for
REACH = 2_000  # characters that are looked at
# Words of requests and of any memory; what is about nothing in particular.
_GENERAL = frozenset(
    terms(
        """
        user users assistant work works like likes want wants use uses go goes keep keeps get make
        know think need explain help give tell best good better time day week month year today
        one two three first second last new old thing way long people write show please find look
        come take try ask lot name please thanks really much many more most other same again
        """
        + " ".join(sorted(foreign.FUNCTION | foreign.USER | foreign.NEGATIONS))
    )
)


def shares_word(message: str, memory: str) -> bool:
    """Whether the two have a word in common that says what they are about.

    >>> shares_word("My dog barks at night.", "User's dog Otto is a beagle.")
    True
    >>> shares_word("What does the user like best?", "The user likes tea.")
    False
    """
    ours, theirs = terms(message[:REACH]), terms(memory[:REACH])
    return any(term in theirs and term not in _GENERAL for term in ours)


def injectable(relevance: float, *, shares_word: bool, memories: int) -> bool:
    """`memories`: how many the scope has."""
    if shares_word:
        return relevance >= SHARING
    return relevance >= ALONE + GROWTH * math.log10(max(memories, FEW) / FEW)

"""Decide which of the memories that a search found may stand beside a message, unasked.

The cosine alone cannot tell: "my dog barks at night" is no nearer to "Otto is a beagle" than to a
stranger's memory, and in a large scope some stranger is near to anything. A shared word that says
something can (`telling_words.py`): few strangers have one. So a hit with such a word needs hardly
any relevance; one without needs more, and more yet where there are more memories to be near by
chance, or where the message asks about the world (`general_questions.py`). docs/decisions/0057 has
the curves, by language, 0076 those of questions about the world.
"""

from __future__ import annotations

import math

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

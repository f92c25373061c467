"""What a memory is about, told from its text: a preference, an instruction or a fact.

>>> [category_of(text) for text in ("Always answer in French.", "User likes tea.", "It rains.")]
['instruction', 'preference', 'fact']
"""

from __future__ import annotations

import re

from memtree.text.standing_rules import standing_rules

_READ = 600  # characters; what a memory is shows early
_PREFERENCE = re.compile(r"\b(?:prefer\w*|likes?|loves?|enjoys?|favou?rite|hates?|dislikes?)\b")


def category_of(text: str) -> str:
    """`preference`, `fact` or `instruction`."""
    head = text[:_READ]
    if standing_rules(head):
        return "instruction"
    return "preference" if _PREFERENCE.search(head.lower()) else "fact"

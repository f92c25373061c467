"""Tell from its text what a memory is about: a preference, an instruction or a fact.

An instruction says how to answer or to work: what `standing_rules` finds in a user's message, and
the same told of the user ("User wants short answers"). A preference says what the user likes; what
somebody else likes is a fact.

    >>> [category_of(text) for text in ("Always answer in French.", "User likes tea.", "It rains.")]
    ['instruction', 'preference', 'fact']
"""

from __future__ import annotations

from memtree.language.word_file import WordFile
from memtree.text.rule_score import grouped
from memtree.text.standing_rules import standing_rules

_DATA = WordFile("all", "memory_categories")

_READ = 600  # characters; what a memory is shows early
_INSTRUCTION = _DATA.pattern("instruction", shaped=grouped)
_PREFERENCE = _DATA.pattern("preference", shaped=grouped)


def category_of(text: str) -> str:
    """`preference`, `fact` or `instruction`."""
    head = text[:_READ]
    lower = " ".join(head.lower().replace("’", "'").split())
    if _INSTRUCTION.search(lower):
        return "instruction"
    if _PREFERENCE.search(lower):
        return "preference"
    return "instruction" if standing_rules(head) else "fact"

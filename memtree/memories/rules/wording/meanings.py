"""The key of a word: its base form, or the word that stands for all that mean the same."""

from __future__ import annotations

from memtree.memories.rules.wording import lexicon, quantities
from memtree.memories.rules.wording.inflection import base_form


def key_of(lower: str) -> str:
    """The key of a word that is no value."""
    if lower in MEANT:
        return MEANT[lower]
    if not (lower.isascii() and lower.isalpha()):
        return quantities.version(lower) or lower
    base = base_form(lower)
    return MEANT.get(base, base)


def _synonyms() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lexicon.data_lines("synonyms"):
        first, *others = line.split()
        for word in (first, *others):
            found[word] = first
            found.setdefault(base_form(word), first)
    return found


MEANT = _synonyms()
LIGHT = frozenset(map(key_of, lexicon.LIGHT))

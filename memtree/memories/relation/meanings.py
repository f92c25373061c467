"""The key of a word: its base form, or the word that stands for all that mean the same."""

from __future__ import annotations

from functools import cache

from memtree.language.word_file import WordFile
from memtree.memories.relation import lexicon, quantities
from memtree.memories.relation.inflection import base_form


def key_of(lower: str) -> str:
    """The key of a word that is no value."""
    known = synonyms()
    if lower in known:
        return known[lower]
    if not (lower.isascii() and lower.isalpha()):
        return quantities.version(lower) or lower
    base = base_form(lower)
    return known.get(base, base)


@cache
def synonyms() -> dict[str, str]:
    """Return for each word of a line of synonyms the first of them."""
    firsts: dict[str, str] = {}
    for line in WordFile("en", "memory_synonyms").entries("synonyms"):
        first, *others = line.split()
        for word in (first, *others):
            firsts[word] = first
            firsts.setdefault(base_form(word), first)
    return firsts


@cache
def light() -> frozenset[str]:
    """Return the keys of words that may stand on one side alone without another meaning."""
    return frozenset(map(key_of, lexicon.LIGHT))

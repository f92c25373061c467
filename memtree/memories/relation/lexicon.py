"""Words of English that say nothing in a memory, those that are never to be overlooked, and the key
of each other word: its base form, or the word that stands for all that mean the same."""

from __future__ import annotations

from functools import cache

from memtree.language.word_file import WordFile, at_first_use
from memtree.memories.relation import quantities
from memtree.memories.relation.inflection import base_form

_DATA = WordFile("en", "memory_wording")


# Words that carry no fact: left out wherever they stand.
FUNCTION: frozenset[str]
PREPOSITIONS: frozenset[str]
COPULAS: frozenset[str]
ARTICLES = frozenset(("a", "an"))
# Pairs that say the same before one noun.
ALIKE_PREPOSITIONS: frozenset[frozenset[str]]
# Values: what differs in one of these says something else. Keys, each with its words.
VALUES: dict[str, str]
NEGATIONS: frozenset[str]
USER: frozenset[str]
AGENTS: dict[str, str]
EMPTY_VERBS = frozenset(("have", "use"))  # does not have a car: has no car
PER: frozenset[str]
# What may stand on both sides: pronouns for somebody that the other text names.
GHOSTS: dict[str, str]
CONTRACTIONS: dict[str, str]
ENDINGS: dict[str, str]
__getattr__ = at_first_use(
    globals(),
    {
        "FUNCTION": lambda: frozenset(_DATA.words("function")),
        "PREPOSITIONS": lambda: frozenset(_DATA.words("prepositions")),
        "ALIKE_PREPOSITIONS": lambda: frozenset(
            frozenset(pair.split()) for pair in _DATA.entries("alike_prepositions")
        ),
        "COPULAS": lambda: frozenset(_DATA.words("copulas")),
        "VALUES": lambda: dict(_DATA.by_word("values")),
        "NEGATIONS": lambda: frozenset(_DATA.words("negations")),
        "USER": lambda: frozenset(_DATA.words("user")),
        "AGENTS": lambda: dict(_DATA.table("agents")),
        "PER": lambda: frozenset(_DATA.words("per")),
        "GHOSTS": lambda: dict(_DATA.table("ghosts")),
        "CONTRACTIONS": lambda: dict(_DATA.table("contractions")),
        "ENDINGS": lambda: dict(_DATA.table("endings")),
    },
)


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
    return frozenset(map(key_of, _DATA.words("light")))

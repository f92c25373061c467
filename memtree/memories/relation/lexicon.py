"""List English words that say nothing in a memory or always count, and key the others.

The key of a word is its base form, or the word that stands for all that mean the same. The base
form joins the inflections of a word, and is narrower than the stem that searches use: a search may
confuse a plan with a plane; a rule that drops a memory may not.

    >>> [base_form(word) for word in ("plans", "planes", "hoping", "hopping", "studies", "visited")]
    ['plan', 'plane', 'hope', 'hop', 'study', 'visit']
"""

from __future__ import annotations

import re
from functools import cache

from memtree.language.word_file import WordFile, at_first_use
from memtree.memories.relation import quantities

_VOWELS = re.compile("[aeiouy]+")
_SHORT = re.compile("[^aeiou]*[aeiou][^aeiouwxy]")  # one vowel, one consonant: hop, lik, us
_SIBILANT = ("sses", "shes", "ches", "xes", "zes")
_SOFT = ("rg", "nc", "rs", "lv", "rv", "dg", "ns", "rc", "th")  # charg-ing is of charge
_IE = frozenset(
    "movies cookies calories selfies zombies hoodies brownies rookies pies ties lies".split()
)
_KEPT = frozenset("news always gas lens series species chaos".split())
_DERIVED = ("ion", "ment", "ness")


def base_form(word: str) -> str:
    """Return the base form of a lower-case ASCII word."""
    if word in _KEPT:
        return word
    if word in _IE:
        word = word.removesuffix("s")
    elif len(word) > 4 and word.endswith(("ies", "ied")):
        word = word[:-3] + "y"
    elif word.endswith(_SIBILANT):
        word = word[:-2]
    elif len(word) > 3 and word[-1] == "s" and word[-2] not in "suia'":
        word = word[:-1]
    else:
        for ending in ("ing", "ed"):
            rest = word[: -len(ending)]
            if word.endswith(ending) and len(rest) >= 2 and _VOWELS.search(rest):
                word = _verb(rest)
                break
    for ending in _DERIVED:
        if word.endswith(ending) and len(word) - len(ending) >= 5:
            word = word[: -len(ending)]
            break
    if word[-1:] == "e" and len(_VOWELS.findall(word[:-1])) > 1:
        word = word[:-1]
    return word


def _verb(rest: str) -> str:
    """Return the verb before -ing or -ed."""
    if len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsz":
        return rest[:-1]
    if _SHORT.fullmatch(rest) or (rest.endswith(_SOFT) and len(_VOWELS.findall(rest)) == 1):
        return rest + "e"
    return rest


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
    """Return the key of a word that is no value."""
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

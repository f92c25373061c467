"""Words of English that say nothing in a memory, and those that are never to be overlooked."""

from __future__ import annotations

from memtree.language.word_file import WordFile, at_first_use

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
# What may stand on one side alone without another meaning.
LIGHT: frozenset[str]
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
        "LIGHT": lambda: frozenset(_DATA.words("light")),
        "AGENTS": lambda: dict(_DATA.table("agents")),
        "PER": lambda: frozenset(_DATA.words("per")),
        "GHOSTS": lambda: dict(_DATA.table("ghosts")),
        "CONTRACTIONS": lambda: dict(_DATA.table("contractions")),
        "ENDINGS": lambda: dict(_DATA.table("endings")),
    },
)

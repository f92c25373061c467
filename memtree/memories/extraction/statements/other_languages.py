"""Reads what people say of themselves in other languages than English. Each has a
grammar, the data file `memory_statements`, with patterns for statements that are kept, by their
category, and for sentences that are none, by their reason. A pattern is for the beginning of a
sentence in lower case.

    >>> category_of("ich habe zwei katzen"), str(refused("ich bin so müde"))
    ('fact', 'transient')
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, partial

from memtree.language.word_file import WordFile, WordFiles, languages_with, lazily
from memtree.memories.extraction.candidates import SkipReason

UNSPACED = ("ja", "zh")
CATEGORIES = ("preference", "fact", "general")
REASONS = (
    SkipReason.HYPOTHETICAL, SkipReason.QUESTION, SkipReason.CODE, SkipReason.REQUEST,
    SkipReason.TRANSIENT, SkipReason.OTHERS, SkipReason.VAGUE,
)  # fmt: skip
_UNSPACED_LETTER = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_EVERYWHERE = WordFiles("memory_statements", without=("en",))
# What passes, what is at hand, and what is somebody else's, in any of them.
_PASSING = _EVERYWHERE.pattern("passes", shaped=lambda words: rf"\b(?:{words})\b")


def lead(lower: str) -> int:
    """Return where the sentence begins behind a greeting or a joint of its own language, 0 where it
    has none. What opens a sentence in one language may be a part of it in another: French "non" is
    the Italian "not". So the grammar of the opener's language has to know what follows it.

    >>> lead("non, je mange de la viande"), lead("non mangio carne")
    (5, 0)
    """
    for opener, grammar in _openers():
        match = opener.match(lower)
        if match and grammar.match(lower, match.end()):
            return match.end()
    return 0


def refused(lower: str) -> SkipReason | None:
    """Return why a sentence in lower case is no statement of its own; None where it may be one."""
    reason = _first(lower, REASONS)
    return SkipReason(reason) if reason else None


def category_of(lower: str) -> str:
    """Return `fact`, `preference` or `general`; empty where the sentence is none of them."""
    return "" if _PASSING.search(lower) else _first(lower, CATEGORIES)


def is_unspaced(text: str) -> bool:
    """Return True if a text has letters of a script that is written without spaces."""
    return not text.isascii() and _UNSPACED_LETTER.search(text) is not None


def _first(lower: str, names: Sequence[str]) -> str:
    patterns = _patterns(is_unspaced(lower))
    return next((str(name) for name in names if patterns[name].match(lower)), "")


@cache
def _openers() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """For each language with openers, the pattern of these and that of its whole grammar."""
    files = [WordFile(each, "memory_statements") for each in languages_with("memory_statements")]
    return tuple(
        (file.pattern("lead", shaped=_repeated), lazily(partial(_grammar, file)))
        for file in files
        if "lead" in file.names()
    )


def _repeated(words: str) -> str:
    return rf"(?:(?:{words})\b[\s,:;.!–—-]*+)++"


def _grammar(file: WordFile) -> str:
    return "|".join(file.part(name) for name in (*CATEGORIES, *REASONS))


@cache
def _patterns(unspaced: bool) -> dict[str, re.Pattern[str]]:
    """One pattern for each name, for all languages of these scripts."""
    known = languages_with("memory_statements")
    kept = tuple(each for each in known if (each in UNSPACED) == unspaced)
    grammars = WordFiles("memory_statements", kept, without=("all", "en"))
    return {name: grammars.pattern(name) for name in (*CATEGORIES, *REASONS)}

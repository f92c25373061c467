"""Phrases that tell standing rules, by language, and which languages a sentence is scored in.

A sentence in an alphabet of its own is scored in the languages of that alphabet; one in Latin
letters in those that it has telling words of. The best score counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from memtree.text.rule_phrases.east_asian import CHINESE, JAPANESE, KOREAN, VIETNAMESE
from memtree.text.rule_phrases.english import ENGLISH
from memtree.text.rule_phrases.french import FRENCH
from memtree.text.rule_phrases.germanic import DUTCH, GERMAN, SWEDISH
from memtree.text.rule_phrases.iberian import PORTUGUESE, SPANISH
from memtree.text.rule_phrases.italian import ITALIAN
from memtree.text.rule_phrases.others import ARABIC, HINDI, TURKISH
from memtree.text.rule_phrases.slavic import POLISH, RUSSIAN, UKRAINIAN
from memtree.text.rule_score import Phrases, Scorer

_LATIN = (
    ENGLISH, GERMAN, FRENCH, SPANISH, PORTUGUESE, ITALIAN, DUTCH, SWEDISH, POLISH, TURKISH,
    VIETNAMESE,
)  # fmt: skip
_BY_SCRIPT = (
    (re.compile("[\u3040-\u30ff]"), (JAPANESE,)),
    (re.compile("[\uac00-\ud7a3]"), (KOREAN,)),
    (re.compile("[\u3400-\u9fff]"), (CHINESE, JAPANESE)),
    (re.compile("[\u0400-\u04ff]"), (RUSSIAN, UKRAINIAN)),
    (re.compile("[\u0600-\u06ff]"), (ARABIC,)),
    (re.compile("[\u0900-\u097f]"), (HINDI,)),
)
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_PARTS = re.compile(r"[^|\s]+")
# Words of English alone: they spare the other languages a look, and English sentences a mistake.
_ENGLISH = frozenset(
    """
    the you your this that with what have would should they it's don't can't i'm i've let's
    """.split()
)
_BEGINNING, _BEGINNING_OF_OTHERS = 4, 6  # words: in English, and elsewhere


def score(lower: str) -> int:
    """The best score of a sentence (in lower case) over the languages that it may be in."""
    candidates = _candidates(lower)
    return max(_scorer(phrases).score(lower) for phrases in candidates) if candidates else 0


def parts(lower: str) -> list[dict[str, int]]:
    return [_scorer(phrases).parts(lower) for phrases in _candidates(lower)]


def warm_up() -> Iterator[None]:
    """Compile the phrases, one language a step: 20 ms each."""
    _telling()
    for phrases in dict.fromkeys((*_LATIN, *(one for _, each in _BY_SCRIPT for one in each))):
        yield
        _scorer(phrases)


def _candidates(lower: str) -> Sequence[Phrases]:
    if not lower.isascii():
        for letters, languages in _BY_SCRIPT:
            if letters.search(lower):
                return [one for one in languages if _scorer(one).marked(lower)]
    words = _WORD.findall(lower)
    first, anywhere = _telling()
    found = 0
    for word in words[:_BEGINNING]:
        found |= first.get(word, 0)
    for word in words[_BEGINNING:_BEGINNING_OF_OTHERS]:
        found |= first.get(word, 0) & ~1
    for word in anywhere.keys() & words:
        found |= anywhere[word]
    if found and not _ENGLISH.isdisjoint(words):
        found &= 1  # the first of _LATIN
    return [one for at, one in enumerate(_LATIN) if found >> at & 1] if found else ()


@cache
def _telling() -> tuple[dict[str, int], dict[str, int]]:
    """Words that a rule begins with, and others that it holds: the languages, as bits."""
    first: dict[str, int] = {}
    anywhere: dict[str, int] = {}
    for at, one in enumerate(_LATIN):
        for word in _PARTS.findall(one.first):
            first[word] = first.get(word, 0) | 1 << at
        for word in _PARTS.findall(one.anywhere):
            anywhere[word] = anywhere.get(word, 0) | 1 << at
    return first, anywhere


@cache
def _scorer(phrases: Phrases) -> Scorer:
    return Scorer(phrases)

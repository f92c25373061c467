"""Background of a language: everyday sentences unrelated to any memory, and common words that do
not tell the topic of a text. The language of a text is told by its script and, in Latin letters, by
the common words it contains.

    >>> language_of("Welches Brot ist für mich unbedenklich?"), language_of("42 + 1")
    ('de', '')
"""

from __future__ import annotations

import gzip
import re
from functools import lru_cache
from pkgutil import get_data

from memtree.language.word_file import WordFile

LANGUAGES = ("en", "de", "es", "fr", "it", "pt", "nl", "pl", "tr", "ru", "zh", "ja", "ko", "ar")
LATIN = LANGUAGES[:9]
REACH = 2_000  # characters of a text that are read
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = (  # in order of the tests, since Japanese also uses Chinese characters
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7a3]")),
    ("zh", re.compile(r"[\u3400-\u9fff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
)
_SHARE = 0.2  # of the characters: a name in another script does not decide the language


@lru_cache(maxsize=32)
def sentences(language: str) -> tuple[str, ...]:
    """Return about 200 sentences; for an unknown language (""), some of every language."""
    if language not in LANGUAGES:
        return tuple(each for known in LANGUAGES for each in sentences(known)[::14])
    packed = get_data(__package__, f"data/{language}/everyday_sentences.txt.gz") or b""
    return tuple(gzip.decompress(packed).decode().splitlines())


@lru_cache(maxsize=1)
def common_words() -> dict[str, frozenset[str]]:
    """Return the common words of each language."""
    files = {known: WordFile(known, "everyday_words") for known in LANGUAGES}
    return {known: frozenset(file.entries("common_words")) for known, file in files.items()}


def language_of(text: str) -> str:
    """Return the text's language, one of `LANGUAGES`; empty if it cannot be told."""
    return next(iter(languages_of(text)), "")


def languages_of(text: str) -> tuple[str, ...]:
    """Return the languages that a text may be in: several, English first, if its words do not
    decide between them; none if nothing indicates a language."""
    head = text[:REACH]
    for language, letters in _SCRIPTS:
        if len(letters.findall(head)) > _SHARE * len(head):
            return (language,)
    words = _WORD.findall(head.lower())
    counts = {known: sum(word in _vocabulary(known) for word in words) for known in LATIN}
    best = max(counts.values())
    return tuple(known for known in LATIN if counts[known] == best) if best else ()


@lru_cache(maxsize=32)
def _vocabulary(language: str) -> frozenset[str]:
    text = " ".join((*sentences(language), *common_words()[language]))
    return frozenset(_WORD.findall(text.lower()))

"""Tell the script and the language of a text, and list the everyday words of each language.

`language_of` tells a text's language by its script and, in Latin letters, by the common words it
contains. The background of a language is everyday sentences unrelated to any memory, and common
words that do not tell the topic of a text.

    >>> language_of("Welches Brot ist für mich unbedenklich?"), language_of("42 + 1")
    ('de', '')

`script` and `language` tell enough to notice a summary in another language: scripts by the Unicode
names of letters, languages in Latin letters by their function words. A text that is too short or
too mixed has no language.

    >>> script("Как дела?"), language("Der Test ist nicht mehr rot, und das ist auch gut so.")
    ('cyrillic', 'de')
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from functools import cache, lru_cache
from pkgutil import get_data

from memtree.language.word_file import WordFile, by_language

LANGUAGES = ("en", "de", "es", "fr", "it", "pt", "nl", "pl", "tr", "ru", "zh", "ja", "ko", "ar")
LATIN = LANGUAGES[:9]
REACH = 2_000  # characters of a text that are read
_LETTER_RUN = re.compile(r"[^\W\d_]+")
_OWN_SCRIPTS = (  # in order of the tests, since Japanese also uses Chinese characters
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
    for language, letters in _OWN_SCRIPTS:
        if len(letters.findall(head)) > _SHARE * len(head):
            return (language,)
    words = _LETTER_RUN.findall(head.lower())
    counts = {known: sum(word in _vocabulary(known) for word in words) for known in LATIN}
    best = max(counts.values())
    return tuple(known for known in LATIN if counts[known] == best) if best else ()


@lru_cache(maxsize=32)
def _vocabulary(language: str) -> frozenset[str]:
    text = " ".join((*sentences(language), *common_words()[language]))
    return frozenset(_LETTER_RUN.findall(text.lower()))


_SCRIPTS = {
    "latin": r"A-Za-zÀ-ɏ", "cyrillic": "Ѐ-ԯ", "greek": "Ͱ-Ͽ", "hebrew": "֐-׿",
    "arabic": "؀-ۿݐ-ݿ", "devanagari": "ऀ-ॿ", "thai": "฀-๿",
    "kana": "぀-ヿ", "han": "㐀-鿿", "hangul": "가-힯ᄀ-ᇿ",
}  # fmt: skip
_LETTERS = {name: re.compile(f"[{letters}]") for name, letters in _SCRIPTS.items()}
_DENSE = {"kana": 2.5, "han": 2.5, "hangul": 2.5}  # Latin letters that say as much as one letter


@cache
def _small_words() -> dict[str, frozenset[str]]:
    by = by_language("common_words", "small")
    return {name: frozenset(words) for name, words in by.items()}


_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def shares(text: str) -> dict[str, float]:
    """Return the share of each script found among the letters; dense scripts weigh more."""
    if text.isascii():  # decided without patterns
        return {"latin": 1.0} if any(map(str.isalpha, text)) else {}
    counts = {
        name: len(pattern.findall(text)) * _DENSE.get(name, 1.0)
        for name, pattern in _LETTERS.items()
    }
    total = sum(counts.values())
    return {name: number / total for name, number in counts.items() if number}


def script(text: str) -> str:
    """Return the script of most letters; empty for a text without letters."""
    by_script = shares(text)
    return max(by_script, key=by_script.__getitem__) if by_script else ""


def language(text: str, least: int = 4) -> str:
    """Return the language with the most function words in the text; empty if it has fewer than
    `least` of them, or if another language has more than half as many."""
    words = Counter(_WORD.findall(text.lower()))
    hits = {
        name: sum(map(words.__getitem__, words.keys() & small))
        for name, small in _small_words().items()
    }
    first, second = sorted(hits, key=lambda name: -hits[name])[:2]
    return first if hits[first] >= least and hits[second] <= hits[first] / 2 else ""


def differs(text: str, source: str) -> str:
    """Describe how the language of `text` differs from that of `source`; empty if it does not, or
    if that is uncertain."""
    of_text, of_source = shares(text), shares(source)
    if not of_text or not of_source:
        return ""
    mine, theirs = script(text), script(source)
    # Identifiers may be most of the letters of a summary in any language.
    named = mine == "latin" and of_text.get(theirs, 0.0) > 0.15
    new = of_source.get(mine, 0.0) < 0.02 and of_text[mine] > 0.3 and not named
    lost = of_source[theirs] > 0.6 and of_text.get(theirs, 0.0) < 0.1
    if of_source.get("kana", 0.0) > 0.2:  # Japanese mixes Han and kana, never Han alone
        lost = mine != "kana" and "kana" not in of_text
    if new or lost:
        return f"{mine}, not {theirs}"
    if mine == "latin" == theirs:
        one, other = language(text), language(source, 8)
        if one and other and one != other:
            return f"{one}, not {other}"
    return ""

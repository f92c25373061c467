"""Phrases that mark standing rules, by language, and the languages a sentence is scored in.

A sentence in a non-Latin script is scored in the languages of that script; a sentence in Latin
letters in the languages whose marker words it has. The best score counts. The phrases are data:
`standing_rules.txt` of each language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import cache

from memtree.language.lists import by_language, in_order, languages_with, sections
from memtree.text.instructions.rule_score import Phrases, Scorer

_FILE = "standing_rules"
_SCRIPTS = {  # in order of the tests, since Japanese also uses Chinese characters
    "kana": re.compile("[\u3040-\u30ff]"),
    "hangul": re.compile("[\uac00-\ud7a3]"),
    "han": re.compile("[\u3400-\u9fff]"),
    "cyrillic": re.compile("[\u0400-\u04ff]"),
    "arabic": re.compile("[\u0600-\u06ff]"),
    "devanagari": re.compile("[\u0900-\u097f]"),
}
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_BEGINNING, _BEGINNING_OF_OTHERS = 4, 6  # words: in English, and elsewhere


def score(lower: str) -> int:
    """Return the best score of a lower-case sentence over the languages that it may be in."""
    candidates = _candidates(lower)
    return max(_scorer(language).score(lower) for language in candidates) if candidates else 0


def parts(lower: str) -> list[dict[str, int]]:
    return [_scorer(language).parts(lower) for language in _candidates(lower)]


def warm_up() -> Iterator[None]:
    """Compile the phrases, one language per step (20 ms each)."""
    _telling()
    for language in languages_with(_FILE):
        yield
        _scorer(language)


def phrases(language: str) -> Phrases:
    """Read the phrases of a language. Raises `FileNotFoundError` if it has none."""
    entries = sections(language, _FILE)
    words = {name: entries.get(name, ()) for name in ("first", "anywhere")}
    patterns = {
        field.name: in_order(entries.get(field.name, ()))
        for field in fields(Phrases)
        if field.name not in words
    }
    return Phrases(**words, **patterns)  # type: ignore[arg-type]


def _candidates(lower: str) -> Sequence[str]:
    if not lower.isascii():
        for script, letters in _SCRIPTS.items():
            if letters.search(lower):
                return [one for one in _of_script(script) if _scorer(one).marked(lower)]
    words = _WORD.findall(lower)
    first, anywhere = _telling()
    bits = 0
    for word in words[:_BEGINNING]:
        bits |= first.get(word, 0)
    for word in words[_BEGINNING:_BEGINNING_OF_OTHERS]:
        bits |= first.get(word, 0) & ~1
    for word in anywhere.keys() & words:
        bits |= anywhere[word]
    if bits and not _english_alone().isdisjoint(words):
        bits &= 1  # the first of the Latin languages
    return [one for at, one in enumerate(_of_script("latin")) if bits >> at & 1] if bits else ()


@cache
def _of_script(script: str) -> tuple[str, ...]:
    scripts = sections("all", "languages")
    if script in scripts:
        return scripts[script]
    others = {language for name in _SCRIPTS for language in scripts[name]}
    return tuple(language for language in languages_with(_FILE) if language not in others)


@cache
def _telling() -> tuple[dict[str, int], dict[str, int]]:
    """Map the words that begin a rule, and other words of rules, to their languages as bits."""
    first: dict[str, int] = {}
    anywhere: dict[str, int] = {}
    for words, section in ((first, "first"), (anywhere, "anywhere")):
        entries = by_language(_FILE, section)
        for at, language in enumerate(_of_script("latin")):
            for word in " ".join(entries.get(language, ())).split():
                words[word] = words.get(word, 0) | 1 << at
    return first, anywhere


@cache
def _english_alone() -> frozenset[str]:
    return frozenset(sections("en", _FILE)["english_alone"])


@cache
def _scorer(language: str) -> Scorer:
    return Scorer(phrases(language))

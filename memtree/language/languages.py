"""Detect the script and language of a text: enough to notice a summary in another language.

Scripts are told by the Unicode names of letters, languages in Latin letters by their function
words. A text that is too short or too mixed has no language.

    >>> script("Как дела?"), language("Der Test ist nicht mehr rot, und das ist auch gut so.")
    ('cyrillic', 'de')
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from memtree.language.word_file import by_language

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

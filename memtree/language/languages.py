"""Tell the script and language of a text: enough to see that a summary is in another.

Scripts by the names of their letters, languages in Latin letters by their small words. A
text that is too short or too mixed has none.

    >>> script("Как дела?"), language("Der Test ist nicht mehr rot, und das ist auch gut so.")
    ('cyrillic', 'de')
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from memtree.language.lists import by_language

_SCRIPTS = {
    "latin": r"A-Za-zÀ-ɏ", "cyrillic": "Ѐ-ԯ", "greek": "Ͱ-Ͽ", "hebrew": "֐-׿",
    "arabic": "؀-ۿݐ-ݿ", "devanagari": "ऀ-ॿ", "thai": "฀-๿",
    "kana": "぀-ヿ", "han": "㐀-鿿", "hangul": "가-힯ᄀ-ᇿ",
}  # fmt: skip
_LETTERS = {name: re.compile(f"[{letters}]") for name, letters in _SCRIPTS.items()}
_DENSE = {"kana": 2.5, "han": 2.5, "hangul": 2.5}  # letters of Latin that say as much as one


@cache
def _small_words() -> dict[str, frozenset[str]]:
    by = by_language("common_words", "small")
    return {name: frozenset(words) for name, words in by.items()}


_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def shares(text: str) -> dict[str, float]:
    """The share of each script among the letters, dense scripts weighed up; only those found."""
    counts = {
        name: len(pattern.findall(text)) * _DENSE.get(name, 1.0)
        for name, pattern in _LETTERS.items()
    }
    total = sum(counts.values())
    return {name: number / total for name, number in counts.items() if number}


def script(text: str) -> str:
    """The script of most letters; empty where there are none."""
    by_script = shares(text)
    return max(by_script, key=by_script.__getitem__) if by_script else ""


def language(text: str, least: int = 4) -> str:
    """The language whose small words are most of those found; empty below `least` of its own, or
    where another language has more than half as many."""
    words = Counter(_WORD.findall(text.lower()))
    hits = {name: sum(words[word] for word in small) for name, small in _small_words().items()}
    first, second = sorted(hits, key=lambda name: -hits[name])[:2]
    return first if hits[first] >= least and hits[second] <= hits[first] / 2 else ""


def differs(text: str, source: str) -> str:
    """How the language of `text` differs from that of `source`; empty when it does not, or
    nothing certain can be said."""
    of_text, of_source = shares(text), shares(source)
    if not of_text or not of_source:
        return ""
    mine, theirs = script(text), script(source)
    # Identifiers may be most of the letters of a summary in any language.
    named = mine == "latin" and of_text.get(theirs, 0.0) > 0.15
    new = of_source.get(mine, 0.0) < 0.02 and of_text[mine] > 0.3 and not named
    lost = of_source[theirs] > 0.6 and of_text.get(theirs, 0.0) < 0.1
    if of_source.get("kana", 0.0) > 0.2:  # Japanese is Han and kana in any mixture, never Han alone
        lost = mine != "kana" and "kana" not in of_text
    if new or lost:
        return f"{mine}, not {theirs}"
    if mine == "latin" == theirs:
        one, other = language(text), language(source, 8)
        if one and other and one != other:
            return f"{one}, not {other}"
    return ""

"""Common words, which name nothing and do not distinguish texts.

`chat_words`: contractions written without their apostrophe, interjections and chat shorthand; they
are no names, however they are written. `common_words`: these, function words, and words used about
any subject. All are in lower case, in the languages of the other word lists. The words that
statistics leave out are apart (`stop_words.py`), since stored counts depend on them.
"""

from __future__ import annotations

from functools import cache, lru_cache

from memtree.language.word_file import WordFiles
from memtree.text.words.stop_words import STOP_WORDS

_DATA = WordFiles("common_words")


@cache
def chat_words() -> frozenset[str]:
    return _DATA.word_set("chat")


@cache
def common_words() -> frozenset[str]:
    general = (_DATA.word_set(section) for section in ("chat", "general", "small"))
    return STOP_WORDS.union(*general)


_ENDINGS = ("ingly", "ings", "ing", "ed", "ly", "er", "est", "s")


@lru_cache(maxsize=1 << 14)  # most words of a talk recur
def is_common(word: str) -> bool:
    """Return True for a common word, also with an apostrophe or an English ending.

    >>> [is_common(word) for word in ("I'd", "guessing", "weirdest", "greyhound", "king")]
    [True, True, True, False, False]
    """
    lower = word.lower().replace("'", "").replace("’", "")
    common = common_words()
    if lower in common:
        return True
    for ending in _ENDINGS:
        base = lower.removesuffix(ending)
        if 3 <= len(base) < len(lower) and (base in common or f"{base}e" in common):
            return True
    return False

"""Detect negation, by the words that each language lists in `claims.txt`."""

from __future__ import annotations

import re

from memtree.language.word_file import WordFiles, lazily

_DATA = WordFiles("claims")
DENIALS = lazily(
    lambda: rf"\b(?:{_DATA.part('denies')})\b|{_DATA.part('denies_unspaced')}", re.IGNORECASE
)


def denies(text: str) -> bool:
    """Return True if a text says that something is not so, or never was.

    >>> denies("I don't smoke."), denies("Ich rauche nicht."), denies("I smoke.")
    (True, True, False)
    """
    return DENIALS.search(text) is not None

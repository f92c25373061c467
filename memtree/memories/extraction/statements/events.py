"""Find what happened in a user's life on a day that they name: "we went to Rome last summer".

A day makes it worth keeping: who tells when something was will ask when it was. What was done to
files, tests and servers has its days as well and is nobody's life, so words of work with a machine
speak against it.

    >>> is_event("I adopted a puppy last week.")
    True
    >>> is_event("I tried it yesterday and it failed.")
    False
"""

from __future__ import annotations

import re
from datetime import date

from memtree.language.word_file import WordFile
from memtree.memories.extraction.dates import DateKind, dates

_DATA = WordFile("en", "memory_events")

LONGEST = 300  # characters of a sentence
_KINDS = frozenset(
    {DateKind.DAY, DateKind.MONTH_DAY, DateKind.MONTH, DateKind.WEEKDAY, DateKind.RELATIVE}
)
_HAPPENED = _DATA.pattern("happened", re.IGNORECASE)
_WORK = _DATA.pattern("work", re.IGNORECASE)
_TODAY = _DATA.words("today")


def is_event(sentence: str, said: date | None = None) -> bool:
    """Return True if a sentence tells something of the user's life with its day."""
    text = sentence[:LONGEST]
    if not _HAPPENED.search(text) or _WORK.search(text):
        return False
    return any(
        mention.kind in _KINDS and text[mention.start : mention.end].lower() not in _TODAY
        for mention in dates(text, said)
    )

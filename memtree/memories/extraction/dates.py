"""Dates in sentences, by rules of our own: days, months, weekdays, and what is counted from today.

The general parsers find a date in "I may go", "line 1200" and "version 2.1". Here a number is one
only beside the name of a month, or in a form that nothing else has, and a word that is a month as
well as something else ("may", "march", "mars") only where its neighbours leave no doubt. A day is
resolved where the sentence and the day it was said give exactly one; everything else keeps
its words.

    >>> from datetime import date
    >>> [found.day for found in dates("I may fly on May 5, 2026 or in 3 days.", date(2026, 3, 2))]
    [datetime.date(2026, 5, 5), datetime.date(2026, 3, 5)]
"""

from __future__ import annotations

import re
from datetime import date

from memtree.memories.extraction.date_forms import (
    RULES,
    UNSPACED_TRIGGERS,
    DateKind,
    DateMention,
    triggers,
)

__all__ = ["DateKind", "DateMention", "dates"]

READ = 20_000  # characters of a text that are searched
_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(rf"\d|{UNSPACED_TRIGGERS}")


def dates(text: str, said: date | None = None) -> list[DateMention]:
    """All mentions, left to right; none overlaps another. `said`: the day the text was said."""
    text = text[:READ]
    tokens = _WORD.findall(text.lower())
    if triggers().isdisjoint(tokens) and not _DIGIT.search(text):
        return []
    mentions: list[DateMention] = []
    for rule in RULES:
        for match in rule.pattern.finditer(text):
            if mention := rule.read(match, said):
                mentions.append(mention)
    # Of two that overlap the earlier, then the longer.
    mentions.sort(key=lambda date_mention: (date_mention.start, -date_mention.end))
    kept: list[DateMention] = []
    for date_mention in mentions:
        if not kept or date_mention.start >= kept[-1].end:
            kept.append(date_mention)
    return kept

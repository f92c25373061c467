"""How days are told from one another, in the seven languages of `text.day_names`: words of the data
file, and the names of months and weekdays for its patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from memtree.language import day_names
from memtree.language.lists import alternation
from memtree.language.word_file import WordFile, WordFiles

_DATA = WordFile("all", "memory_dates")
DIGITS = WordFiles("numbers", without=()).table("cardinals", "counts")
UNSPACED_TRIGGERS = "每周|每星期|每个星期|毎週"


@cache
def triggers() -> frozenset[str]:
    """Return words of which a text with a date holds one, where it holds no digit: a hundred times
    as fast to see."""
    return frozenset(day_names.ALL_MONTHS) | _DATA.words("triggers")


def with_names(pattern: str) -> str:
    """Fill the names of months and weekdays into a pattern of the data file."""
    for name, names in _names().items():
        pattern = pattern.replace(f"{{{name}}}", names)
    return pattern


@cache
def _names() -> dict[str, str]:
    whole = _one_of(day_names.MONTHS | day_names.AMBIGUOUS_MONTHS)
    return {
        "month": rf"(?:{whole}|(?:{_one_of(day_names.SHORT_MONTHS)})\b\.?)",
        "any_month": f"(?:{whole})",
        "short_months": "|".join(day_names.SHORT_MONTHS),
        "weekdays": day_names.WEEKDAYS,
    }


def _one_of(names: Iterable[str]) -> str:
    return alternation(map(re.escape, names))

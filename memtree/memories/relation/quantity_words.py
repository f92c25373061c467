"""Load the words of numbers, days and measures in English."""

from __future__ import annotations

from memtree.language.word_file import WordFile, at_first_use

_DATA = WordFile("en", "memory_quantities")
_NUMBERS = WordFile("en", "numbers")


def _units() -> dict[str, tuple[str, str]]:
    """Return dimension and factor of each word and its plural; "ms" is no plural of "m"."""
    measures: dict[str, tuple[str, str]] = {}
    for word, measure in _DATA.by_word("units").items():
        dimension, _, factor = measure.partition("*")
        measures[word] = (dimension, factor)
    return {f"{word}s": measure for word, measure in measures.items()} | measures


def _numbers(section: str) -> dict[str, int]:
    return {word: int(number) for word, number in _NUMBERS.table(section).items()}


NUMBERS: dict[str, int]
SCALES: dict[str, int]
ORDINALS: dict[str, int]
MONTHS: dict[str, int]
DAYS: dict[str, str]
SHORT_DAYS: frozenset[str]  # words as well
CURRENCIES: dict[str, str]
UNITS: dict[str, tuple[str, str]]  # dimension and factor
__getattr__ = at_first_use(
    globals(),
    {
        "NUMBERS": lambda: _numbers("cardinals"),
        "SCALES": lambda: _numbers("scales"),
        "ORDINALS": lambda: _numbers("ordinals"),
        "MONTHS": lambda: {word: int(at) for word, at in _DATA.by_word("months").items()},
        "DAYS": lambda: dict(_DATA.by_word("days")),
        "SHORT_DAYS": lambda: frozenset(_DATA.words("days_and_words")),
        "CURRENCIES": lambda: dict(_DATA.by_word("currencies")),
        "UNITS": _units,
    },
)

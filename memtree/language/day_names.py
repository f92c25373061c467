"""Hold the names of months and weekdays in seven languages, from `day_names.txt`.

Names that are also ordinary words ("may", "march", "mars", "sept", "segunda") are listed apart: the
words before and after them decide.
"""

from __future__ import annotations

from memtree.language.word_file import WordFile, at_first_use

_DATA = WordFile("all", "day_names")
ENGLISH_NAMES = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
ENGLISH_MONTHS = ("march", "may", "august")  # months only if capitalised


def _months(*sections: str) -> dict[str, int]:
    """Return the numbers of the months by their names."""
    names = (_DATA.by_word(section) for section in sections)
    return {name: int(number) for each in names for name, number in each.items()}


MONTHS: dict[str, int]
AMBIGUOUS_MONTHS: dict[str, int]
SHORT_MONTHS: dict[str, int]
ALL_MONTHS: dict[str, int]
ALL_BESIDE_YEARS: dict[str, int]  # includes abbreviations that mean a month only beside a year
WEEKDAYS: str  # alternatives of a regular expression
_ALL = ("months", "ambiguous_months", "short_months")
__getattr__ = at_first_use(
    globals(),
    {
        "MONTHS": lambda: _months("months"),
        "AMBIGUOUS_MONTHS": lambda: _months("ambiguous_months"),
        "SHORT_MONTHS": lambda: _months("short_months"),
        "ALL_MONTHS": lambda: _months(*_ALL),
        "ALL_BESIDE_YEARS": lambda: _months(*_ALL, "short_beside_years"),
        "WEEKDAYS": lambda: _DATA.part("weekdays"),
    },
)

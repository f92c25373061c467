"""Values out of a model's words: what they are for a field of some type.

A value is taken only where the words leave one: "blue or green" is none of a field with choices.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from itertools import pairwise
from typing import Any

from memtree.language.borders import denies
from memtree.language.word_file import WordFile
from memtree.memories.agents.extraction.fillable_fields import FieldType, SchemaField, words
from memtree.memories.extraction.dates import DateKind, DateMention, dates
from memtree.memories.relation import quantity_words

_DATA = WordFile("en", "memory_value_grounding")

_NUMBER = re.compile(
    r"(?<![\w.,:/-])(?P<money>[$€£] ?)?(?P<digits>\d{1,3}(?:,\d{3})+"
    r"|\d{1,15})(?P<rest>\.\d{1,6})?"
    r"(?P<scale> ?(?:k|million|m)(?![\w.]))?(?P<unit> ?(?:[^\W\d_]{1,12}|%|€|\$|£|°))?"
    r"(?![\w/:.,-]*\d)"
)
_LETTERS = re.compile(r"[^\W\d_]+")
_UNIT_OF = _DATA.by_word("units")
_SCALES = {"k": 1_000, "million": 1_000_000, "m": 1_000_000}
_TRUTHS = {"true": True, "yes": True, "false": False, "no": False}
_OR = re.compile(r"\bor\b")
_SIGNS = re.compile(r"(?<=[^\W_])[+#-]++(?!\w)")  # at the end of a word: "C++", "O-"
_AS_LETTERS = str.maketrans("+#-", "ᐩⵌー")  # so that they are of the word
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)")
_COUNTED = {DateKind.RELATIVE, DateKind.WEEKDAY, DateKind.MONTH_DAY}
_PAST_FIELDS = _DATA.words("past_fields")


def fitted(field: SchemaField, text: str, said: date | None) -> Any:
    """The value of a field that words name; None where they name none. Of a list: with the one
    item that they are. `said`: the day on which they were said."""
    text = text.strip(" \t\n\"'“”‘’«»*_")
    lower = text.lower()
    if field.type in (FieldType.STRING, FieldType.STRINGS):
        item = choice(field.choices, lower) if field.choices else text or None
        return [item] if item and field.type is FieldType.STRINGS else item
    if field.type in (FieldType.INTEGER, FieldType.NUMBER):
        return _numeric(field, lower)
    if field.type is FieldType.BOOLEAN:
        return _TRUTHS.get(lower)
    if field.type is FieldType.MOMENT:
        instant = _INSTANT.search(text)
        return instant.group().replace(" ", "T") if instant else None
    mention = one_day(text, said, certain=is_past(field))
    return mention.day.isoformat() if mention and mention.day else None


def choice(choices: tuple[str, ...], lower: str) -> str | None:
    """The one choice that words name; None where they name none, or several, or deny it.

    >>> choice(("dark", "light"), "the dark one"), choice(("dark", "light"), "not dark")
    ('dark', None)
    """
    exact = [one for one in choices if one.lower() == lower.strip()]
    if len(exact) == 1:
        return exact[0]
    if denies(lower) or _OR.search(lower):
        return None
    said = signed_words(lower)
    held = [
        (wanted, one) for one in choices if (wanted := signed_words(one)) and _within(wanted, said)
    ]
    if not held:
        return None
    held.sort(key=lambda pair: -len(pair[0]))
    longest = held[0][0]
    if any(wanted == longest or not _within(wanted, longest) for wanted, _ in held[1:]):
        return None
    return held[0][1]


def signed_words(text: str) -> list[str]:
    """The words of a text in the singular, each with the signs at its end: "C++" is not "C".

    >>> signed_words("the blood type O-, not A"), signed_words("in-progress items")
    (['the', 'blood', 'type', 'oー', 'not', 'a'], ['in', 'progress', 'item'])
    """
    return words(_SIGNS.sub(lambda match: match.group().translate(_AS_LETTERS), text))


def _within(wanted: list[str], said: list[str]) -> bool:
    size = len(wanted)
    return any(said[at : at + size] == wanted for at in range(len(said) - size + 1))


def quantities(lower: str) -> Iterator[tuple[float, str]]:
    """All numbers that words say, in digits or spelled, each with its unit; "" for none that is
    known. Linear.

    >>> list(quantities("1,500 euros or 90k for two kids"))
    [(1500.0, 'eur'), (90000.0, ''), (2.0, '')]
    """
    for match in _NUMBER.finditer(lower):
        value = float(match["digits"].replace(",", "") + (match["rest"] or ""))
        scale = (match["scale"] or "").strip()
        unit = (match["money"] or match["unit"] or "").strip()
        if scale == "m" and not match["money"]:
            scale, unit = "", "m"
        yield value * _SCALES.get(scale, 1), _UNIT_OF.get(unit, "")
    for word, behind in pairwise([*_LETTERS.findall(lower), ""]):
        if word in quantity_words.NUMBERS:
            yield float(quantity_words.NUMBERS[word]), _UNIT_OF.get(behind, "")


def _numeric(field: SchemaField, lower: str) -> int | float | None:
    numbers = {value for value, unit in quantities(lower) if takes_unit(field, unit)}
    if len(numbers) != 1:
        return None
    value = numbers.pop()
    if value == int(value):
        return int(value) if abs(value) < 2**53 else None
    return None if field.type is FieldType.INTEGER else value


def takes_unit(field: SchemaField, unit: str) -> bool:
    """Return True unless the name of a field tells another unit: pounds for `weightKg`."""
    named = words(field.path[-1])
    short = ("in", "m", "s", "h", "mi") if len(named) == 1 else ()
    wanted = next((_UNIT_OF[word] for word in reversed(named) if word in _UNIT_OF), "")
    return not unit or not wanted or named[-1] in short or unit == wanted


def is_past(field: SchemaField) -> bool:
    """Return True if a field is of a day that is over, which no day without a year can be."""
    return not _PAST_FIELDS.isdisjoint(words(field.path[-1]))


def days_of(text: str, said: date | None, *, certain: bool = False) -> list[DateMention]:
    """The days that a text names, with those that it does not tell exactly: these have no `day`.
    `certain`: with its year."""
    mentions = [mention for mention in dates(text, said) if mention.kind is not DateKind.TIME]
    return [
        mention
        if mention.kind is DateKind.DAY or (not certain and mention.kind in _COUNTED)
        else replace(mention, day=None)
        for mention in mentions
    ]


def one_day(text: str, said: date | None, *, certain: bool = False) -> DateMention | None:
    """The only day that a text names."""
    days = days_of(text, said, certain=certain)
    return days[0] if len(days) == 1 and days[0].day is not None else None

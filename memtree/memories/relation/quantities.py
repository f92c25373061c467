"""Bring numbers, dates, times, amounts and measures into one spelling each.

>>> read("March 15, 2026".split()), read("2026-03-15".split())
(['d:2026-03-15'], ['d:2026-03-15'])
>>> read(["two", "hours"]), read(["120", "min"]), read(["3", "pm"]), read(["15:00"])
(['time:7200'], ['time:7200'], ['t:15:00'], ['t:15:00'])
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from memtree.language.written_days import ordinal, written_day
from memtree.memories.relation import quantity_words

_HALVES = frozenset(("am", "pm", "a.m", "p.m"))
_PARTS = {"half": 30, "quarter": 15}  # of an hour
_DAYTIMES = {"morning": "am", "afternoon": "pm", "evening": "pm"}
_CLOCK = frozenset(("o'clock", "oclock", "uhr", "heures", "heure"))

_MOMENT = re.compile(r"(?:t[0-9:.z+-]+)?")  # behind a day
_TIME = re.compile(r"([0-9][0-9]?)[:h]([0-9][0-9])(?::([0-9][0-9]))?(am|pm|h)?")
_HOUR = re.compile(r"([0-9][0-9]?)(am|pm)")
_GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_PLAIN = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_VERSION = re.compile(r"v?([0-9]+(?:\.[0-9]+)+)")
_ORDINAL = re.compile(r"([0-9]+)(?:st|nd|rd|th)")
_AMOUNT = re.compile(r"([0-9]+(?:[.,][0-9]+)*)([a-z°%]{1,12})")
_DIGITS = frozenset("0123456789")
_LONGEST = 15  # digits that are calculated with
_SHORT_SCALES = {"k": 1_000, "mio": 1_000_000, "bn": 1_000_000_000}


class Quantity(NamedTuple):
    """A quantity at a place: its key, and where the words after it begin."""

    key: str
    after: int


def quantity_at(words: Sequence[str], at: int, names: Sequence[bool] = ()) -> Quantity | None:
    """Return the quantity that begins with `words[at]` (lower case), None where none does. `names`:
    which words are capitalised: May is a month, may is none."""
    word = words[at]
    capital = bool(names) and names[at]
    if word in quantity_words.DAYS and (capital or word not in quantity_words.SHORT_DAYS):
        plural = word.endswith("s") and word not in ("tues", "thurs")
        return Quantity(f"wd{'s' * plural}:{quantity_words.DAYS[word]}", at + 1)
    following = words[at + 1] if at + 1 < len(words) else ""
    if word in ("every", "each") and following in quantity_words.DAYS:
        return Quantity(f"wds:{quantity_words.DAYS[following]}", at + 2)
    if word in quantity_words.MONTHS and (
        word not in ("may", "mar", "march") or not names or capital
    ):
        return _from_month(words, at)
    if word in ("noon", "midday"):
        return Quantity("t:12:00", at + 1)
    if word == "midnight":
        return Quantity("t:00:00", at + 1)
    if word in ("once", "twice"):
        return Quantity(f"times:{1 + (word == 'twice')}", at + 1)
    if word in quantity_words.ORDINALS or _ORDINAL.fullmatch(word):
        return _from_ordinal(words, at)
    if word in quantity_words.CURRENCIES and at + 1 < len(words):
        amount = _number(words, at + 1)
        if amount is None:
            return None
        return Quantity(f"{quantity_words.CURRENCIES[word]}:{amount[0]}", amount[1])
    if word[0] in _DIGITS or word[0] == "v":
        quantity = _date(word) or _clock(words, at)
        if quantity:
            return quantity if isinstance(quantity, Quantity) else Quantity(quantity, at + 1)
    number = _number(words, at)
    return _spoken_clock(words, at, number) or (_measured(words, *number) if number else None)


def read(words: Sequence[str]) -> list[str]:
    """Return the keys of all quantities, and other words as they are. For tests and examples."""
    lower = [word.lower().rstrip(",") for word in words]
    keys, at = [], 0
    while at < len(lower):
        quantity = quantity_at(lower, at)
        keys.append(quantity.key if quantity else lower[at])
        at = quantity.after if quantity else at + 1
    return keys


def _from_month(words: Sequence[str], at: int) -> Quantity:
    after, day = at + 1, ""
    if after < len(words) and (number := _day(words[after])):
        day, after = number, after + 1
    return _with_year(words, after, quantity_words.MONTHS[words[at]], day)


def _with_year(words: Sequence[str], after: int, month: int, day: str) -> Quantity:
    """Return a day or a month with its year, where that follows."""
    year = ""
    at_year = after + (after < len(words) and words[after] == ",")
    if at_year < len(words) and _is_year(words[at_year]):
        year, after = words[at_year], at_year + 1
    return Quantity(_date_key(year, month, day), after)


def _from_ordinal(words: Sequence[str], at: int) -> Quantity:
    match = _ORDINAL.fullmatch(words[at])
    number = int(match[1]) if match else quantity_words.ORDINALS[words[at]]
    return _day_of_month(words, at, str(number)) or Quantity(f"o:{number}", at + 1)


def _day_of_month(words: Sequence[str], at: int, day: str) -> Quantity | None:
    """Read a day before its month: 15 March, 15th of March 2026."""
    after = at + 1
    if after < len(words) and words[after] in ("of", "de"):
        after += 1
    if after >= len(words) or words[after] not in quantity_words.MONTHS or not _day(day):
        return None
    return _with_year(words, after + 1, quantity_words.MONTHS[words[after]], day)


def _day(word: str) -> str:
    match = _ORDINAL.fullmatch(word)
    digits = match[1] if match else word
    if digits.isascii() and digits.isdigit() and len(digits) < 3 and 1 <= int(digits) <= 31:
        return str(int(digits))
    return str(quantity_words.ORDINALS[word]) if word in quantity_words.ORDINALS else ""


def _is_year(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) == 4 and 1000 <= int(word) < 2200


def _date_key(year: str, month: int, day: str) -> str:
    return f"d:{year}-{month:02}" + (f"-{int(day):02}" if day else "")


def _date(word: str) -> str:
    written = None if word.isalnum() else written_day(word)
    if written is None or not _MOMENT.fullmatch(word, written[1]) or not written[0].year:
        return ""
    day = written[0]
    other_way = ordinal(day.year, day.day, day.month) if day.sign == "/" else 0
    if day.sign == "/" and (day.short_year or bool(other_way) == bool(day.ordinal)):
        return f"d?:{word}"  # which of the two is the month nobody knows
    if day.short_year:
        return ""
    month, number = (day.day, day.month) if other_way else (day.month, day.day)
    return _date_key(str(day.year), month, str(number))


def _clock(words: Sequence[str], at: int) -> Quantity | None:
    """Read a time of day in digits: 15:00, 3pm, 3:15 pm, 3 p.m., 15 Uhr."""
    following = words[at + 1] if at + 1 < len(words) else ""
    after, half = at + 1, ""
    if match := _TIME.fullmatch(words[at]):
        hour, minute, second, half = int(match[1]), match[2], match[3], match[4] or ""
    elif match := _HOUR.fullmatch(words[at]):
        hour, minute, second, half = int(match[1]), "00", None, match[2]
    elif words[at].isascii() and words[at].isdigit() and following in _HALVES | _CLOCK:
        hour, minute, second = int(words[at][:3]), "00", None
    else:
        return None
    if half not in ("am", "pm") and following in _HALVES:
        half, after = following.replace(".", ""), at + 2
    elif following in _CLOCK:
        after = at + 2
    if half in ("am", "pm"):
        hour = hour % 12 + (12 if half == "pm" else 0)
    tail = f":{second}" if second and second != "00" else ""
    return Quantity(f"t:{hour:02}:{minute}{tail}", after)


def _spoken_clock(words: Sequence[str], at: int, number: tuple[str, int] | None) -> Quantity | None:
    """Read a time of day in words: half past six, quarter to seven; nine in the morning, of which
    "in the" was left out before."""
    following = list(words[at + 1 : at + 3])
    if words[at] in _PARTS and len(following) > 1 and following[0] in ("past", "to"):
        hour, minute = quantity_words.NUMBERS.get(following[1], 0), _PARTS[words[at]]
        if not 1 <= hour <= 12:
            return None
        if following[0] == "to":
            hour, minute = (hour - 1) or 12, 60 - minute
        return Quantity(f"t:{hour:02}:{minute:02}", at + 3)
    half = _DAYTIMES.get(words[number[1]], "") if number and number[1] < len(words) else ""
    if number and half and number[0].isdigit() and len(number[0]) < 3 and int(number[0]) <= 12:
        hour = int(number[0]) % 12 + (12 if half == "pm" else 0)
        return Quantity(f"t:{hour:02}:00", number[1] + 1)
    return None


def _number(words: Sequence[str], at: int) -> tuple[str, int] | None:
    """Return the number that begins there, as digits, and where it ends."""
    word = words[at]
    if word[0] in _DIGITS:
        if word[-1] not in _DIGITS:
            match = _AMOUNT.fullmatch(word)
            if match and match[2] in _SHORT_SCALES:
                return _times(match[1].replace(",", ""), _SHORT_SCALES[match[2]]), at + 1
            return None
        if _GROUPED.fullmatch(word) or _PLAIN.fullmatch(word):
            digits = word.replace(",", "")
            if at + 1 < len(words) and words[at + 1] in quantity_words.SCALES:
                return _times(digits, quantity_words.SCALES[words[at + 1]]), at + 2
            return digits.lstrip("0") or "0", at + 1
        return None
    if word not in quantity_words.NUMBERS and not (
        word == "a" and at + 1 < len(words) and words[at + 1] in quantity_words.SCALES
    ):
        return None
    return _spelled(words, at)


def _spelled(words: Sequence[str], at: int) -> tuple[str, int]:
    total, current, start = 0, 0, at
    while at < len(words):
        word = words[at]
        if word == "a" and at == start:
            current = 1
        elif word in quantity_words.NUMBERS and (
            current % 100 == 0 or (current % 10 == 0 and quantity_words.NUMBERS[word] < 10)
        ):
            current += quantity_words.NUMBERS[word]
        elif word == "hundred" and current:
            current *= 100
        elif word in quantity_words.SCALES and current:
            total, current = total + current * quantity_words.SCALES[word], 0
        elif not (
            word == "and"
            and at > start
            and at + 1 < len(words)
            and words[at + 1] in quantity_words.NUMBERS
            and words[at - 1] in quantity_words.SCALES
        ):
            break
        at += 1
    return str(total + current), at


def _measured(words: Sequence[str], number: str, after: int) -> Quantity:
    following = words[after] if after < len(words) else ""
    if day := _day_of_month(words, after - 1, number):
        return day
    if following in quantity_words.CURRENCIES:
        return Quantity(f"{quantity_words.CURRENCIES[following]}:{number}", after + 1)
    if following in quantity_words.UNITS:
        dimension, factor = quantity_words.UNITS[following]
        return Quantity(f"{dimension}:{_times(number, factor)}", after + 1)
    return Quantity(f"n:{number}", after)


def glued(word: str) -> tuple[str, str] | None:
    """Return the number and the unit of a word that holds both: 5km, 30%."""
    match = _AMOUNT.fullmatch(word)
    if match and (match[2] in quantity_words.UNITS or match[2] in quantity_words.CURRENCIES):
        return match[1], match[2]
    return None


def version(word: str) -> str:
    """Return the number of a version, "" where the word is none."""
    match = _VERSION.fullmatch(word)
    return match[1] if match else ""


def _times(digits: str, factor: int | str) -> str:
    """Return the product in full: two numbers that differ stay different."""
    if len(digits) > _LONGEST or digits.count(".") > 1:
        return f"{digits} x {factor}"
    return f"{(Decimal(digits) * Decimal(factor)).normalize():f}"

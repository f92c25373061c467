"""Values out of words: what of a clause is the value, and what it is for a field of some type.

A value is taken only where the words leave one: "probably blue", "blue or green", "too long" and
"broken" are none.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any

from memtree.language.negation import denies
from memtree.language.word_file import WordFile
from memtree.memories.agents.slot_filling.field_names import singular, words
from memtree.memories.agents.slot_filling.schema_fields import FieldType, SchemaField
from memtree.memories.extraction.dates import DateKind, DateMention, dates
from memtree.memories.relation import quantity_words

_DATA = WordFile("en", "memory_values")

LONGEST, MOST_WORDS = 120, 10  # characters and words of a string
ITEMS = 20  # of a list

_STOP = _DATA.pattern("stop")
_TAIL = _DATA.pattern("tail")
_HEDGE = _DATA.pattern("hedge")
_NO_BEGIN = _DATA.pattern("no_begin")
_SAYS = re.compile(r" (?:is|are|was|were|has) ")  # another statement
_STATES = _DATA.words("states")
_NUMBER = re.compile(
    r"(?<![\w.,:/-])(?P<money>[$€£] ?)?(?P<digits>\d{1,3}(?:,\d{3})+"
    r"|\d{1,15})(?P<rest>\.\d{1,6})?"
    r"(?P<scale> ?(?:k|million|m)(?![\w.]))?(?P<unit> ?(?:[^\W\d_]{1,12}|%|€|\$|£|°))?"
    r"(?![\w/:.,-]*\d)"
)
_UNIT_OF = _DATA.by_word("units")
_MONEY = {"$": "usd", "€": "eur", "£": "gbp"}
_TRUE = _DATA.words("true")
_FALSE = _DATA.words("false")
_OR = re.compile(r"\bor\b")
_SIGNS = re.compile(r"(?<=[^\W_])[+#-]++(?!\w)")  # at the end of a word: "C++", "O-"
_AS_LETTERS = str.maketrans("+#-", "ᐩⵌー")  # so that they are of the word
_JOIN = _DATA.pattern("join")
_ARTICLE = re.compile(r"(?:an?|some|eine?n?|une?|una?|um|uma|een) (?=\S)", re.IGNORECASE)
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,63}){1,4}")
_URL = re.compile(
    r"https?://\S{3,500}|(?:www\.)?[\w-]{1,63}(?:\.[\w-]{2,63}){1,4}"
    r"(?:/\S{0,300})?"
)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)")
_COUNTED = {DateKind.RELATIVE, DateKind.WEEKDAY, DateKind.MONTH_DAY}
_PAST_FIELDS = _DATA.words("past_fields")


def value_end(lower: str, start: int) -> int:
    """Where a value that begins at `start` of a clause ends: before what says why, and before "now"
    and the like."""
    stop = _STOP.search(lower, start + 1)
    end = stop.start() if stop else len(lower)
    for tail in _TAIL.finditer(
        lower, start, end
    ):  # not `$`: each run would be read again and again
        if tail.end() == end:
            return tail.start()
    return end


def is_sound(lower: str, *, free: bool = False) -> bool:
    """Return True if words can be a value at all. `free`: whatever they say, but for doubts."""
    if not 0 < len(lower) <= LONGEST or len(lower.split()) > MOST_WORDS:
        return False
    if _HEDGE.search(lower) or _NO_BEGIN.match(lower) or _SAYS.search(lower):
        return False
    return free or lower not in _STATES


def fitted(field: SchemaField, text: str, said: date | None, *, listed: bool = True) -> Any:
    """The value of a field that words name; None where they name none, or not just one. `listed`:
    words joined by "and" are several for a list."""
    text = text.strip()
    lower = text.lower()
    if field.type is FieldType.STRINGS:
        return _items(field, text) if listed else None
    if field.type is FieldType.STRING:
        if field.choices:
            return choice(field.choices, lower)
        return _string(field, text, lower)
    if field.type in (FieldType.INTEGER, FieldType.NUMBER):
        return _numeric(field, lower)
    if field.type is FieldType.BOOLEAN:
        return _truth(lower)
    if field.type is FieldType.MOMENT:
        instant = _INSTANT.search(text)
        return instant.group().replace(" ", "T") if instant else None
    return day_of(field, text, said)


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
    kept = _SIGNS.sub(lambda match: match.group().translate(_AS_LETTERS), text)
    return [singular(word) for word in words(kept)]


def _within(wanted: list[str], said: list[str]) -> bool:
    size = len(wanted)
    return any(said[at : at + size] == wanted for at in range(len(said) - size + 1))


def _string(field: SchemaField, text: str, lower: str) -> str | None:
    if field.format == "email":
        match = _EMAIL.fullmatch(text)
        return text if match else None
    if field.format in ("uri", "url", "iri"):
        return text if _URL.fullmatch(text) else None
    if not is_sound(lower):
        return None
    bare = _ARTICLE.sub("", text, count=1) if _ARTICLE.match(text) else text
    return bare.strip(" \"'“”‘’«»*_") or None


def _items(field: SchemaField, text: str) -> list[str] | None:
    items: list[str] = []
    for part in _JOIN.split(text)[:ITEMS]:
        item = part.strip(" .,!\"'“”")
        if not item:
            continue
        lower = item.lower()
        if field.choices:
            chosen = choice(field.choices, lower)
            if chosen is None:
                return None
            item = chosen
        elif not is_sound(lower) or len(lower.split()) > 5:
            return None
        else:
            item = _ARTICLE.sub("", item, count=1) if _ARTICLE.match(item) else item
        if item not in items:
            items.append(item)
    return items or None


def number_in(lower: str) -> tuple[float, str] | None:
    """The one number that words say, with its unit ("" for none); None where there is more.

    >>> number_in("1,500 euros"), number_in("two kids"), number_in("72kg or 73kg")
    ((1500.0, 'eur'), (2.0, 'kids'), None)
    """
    matches = list(_NUMBER.finditer(lower))
    spelled = [word for word in re.findall(r"[^\W\d_]+", lower) if word in quantity_words.NUMBERS]
    if len(matches) + len(spelled) != 1:
        return None
    if spelled:
        said = re.search(rf"\b{spelled[0]}\b(?: ([^\W\d_]+))?", lower)
        unit = said[1] or "" if said else ""
        return float(quantity_words.NUMBERS[spelled[0]]), _UNIT_OF.get(unit, unit)
    match = matches[0]
    value = float(match["digits"].replace(",", "") + (match["rest"] or ""))
    scale = (match["scale"] or "").strip()
    if scale == "m" and not match["money"]:
        return value, "m"
    value *= {"k": 1_000, "million": 1_000_000, "m": 1_000_000}.get(scale, 1)
    unit = (match["unit"] or "").strip()
    if match["money"]:
        return value, _MONEY[match["money"].strip()]
    return value, _UNIT_OF.get(unit, unit)


def numbers_in(lower: str) -> set[float]:
    """All numbers that words say, in digits or spelled."""
    plain = {number[0] for match in _NUMBER.finditer(lower) if (number := number_in(match.group()))}
    spelled = re.findall(r"[^\W\d_]+", lower)
    return plain | {
        float(quantity_words.NUMBERS[word]) for word in spelled if word in quantity_words.NUMBERS
    }


_NOISE = _DATA.words("noise")


def _numeric(field: SchemaField, lower: str) -> int | float | None:
    quantity = number_in(lower)
    if quantity is None or re.search(
        r"\b(?:not|or|between|than|over|under|at least|at most)\b", lower
    ):
        return None
    value, unit = quantity
    rest = [
        word
        for word in re.findall(r"[^\W\d_]+", lower)
        if word not in quantity_words.NUMBERS
        and word not in _NOISE
        and _UNIT_OF.get(word, word) != unit
        and word not in ("k", "million")
    ]
    if rest:
        return None
    wanted = field_unit(field)
    if wanted and _UNIT_OF.get(unit) == unit != wanted:
        return None
    if (field.lowest is not None and value < field.lowest) or (
        field.highest is not None and value > field.highest
    ):
        return None
    if field.type is FieldType.INTEGER or value == int(value):
        return int(value) if value == int(value) and abs(value) < 2**53 else None
    return value


def field_unit(field: SchemaField) -> str:
    """The unit that a field's name tells, "" where it tells none."""
    for word in reversed(words(field.path[-1])):
        if word in ("in", "m", "s", "h", "mi") and len(words(field.path[-1])) == 1:
            return ""
        if word in _UNIT_OF and word not in ("year", "years", "day", "days", "month", "week"):
            return _UNIT_OF[word]
    return ""


def _truth(lower: str) -> bool | None:
    return True if lower in _TRUE else False if lower in _FALSE else None


def day_of(field: SchemaField, text: str, said: date | None) -> str | None:
    """The one day that words name, as ISO has it."""
    past = not _PAST_FIELDS.isdisjoint(words(field.path[-1]))
    mention = one_day(text, said, certain=past)
    return mention.day.isoformat() if mention and mention.day else None


_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_WEEKDAY = re.compile(rf"(?:on |this |coming )?({'|'.join(_WEEKDAYS)})")


def coming_day(text: str, said: date | None) -> date | None:
    """The only day that a text about what lies ahead names: a weekday is the next one, and so is a
    day without its year. "Next Friday" is said of two days, and is none.

    >>> coming_day("on Friday", date(2026, 3, 2)), coming_day("March 1", date(2026, 3, 2))
    (datetime.date(2026, 3, 6), datetime.date(2027, 3, 1))
    """
    days = [mention for mention in dates(text, said) if mention.kind is not DateKind.TIME]
    if len(days) != 1:
        return None
    if days[0].day is not None or said is None:
        return days[0].day
    named = text[days[0].start : days[0].end].lower()
    if days[0].kind is DateKind.WEEKDAY and (match := _WEEKDAY.fullmatch(named)):
        ahead = (_WEEKDAYS.index(match[1]) - said.weekday()) % 7
        return said + timedelta(ahead) if ahead else None
    if days[0].kind is DateKind.MONTH_DAY:
        for year in (said.year, said.year + 1):
            for whole in (f"{named}, {year}", f"{named} {year}"):
                candidates = [mention.day for mention in dates(whole) if mention.day is not None]
                if len(candidates) == 1 and candidates[0] >= said:
                    return candidates[0]
    return None


def one_day(text: str, said: date | None, *, certain: bool = False) -> DateMention | None:
    """The only day that a text names. `certain`: with its year."""
    days = [mention for mention in dates(text, said) if mention.kind is not DateKind.TIME]
    if len(days) != 1 or days[0].day is None:
        return None
    if days[0].kind is DateKind.DAY or (not certain and days[0].kind in _COUNTED):
        return days[0]
    return None

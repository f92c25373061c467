"""Check that the values which a model wrote were really said, and make memories of them.

What a model wrote is first read as a value for a field of some type. A value is taken only where
the words leave one: "blue or green" is none of a field with choices.

Then each value is checked for itself. It must stand in a sentence of the user's own words: as it
is, as a number or a day that the sentence names, or as a choice whose words stand there. The
sentence must be a statement of the user about themselves. Where it denies the value, or tells of
somebody else, the value is dropped.

At last the values of several messages that belong together become one memory. Of what a kind knows
of the user there is one memory in a conversation: a later mention wins, lists grow. A record of
another kind is a memory of its own. Where a stored memory of the kind is replaced, what it knows
and nobody mentions is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import Any, NamedTuple

from memtree.agents.memory_schema import KIND, MemorySchema, canonical
from memtree.agents.schema_prompt import (
    FieldType,
    KindFields,
    ModelRecord,
    Path,
    SchemaField,
    field_name,
    kind_fields,
    words,
)
from memtree.language.borders import denies
from memtree.language.word_file import WordFile
from memtree.memories.model_extraction import Grounds, ShownMessage, clause_of, grounds
from memtree.memories.relation import quantity_words
from memtree.statements import memory_gate
from memtree.statements.calendar_dates import DateKind, DateMention, dates
from memtree.statements.grammar import SkipReason
from memtree.statements.user_statements import lowered
from memtree.text.spans import Span
from memtree.tree import faithfulness

ITEMS = 50  # of a list that grows


@dataclass(frozen=True, slots=True)
class Finding:
    """Values that a message gives for a memory of this kind, by the path of their field, said in
    [start, end)."""

    kind: str
    values: tuple[tuple[Path, Any], ...]
    start: int
    end: int
    confidence: float


@dataclass(frozen=True, slots=True)
class StructuredCandidate:
    """A memory to be. `message`: index of the message that it was last found in; [start, end): the
    last place there. `earlier`: of the messages before that one that say something of it.
    `happened`: unix seconds."""

    kind: str
    data: Mapping[str, Any]
    message: int
    start: int
    end: int
    confidence: float
    alone: bool = False
    happened: float | None = None
    earlier: tuple[int, ...] = ()

    @property
    def messages(self) -> tuple[int, ...]:
        """All that say something of it."""
        return (*self.earlier, self.message)


def gathered(
    findings: Iterable[tuple[int, Finding]], schemas: Iterable[MemorySchema]
) -> list[StructuredCandidate]:
    """Findings with the index of their message, in order, as memories. `schemas`: of their kinds.
    Those of a profile are joined where none of its unique fields has another value; where it has no
    unique fields, no field at all."""
    by_kind = {schema.kind: schema for schema in schemas}
    made: list[StructuredCandidate] = []
    newest: dict[str, int] = {}  # where the memory of a kind stands that may grow
    for message, item in findings:
        data: dict[str, Any] = {}
        for path, value in item.values:
            inside = data
            for name in path[:-1]:
                inside = inside.setdefault(name, {})
            inside[path[-1]] = value
        schema = by_kind[item.kind]
        alone = schema.unique_on != (KIND,) and not kind_fields(schema).about_user
        new = StructuredCandidate(
            item.kind, data, message, item.start, item.end, item.confidence, alone
        )
        at = newest.get(item.kind)
        if alone or at is None or not _agree(made[at].data, data, schema.unique_on):
            if not alone:
                newest[item.kind] = len(made)
            made.append(new)
            continue
        old = made[at]
        made[at] = replace(
            new,
            data=merged(old.data, data),
            confidence=min(old.confidence, new.confidence),
            earlier=old.earlier if old.message == message else old.messages,
        )
    return made


def _agree(old: Mapping[str, Any], new: Mapping[str, Any], unique_on: Iterable[str]) -> bool:
    """Return True if two say nothing different: of the unique fields, or else of any."""
    names = set(unique_on) or set(old)
    for name in names & set(old) & set(new):
        before, value = old[name], new[name]
        if isinstance(before, dict) and isinstance(value, dict):
            if not _agree(before, value, ()):
                return False
        elif not (isinstance(before, list) and isinstance(value, list)) and before != value:
            return False
    return True


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Merge what both know; the new one wins, and lists of texts keep the old items, too."""
    result = dict(old)
    for name, value in new.items():
        before = result.get(name)
        if isinstance(value, dict) and isinstance(before, dict):
            result[name] = merged(before, value)
        elif isinstance(value, list) and isinstance(before, list):
            known = {_form(item) for item in before}
            result[name] = [*before, *(item for item in value if _form(item) not in known)][:ITEMS]
        else:
            result[name] = value
    return result


def same_data(data: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return True if two memories of one kind say the same, in whatever order."""
    return canonical(data) == canonical(other)


def lacking(data: Mapping[str, Any], required: Iterable[str]) -> list[str]:
    return sorted(name for name in required if name not in data)


def _form(item: Any) -> str:
    return item.casefold() if isinstance(item, str) else canonical(item)


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


CONFIDENCE = 0.8  # of a value that a model found and the text holds
ROOT = 3  # letters that are left of a word without its ending
_REFUSED = {SkipReason.QUESTION, SkipReason.HYPOTHETICAL, SkipReason.FICTION, SkipReason.LONG}
_OTHERS = _DATA.pattern("others")
# What a sentence names only to say that it is not so: "window, not aisle".
_CONTRAST = _DATA.pattern("contrast")
_OFF = re.compile(r"\b(?:off|disable\w*|stop\w*|without|unsubscribe\w*)\b")
_NEGATIVE, _SWITCH = _DATA.words("negative"), _DATA.words("switch")
_ENDINGS = ("ing", "ism", "ed", "er", "e")


class Believed(NamedTuple):
    """The part of a record that was said, None where that is nothing; `dropped`: values of it that
    were not said, or are of no field."""

    finding: Finding | None = None
    dropped: tuple[str, ...] = ()


def believed(
    record: ModelRecord, message: ShownMessage, kinds: Mapping[str, KindFields]
) -> Believed:
    """Return what of a record was said. Linear in the message and the record."""
    kind = kinds.get(record.kind)
    quote = grounds(message.text, message.spans, record.quote)
    if kind is None or quote is None or not _is_statement(message.text, quote.sentence):
        return Believed()
    fields = {field_name(field).lower(): field for field in kind.fields}
    fields |= {field.path[-1].lower(): field for field in reversed(kind.fields)}
    values: dict[Path, Any] = {}
    dropped: list[str] = []
    for name, text in record.values:
        field = fields.get(name.lower())
        value = None if field is None else _value(field, text, message, quote.sentence, kind)
        if field is None or value is None:
            dropped.append(text)
        elif field.type is FieldType.STRINGS:
            before = values.get(field.path, [])
            values[field.path] = [*before, *(item for item in value if item not in before)]
        elif values.setdefault(field.path, value) != value:
            dropped.append(text)
    if not values:
        return Believed()
    finding = Finding(kind.kind, tuple(values.items()), *quote.quote, CONFIDENCE)
    return Believed(finding, tuple(dropped))


def _value(
    field: SchemaField, text: str, message: ShownMessage, sentence: Span, kind: KindFields
) -> Any:
    """The value of a field, if the message says it: in the sentence that was quoted, or else in
    another one."""
    if faithfulness.injected(text, "") or faithfulness.meta(text, ""):
        return None
    value = fitted(field, text, message.said)
    if value is None:
        return None
    for span in (sentence, *(other for other in message.spans if other != sentence)):
        stated = _is_statement(message.text, span)
        if stated and _is_said(field, value, text, message, span, kind):
            return value
    return None


def _is_said(
    field: SchemaField,
    value: Any,
    text: str,
    message: ShownMessage,
    span: Span,
    kind: KindFields,
) -> bool:
    said = _CONTRAST.sub("", lowered(message.text[span.start : span.end]))
    if field.type is FieldType.BOOLEAN:
        return _is_true_or_not(field, value, said) and _is_own(said, kind)
    if field.type in (FieldType.INTEGER, FieldType.NUMBER):
        numbers = {number for number, unit in quantities(said) if takes_unit(field, unit)}
        return value in numbers and _is_own(said, kind) and not denies(said)
    if field.type is FieldType.DATE:
        days = days_of(message.text[slice(*span)], message.said, certain=is_past(field))
        said_days = {mention.day.isoformat() for mention in days if mention.day is not None}
        return value in said_days and _is_own(said, kind) and not denies(said)
    if field.choices:
        named = [value] if isinstance(value, str) else value
        chosen = all(_stand(signed_words(option), said) for option in named)
        return chosen and _is_own(said, kind) and not denies(said)
    place = grounds(message.text, [span], text) or _single(message.text, span, text)
    if place is None:
        return False
    clause = lowered(message.text[place.clause.start : place.clause.end])
    negative = not _NEGATIVE.isdisjoint(words(field.path[-1]))
    return (negative or not denies(clause)) and _is_own(clause, kind)


def _single(text: str, span: Span, value: str) -> Grounds | None:
    """The place of one word, which is no quotation."""
    at = lowered(text[span.start : span.end]).find(lowered(value))
    if not value or at < 0:
        return None
    start, end = span.start + at, span.start + at + len(value)
    before, after = text[max(span.start, start - 1) : start], text[end : end + 1]
    if before.isalnum() or after.isalnum():
        return None
    return Grounds(Span(start, end), clause_of(text, Span(start, end), span), span)


def _is_true_or_not(field: SchemaField, value: bool, said: str) -> bool:
    """All words of the field stand there, but for "has" and "enabled", and the sentence denies it
    if the value does."""
    named = words(field.path[-1])
    if not _stand([word for word in named if word not in _SWITCH] or named, said):
        return False
    return value is not bool(denies(said) or _OFF.search(said))


def _stand(wanted: list[str], said: str) -> bool:
    """Return True if words stand in a sentence, in whatever form: "smoker" for "smoking", but
    neither "vegetarian" for "vegetables" nor "C" for "C++"."""
    ours = {_root(word) for part in said.split() for word in signed_words(part)}
    return bool(wanted) and all(_root(word) in ours for word in wanted)


def _root(word: str) -> str:
    """Return the root of a word in the singular: without the ending that a verb or a doer has."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) >= len(ending) + ROOT:
            word = word.removesuffix(ending)
            break
    if len(word) > ROOT and word[-1] == word[-2]:
        word = word[:-1]
    return f"{word[:-1]}i" if word.endswith("y") else word


def _is_own(clause: str, kind: KindFields) -> bool:
    """Return True if a clause is about the user, where the kind is."""
    return not (kind.of_user and _OTHERS.search(clause))


def _is_statement(text: str, sentence: Span) -> bool:
    said = lowered(text[sentence.start : sentence.end]).rstrip("\"'”) ")
    # "Please remind me to ..." may speak to the assistant, but not override what it was told.
    if said.endswith(("?", "？")) or faithfulness.injected("", said, said):
        return False
    return memory_gate.refused(said) not in _REFUSED

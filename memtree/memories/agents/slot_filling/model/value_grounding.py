"""Check that the values which a model wrote were really said: each is believed for itself.

A value must stand in a sentence of the user's own words: as it is, as a number or a day that the
sentence names, or as a choice whose words stand there. The sentence must be a statement of the
user about themselves; where it denies the value, or tells of somebody else, the value is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from memtree.language.negation import denies
from memtree.language.word_file import WordFile
from memtree.memories.agents.slot_filling.field_names import spoken
from memtree.memories.agents.slot_filling.forms.records import RECORDS
from memtree.memories.agents.slot_filling.model.schema_prompt import field_name
from memtree.memories.agents.slot_filling.model.schema_reply import ModelRecord
from memtree.memories.agents.slot_filling.rule_reader import Finding
from memtree.memories.agents.slot_filling.schema_fields import (
    FieldType,
    KindFields,
    Path,
    SchemaField,
    switched,
)
from memtree.memories.agents.slot_filling.values import (
    fitted,
    numbers_in,
    signed_words,
)
from memtree.memories.extraction import gate
from memtree.memories.extraction.candidates import SkipReason
from memtree.memories.extraction.dates import dates
from memtree.memories.extraction.model.grounding import clause_of, grounds
from memtree.memories.extraction.model.prompt import ShownMessage
from memtree.memories.extraction.own_sentences import lowered
from memtree.summaries.checks import prompt_injection
from memtree.text.spans import Span

_DATA = WordFile("en", "memory_value_grounding")

CONFIDENCE = 0.8  # of a value that a model found and the text holds
ROOT = 3  # letters that are left of a word without its ending
_REFUSED = {SkipReason.QUESTION, SkipReason.HYPOTHETICAL, SkipReason.FICTION, SkipReason.LONG}
_OTHERS = _DATA.pattern("others")
# What a sentence names only to say that it is not so: "window, not aisle".
_CONTRAST = _DATA.pattern("contrast")
_OFF = re.compile(r"\b(?:off|disable\w*|stop\w*|without|unsubscribe\w*)\b")
_NEGATIVE = _DATA.words("negative")
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
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
            continue
        if field.type is not FieldType.STRINGS and values.setdefault(field.path, value) != value:
            dropped.append(text)
            continue
        if field.type is FieldType.STRINGS:
            before = values.get(field.path, [])
            values[field.path] = [*before, *(item for item in value if item not in before)]
        else:
            values[field.path] = value
    if not values:
        return Believed()
    start, end = quote.quote
    return Believed(
        Finding(kind.kind, tuple(values.items()), start, end, CONFIDENCE, alone=_alone(kind)),
        tuple(dropped),
    )


def _alone(kind: KindFields) -> bool:
    """Return True if each record of a kind is a memory of its own: unless a scope has one memory of
    it, or it is a profile of the user."""
    return not (kind.single or kind.about_user)


def _value(
    field: SchemaField, text: str, message: ShownMessage, sentence: Span, kind: KindFields
) -> Any:
    """The value of a field, if the message says it: in the sentence that was quoted, or else in
    another one."""
    if prompt_injection.injected(text, "") or prompt_injection.meta(text, ""):
        return None
    value = fitted(field, text, message.said)
    if value is None and field.type is FieldType.STRING and not field.choices:
        value = text  # what rules take for no value may be one: "hire somebody", "not decided"
    if value is None:
        return None
    for span in (sentence, *(other for other in message.spans if other != sentence)):
        if not _is_statement(message.text, span):
            continue
        if _is_said(field, value, text, message, span, kind):
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
        return value in numbers_in(said) and _is_own(said, kind) and not denies(said)
    if field.type is FieldType.DATE or (isinstance(value, str) and _ISO.fullmatch(value)):
        return value in _days(message, span) and _is_own(said, kind) and not denies(said)
    if field.choices:
        named = [value] if isinstance(value, str) else value
        chosen = all(_is_chosen(option, said) for option in named)
        return chosen and _is_own(said, kind) and not denies(said)
    place = grounds(message.text, [span], text) or _single(message.text, span, text)
    if place is None:
        return False
    clause = lowered(message.text[place.clause.start : place.clause.end])
    negative = not _NEGATIVE.isdisjoint(spoken(field.path[-1]).split())
    return (negative or not denies(clause)) and _is_own(clause, kind)


class _Grounds(NamedTuple):
    quote: Span
    clause: Span
    sentence: Span


def _single(text: str, span: Span, value: str) -> _Grounds | None:
    """The place of one word, which is no quotation."""
    at = lowered(text[span.start : span.end]).find(lowered(value))
    if not value or at < 0:
        return None
    start, end = span.start + at, span.start + at + len(value)
    before, after = text[max(span.start, start - 1) : start], text[end : end + 1]
    if before.isalnum() or after.isalnum():
        return None
    return _Grounds(Span(start, end), clause_of(text, Span(start, end), span), span)


def _is_true_or_not(field: SchemaField, value: bool, said: str) -> bool:
    """All words of the field stand there, but for "has" and "enabled", and the sentence denies it
    if the value does."""
    if not _stand(switched(field.path[-1]), said):
        return False
    return value is not bool(denies(said) or _OFF.search(said))


def _is_chosen(option: str, said: str) -> bool:
    return _stand(signed_words(option), said)


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
    if not RECORDS["person"].isdisjoint(kind.words) or not RECORDS["pet"].isdisjoint(kind.words):
        return True
    return not (kind.of_user and _OTHERS.search(clause))


def _is_statement(text: str, sentence: Span) -> bool:
    said = lowered(text[sentence.start : sentence.end]).rstrip("\"'”) ")
    # "Please remind me to ..." may speak to the assistant, but not override what it was told.
    if said.endswith(("?", "？")) or prompt_injection.injected("", said, said):
        return False
    return gate.refused(said) not in _REFUSED


def _days(message: ShownMessage, span: Span) -> set[str]:
    """The days that a sentence names, as ISO has them."""
    mentions = dates(message.text[span.start : span.end], message.said)
    return {mention.day.isoformat() for mention in mentions if mention.day is not None}

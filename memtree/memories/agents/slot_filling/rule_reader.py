"""Structured memories of one message of the user, by rules.

A field is filled where a statement calls it by its name ("my favorite color is blue"), has a form
that means it ("I live in Graz" for `city`), or puts one of its choices beside it ("dark mode").
Every value stands in the text, or is its number, its day, or the choice that it names. What fits no
field is left out, with the reason.

    >>> document = '{"properties": {"favoriteColor": {"type": "string"}}}'
    >>> schema = MemorySchema("UserProfile", document)
    >>> read("My favorite color is blue.", [kind_fields(schema)]).findings[0].values
    ((('favoriteColor',), 'blue'),)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from memtree.memories.agents.schemas.memory_schema import MemorySchema
from memtree.memories.agents.slot_filling.field_claims import Claim, RecordClaim
from memtree.memories.agents.slot_filling.forms.lexicon import PROFESSIONS
from memtree.memories.agents.slot_filling.forms.named_fields import named
from memtree.memories.agents.slot_filling.forms.other_languages import meant_abroad
from memtree.memories.agents.slot_filling.forms.records import PERSON, RECORDS, records
from memtree.memories.agents.slot_filling.forms.self_statements import meant
from memtree.memories.agents.slot_filling.forms.truths import truths
from memtree.memories.agents.slot_filling.schema_fields import (
    FieldType,
    KindFields,
    Path,
    SchemaField,
    kind_fields,
)
from memtree.memories.agents.slot_filling.text_kinds import text_confidence, text_kind
from memtree.memories.agents.slot_filling.user_statements import Statement, statements
from memtree.memories.agents.slot_filling.values import choice, fitted, is_sound
from memtree.memories.extraction.candidates import Skip
from memtree.memories.extraction.rule_extraction import extract
from memtree.text.spans import Span

__all__ = ["Finding", "MemorySchema", "MessageFindings", "kind_fields", "read"]

FINDINGS = 60  # of a message
NO_SCHEMA, NO_VALUE = "no_schema", "no_value"
_PROPER = frozenset(
    "name first_name last_name city country location origin employer school".split()
)


@dataclass(frozen=True, slots=True)
class Finding:
    """Values that a statement gives for a memory of this kind, by the path of their field. `alone`:
    it is a memory of its own; else it belongs to what else is said of its kind."""

    kind: str
    values: tuple[tuple[Path, Any], ...]
    start: int
    end: int
    confidence: float
    alone: bool = False


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A sentence of which nothing was made: [start, end) of the message, and why."""

    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class MessageFindings:
    """Findings in one message, and the sentences that fit nothing."""

    findings: tuple[Finding, ...] = ()
    skipped: tuple[LeftOut, ...] = ()


def read(
    text: str, kinds: Sequence[KindFields], said: date | None = None, *, fiction: bool = False
) -> MessageFindings:
    """Read what in a message fits the kinds. `said`: the day it was said. `fiction`: a role-play
    began before it. Linear."""
    stated, skips = statements(text, in_play=fiction)
    findings: list[Finding] = []
    used: set[tuple[int, int]] = set()
    for item in stated:
        fitting = list(_findings(item, kinds, said))[: FINDINGS - len(findings)]
        findings += fitting
        if fitting:
            used.add(item.sentence)
    findings += _notes(text, kinds, said, fiction, findings)[: FINDINGS - len(findings)]
    used |= {item.sentence for item in stated for each in findings if _overlap(item.sentence, each)}
    unused = dict.fromkeys(item.sentence for item in stated if item.sentence not in used)
    skipped = [_left(skip) for skip in skips]
    skipped += [LeftOut(start, end, NO_SCHEMA) for start, end in unused]
    skipped.sort(key=lambda skip: (skip.start, skip.end))
    return MessageFindings(tuple(findings), tuple(skipped))


def _overlap(sentence: Span, finding: Finding) -> bool:
    return sentence.start < finding.end and finding.start < sentence.end


def _notes(
    text: str,
    kinds: Sequence[KindFields],
    said: date | None,
    fiction: bool,
    findings: Sequence[Finding],
) -> list[Finding]:
    """Sentences worth keeping, for kinds that take a text and no more: of what other kinds do not
    take."""
    takers = [(kind, taken) for kind in kinds if (taken := text_kind(kind)) is not None]
    if not takers:
        return []
    made: list[Finding] = []
    for note in extract(text, said, fiction=fiction).candidates:
        if any(note.start < other.end and other.start < note.end for other in findings):
            continue
        for kind, taken in takers:
            if note.category in taken.categories:
                values: tuple[tuple[Path, Any], ...] = ((taken.text.path, note.text),)
                if taken.category is not None:
                    named = choice(taken.category.choices, note.category)
                    if named is None:
                        continue
                    values += ((taken.category.path, named),)
                sure = text_confidence(note.text, note.category)
                made.append(Finding(kind.kind, values, note.start, note.end, sure, alone=True))
                break
    return made


def _left(skip: Skip) -> LeftOut:
    return LeftOut(skip.start, skip.end, str(skip.reason))


def _findings(said: Statement, kinds: Sequence[KindFields], day: date | None) -> Iterator[Finding]:
    things = list(records(said, day))
    claims = [] if said.code else [*named(said), *meant(said), *truths(said), *meant_abroad(said)]
    for kind in kinds:
        thing = next((candidate for candidate in things if _is_of(kind, candidate)), None)
        if thing is not None:
            made = _recorded(kind, thing)
            if made is not None:
                yield made
                continue
        taken: set[Path] = set()
        for claim in claims:
            for field in _fields(kind, claim):
                if field.path in taken:
                    continue
                value = _value(field, claim, said, day)
                if value is not None:
                    taken.add(field.path)
                    yield Finding(
                        kind.kind, ((field.path, value),), claim.start, claim.end, claim.confidence
                    )


def _fields(kind: KindFields, claim: Claim) -> tuple[SchemaField, ...]:
    """The fields that a claim is of: those of the first of its names that the kind has."""
    for name in claim.names:
        fields = [field for field in kind.by_name.get(name, ()) if field.type in claim.types]
        if name.startswith("~") and not claim.wished:
            fields = [field for field in fields if field.choices]
        if fields:
            return tuple(fields) if name.startswith("@") else (fields[0],)
    return ()


def _value(field: SchemaField, claim: Claim, said: Statement, day: date | None) -> Any:
    if claim.truth is not None:
        return claim.truth if field.type is FieldType.BOOLEAN else None
    text = claim.text.strip(" \t\n\"'“”.,;:!")
    if not text:
        return None
    if field.type is FieldType.STRING and not field.choices and not claim.right:
        if field.topics & _PROPER and not _looks_proper(text, said):
            return None
        if _is_state(text, field) or not _is_trade(text, field, claim):
            return None
    if claim.items:
        listed = field.type is FieldType.STRINGS and not field.choices
        return list(claim.items) if listed else claim.items[0] if len(claim.items) == 1 else None
    if field.type is FieldType.STRINGS and not claim.listed:
        return [text] if is_sound(text.lower()) and not field.choices else None
    return fitted(field, text, day)


def _looks_proper(text: str, said: Statement) -> bool:
    """Return True if it is written as a name is, or by somebody who writes all in small letters."""
    if len(text.split()) > 6:
        return False
    return text[0].isupper() or text[0].isdigit() or said.text == said.lower


def _is_state(text: str, field: SchemaField) -> bool:
    """ "my editor is crashing": what somebody does, and no value."""
    first = text.lower().split()[0]
    if first.endswith("ing") and not field.topics & {"hobby", "likes", "title"}:
        return "goal" not in field.phrases and len(first) > 4
    return False


def _is_trade(text: str, field: SchemaField, claim: Claim) -> bool:
    """ "my job is stressful": what is called job is one where a word for a trade is said, or where
    it is written as a title."""
    if "occupation" not in field.topics or claim.names[0] in field.phrases:
        return True
    return text.lower().split()[-1] in PROFESSIONS


def _is_of(kind: KindFields, thing: RecordClaim) -> bool:
    return not RECORDS[thing.record].isdisjoint(kind.words)


def _recorded(kind: KindFields, thing: RecordClaim) -> Finding | None:
    """A thing as a memory of a kind; None where the kind has no field for what it is."""
    parts = dict(thing.parts)
    values: list[tuple[Path, Any]] = []
    taken: set[Path] = set()

    def put(topics: tuple[str, ...], text: str, *, iso: bool = False) -> bool:
        for topic in topics:
            for field in kind.fields:
                if field.path in taken or len(field.path) > 1 or topic not in field.topics:
                    continue
                value = _part(field, text, iso)
                if value is not None:
                    taken.add(field.path)
                    values.append((field.path, value))
                    return True
        return False

    if thing.day is not None:
        put(("due", "date"), thing.day.isoformat(), iso=True)
    elif thing.day_text:
        put(("due", "date"), thing.day_text)
    if thing.record == PERSON and not {"name", "relation"} <= {
        topic for field in kind.fields for topic in field.topics
    }:
        return None
    for topic in ("name", "species", "relation", "title", "place", "age"):
        if topic in parts and not put((topic,), parts[topic]) and topic in ("name", "title"):
            return None
    if "priority" in parts:
        for field in kind.fields:
            if field.path[-1].lower() == "priority" and field.choices:
                value = fitted(field, parts["priority"], None)
                if value is not None:
                    values.append((field.path, value))
    if not values:
        return None
    return Finding(kind.kind, tuple(values), thing.start, thing.end, thing.confidence, alone=True)


def _part(field: SchemaField, text: str, iso: bool) -> Any:
    if iso:
        days = field.type is FieldType.DATE
        return text if days or (field.type is FieldType.STRING and not field.choices) else None
    if field.type is FieldType.STRING:
        return fitted(field, text, None) if field.choices else text
    numeric = field.type in (FieldType.INTEGER, FieldType.NUMBER)
    return fitted(field, text, None) if numeric else None

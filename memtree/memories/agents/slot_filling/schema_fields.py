"""Fields of a schema that rules can fill: what values they take, and what they are called.

Read are the fields of the outermost object, and those of objects right within it; of each its type,
its choices and bounds. What is made of several alternatives is read where but one is not null, as
optional fields are written. All else is left alone: whoever checks a memory against its schema says
whether it is right without.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from memtree.language.word_file import WordFile
from memtree.memories.agents.schemas.memory_schema import KIND, MemorySchema
from memtree.memories.agents.slot_filling.field_names import (
    singular,
    spoken,
    topics,
    words,
)

_DATA = WordFile("en", "memory_schema_fields")

FIELDS = 120  # of a schema that are read
CHOICES = 60  # of a field that are read
LONGEST_NAME = 4  # words of a description that are another name


class FieldType(enum.StrEnum):
    STRING = "string"
    DATE = "date"
    MOMENT = "date-time"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    STRINGS = "strings"


Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SchemaField:
    """`path`: one name, or two where it is inside of an object. `choices`: of an enumeration; of
    `STRINGS`, what its items may be. `phrases`: how it is called, as `spoken` gives it."""

    path: Path
    type: FieldType
    phrases: tuple[str, ...]
    choices: tuple[str, ...] = ()
    lowest: float | None = None
    highest: float | None = None
    format: str = ""

    @property
    def topics(self) -> set[str]:
        return {topic for phrase in self.phrases for topic in topics(phrase)}


@dataclass(frozen=True, slots=True)
class KindFields:
    """A kind as rules see it. `words`: of its name, singular. `about_user`: it is a profile of the
    user; `of_user`: it may be, since it names no other thing. `single`: one memory in a scope."""

    kind: str
    words: tuple[str, ...]
    fields: tuple[SchemaField, ...]
    required: frozenset[str]
    unique_on: tuple[str, ...] = ()
    about_user: bool = False
    of_user: bool = False
    by_name: Mapping[str, tuple[SchemaField, ...]] = field(default_factory=dict)

    @property
    def single(self) -> bool:
        return set(self.unique_on) == {KIND}


_USER = _DATA.words("user")
# A kind of this name is of the user, though its fields may be called like those of other things.
_SIDES = _DATA.words("sides")
# Kinds of this name are of things that the user's words are not about.
_THINGS = _DATA.words("things")
# What a thing of any kind may have.
_COMMON = _DATA.words("common")


@lru_cache(maxsize=512)
def kind_fields(schema: MemorySchema) -> KindFields:
    """The fields of a schema; none where its document is not read."""
    try:
        document = json.loads(schema.document)
    except (ValueError, RecursionError):
        document = {}
    document = document if isinstance(document, dict) else {}
    root = _resolved(document, document)
    names = tuple(singular(word) for word in words(schema.kind))
    about = not _USER.isdisjoint(names) or _of_the_user(schema.description)
    sides = about or not _SIDES.isdisjoint(names)
    fields = tuple(_fields(root, document))[:FIELDS]
    required = root.get("required")
    made = KindFields(
        schema.kind,
        names,
        fields,
        frozenset(name for name in required if isinstance(name, str))
        if isinstance(required, list)
        else frozenset(),
        schema.unique_on,
        about,
        sides,
    )
    return replace(made, by_name=_by_name(made))


def _of_the_user(description: str) -> bool:
    lower = description[:500].lower()
    return "the user" in lower and "user's" not in lower


def _fields(root: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[SchemaField]:
    for name, below in _properties(root):
        part = _resolved(below, document)
        if part.get("type") == "object":
            for inner, deeper in _properties(part):
                made = _field((name, inner), _resolved(deeper, document), document)
                if made is not None:
                    yield made
        else:
            made = _field((name,), part, document)
            if made is not None:
                yield made


def _properties(part: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    properties = part.get("properties")
    if isinstance(properties, dict):
        yield from list(properties.items())[:FIELDS]


def _field(path: Path, part: Mapping[str, Any], document: Mapping[str, Any]) -> SchemaField | None:
    type_ = _type(part)
    if type_ is None:
        return None
    of = part
    if type_ is FieldType.STRINGS:
        of = _resolved(part.get("items"), document)
        if _type(of) is not FieldType.STRING:
            return None
    choices = of.get("enum")
    texts = (
        tuple(one for one in choices if isinstance(one, str)) if isinstance(choices, list) else ()
    )
    if isinstance(choices, list) and (len(texts) != len(choices) or not texts):
        texts = tuple(text for text in texts if text)
        if not texts:
            return None
    return SchemaField(
        path,
        type_,
        _phrases(path, part),
        texts[:CHOICES],
        _number(part.get("minimum")),
        _number(part.get("maximum")),
        str(part.get("format", ""))[:20],
    )


def _type(part: Mapping[str, Any]) -> FieldType | None:
    if "const" in part:
        return None
    named = part.get("type")
    if isinstance(named, list):
        others = [name for name in named if name != "null"]
        named = others[0] if len(others) == 1 else None
    choices = part.get("enum")
    if named is None and isinstance(choices, list) and choices:
        named = "string" if any(isinstance(choice, str) for choice in choices) else None
    if named == "array":
        return FieldType.STRINGS
    if named == "string":
        format_ = part.get("format")
        if format_ == "date":
            return FieldType.DATE
        if format_ == "date-time":
            return FieldType.MOMENT
        return None if format_ in ("time", "duration", "uuid", "binary") else FieldType.STRING
    return {
        "integer": FieldType.INTEGER,
        "number": FieldType.NUMBER,
        "boolean": FieldType.BOOLEAN,
    }.get(named if isinstance(named, str) else "")


def _resolved(part: Any, document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Resolve a part of a schema that is a reference, or an alternative to null."""
    for _ in range(4):
        if not isinstance(part, dict):
            return {}
        reference = part.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/$defs/"):
            defs = document.get("$defs")
            part = defs.get(reference[8:]) if isinstance(defs, dict) else None
            continue
        either = part.get("anyOf") or part.get("oneOf")
        if isinstance(either, list) and "type" not in part:
            others = [
                one for one in either if not (isinstance(one, dict) and one.get("type") == "null")
            ]
            if len(others) != 1:
                return {}
            part = others[0]
            continue
        return part
    return {}


def _number(value: Any) -> float | None:
    good = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if good and abs(value) < 1e15 else None


def _phrases(path: Path, part: Mapping[str, Any]) -> tuple[str, ...]:
    """The field's name, its title, and a short description that is but another name."""
    phrases = [spoken(path[-1])]
    if len(path) > 1:
        phrases.append(spoken(" ".join(path)))
    for key in ("title", "description"):
        description = part.get(key)
        if isinstance(description, str) and len(description) <= 60:
            phrase = spoken(description.strip().rstrip("."))
            if 0 < len(phrase.split()) <= LONGEST_NAME:
                phrases.append(phrase)
    first, _, last = phrases[0].rpartition(" ")
    if last in _UNITS and first:
        phrases.append(first.removesuffix(" in"))
    return tuple(dict.fromkeys(phrase for phrase in phrases if phrase))


_UNITS = _DATA.words("units")


def _by_name(kind: KindFields) -> dict[str, tuple[SchemaField, ...]]:
    """Fields by what people call them when they speak of themselves: the name alone where the kind
    is the user's, else with the kind's before it ("my dog's name")."""
    by_phrase: dict[str, tuple[SchemaField, ...]] = {}

    def put(key: str, schema_field: SchemaField) -> None:
        if key and schema_field not in by_phrase.get(key, ()):
            by_phrase[key] = (*by_phrase.get(key, ()), schema_field)

    for schema_field in kind.fields:
        common = all(set(phrase.split()) <= _COMMON for phrase in schema_field.phrases)
        own = kind.about_user or (kind.of_user and (len(schema_field.path) > 1 or not common))
        # What only one thing may have is called by its name alone, whatever the kind is called.
        named = own or (not common and _THINGS.isdisjoint(kind.words))
        for phrase in schema_field.phrases:
            put(f"{' '.join(kind.words)} {phrase}", schema_field)
            if kind.words:
                put(f"{kind.words[-1]} {phrase}", schema_field)
            if named:
                put(phrase, schema_field)
                put(f"~{bare(phrase)}", schema_field)
        if own:
            for topic in sorted(schema_field.topics):
                put(f"@{topic}", schema_field)
            if schema_field.type is FieldType.BOOLEAN:
                for key in _truth_keys(schema_field.path[-1]):
                    put(key, schema_field)
    return by_phrase


_HAS, _IS = frozenset("has have owns own got".split()), frozenset("is are am be".split())
_ON = _DATA.words("on")


def _truth_keys(name: str) -> list[str]:
    """How people say of themselves that a field is true: `is:`, `has:`, `does:`, `on:`."""
    parts = words(name)
    first, rest = parts[0] if parts else "", [singular(word) for word in parts[1:]]
    if first in _IS and rest:
        keys = [f"is:{' '.join(rest)}", f"does:{' '.join([stem(rest[0]), *rest[1:]])}"]
        return [*keys, f"on:{' '.join(word for word in rest if word not in _ON)}"]
    if first in _HAS and rest:
        return [f"has:{' '.join(rest)}"]
    whole = [singular(word) for word in parts]
    kept = [word for word in whole if word not in _ON]
    keys = [f"on:{' '.join(kept)}", f"is:{' '.join(whole)}"]
    if len(kept) == len(whole):
        keys.append(f"does:{' '.join([stem(whole[0]), *whole[1:]])}")
    return keys


_SMALL = _DATA.words("small")


def switched(name: str) -> list[str]:
    """Return what a truth is about, without the words that only say that it is one.

    >>> switched("isSmoker"), switched("emailNotificationsEnabled"), switched("enabled")
    (['smoker'], ['email', 'notification'], ['enabled'])
    """
    whole = [singular(word) for word in words(name)]
    empty = _IS | _HAS | _ON | _SMALL
    return [word for word in whole if word not in empty] or whole


def stem(verb: str) -> str:
    """One form for "smoke", "smokes" and "smoker"."""
    word = singular(verb)
    for end in ("er", "e"):
        if word.endswith(end) and len(word) > len(end) + 2:
            return word[: -len(end)]
    return word


_ATTRIBUTES = _DATA.words("attributes")


_SAME = _DATA.table("same")


def bare(phrase: str) -> str:
    """ "seat preference" -> "seat": how it is called beside a word of preference."""
    kept = [word for word in phrase.split() if word not in _ATTRIBUTES] or phrase.split()
    return " ".join(_SAME.get(word, word) for word in kept)

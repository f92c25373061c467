"""Fields of a schema that a model is asked for: what values they take.

Read are the fields of the outermost object, and those of objects right within it; of each its type
and its choices. What is made of several alternatives is read where but one is not null, as optional
fields are written. All else is left alone: whoever checks a memory against its schema says whether
it is right without.
"""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from memtree.agents.schemas_memory_schema import MemorySchema
from memtree.language.word_file import WordFile

_DATA = WordFile("en", "memory_value_grounding")

FIELDS = 120  # of a schema that are read
CHOICES = 60  # of a field that are read
READ = 200  # characters of a name
_PROFILE, _OF_USER = _DATA.words("profile"), _DATA.words("profile", "of_user")
_OF_OTHERS = _DATA.words("of_others")
_BORDER = re.compile(
    r"(?<=[a-z0-9ß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-ZÀ-ÖØ-Þ])(?=[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ])"
)
_WORD = re.compile(r"[^\W_]+")
_IRREGULAR = {"children": "child", "people": "person"}


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
    `STRINGS`, what its items may be."""

    path: Path
    type: FieldType
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KindFields:
    """A kind as a model is asked for it. `about_user`: it is a profile of the user; `of_user`: what
    it tells is the user's, and of nobody else."""

    kind: str
    fields: tuple[SchemaField, ...]
    required: frozenset[str]
    about_user: bool = False
    of_user: bool = False


@lru_cache(maxsize=512)
def kind_fields(schema: MemorySchema) -> KindFields:
    """The fields of a schema; none where its document is not read."""
    try:
        document = json.loads(schema.document)
    except (ValueError, RecursionError):
        document = {}
    document = document if isinstance(document, dict) else {}
    root = _resolved(document, document)
    names = set(words(schema.kind))
    about = not _PROFILE.isdisjoint(names) or _of_the_user(schema.description)
    others = not _OF_OTHERS.isdisjoint(names)
    required = root.get("required")
    return KindFields(
        schema.kind,
        tuple(_fields(root, document))[:FIELDS],
        frozenset(name for name in required if isinstance(name, str))
        if isinstance(required, list)
        else frozenset(),
        about and not others,
        (about or not _OF_USER.isdisjoint(names)) and not others,
    )


def words(name: str) -> list[str]:
    """The words of an identifier or a phrase, in lower case and in the singular. Linear.

    >>> words("emailNotificationsEnabled"), words("hasChildren")
    (['email', 'notification', 'enabled'], ['has', 'child'])
    """
    plain = _WORD.findall(_BORDER.sub(" ", name[:READ].replace("'s ", " ")).lower())
    return [_singular(word) for word in plain]


def _singular(word: str) -> str:
    """A crude singular: both sides of a comparison get the same."""
    if word in _IRREGULAR or len(word) < 4:
        return _IRREGULAR.get(word, word)
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


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
        texts[:CHOICES],
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

"""Define a schema of structured memories and the port of its store, and read its text strictly.

A schema may name fields that are to be unique: memories of its kind with equal values in them are
the same one. Values are equal as JSON values after NFC: the order of an object's fields means
nothing, 1 and 1.0 are one number, "1" and 1 are two values, upper and lower case differ. A field
that is missing or null is not unique, as in a database: such a memory takes no other's place.

`parsed` refuses a text that two readers could take for two schemas. It raises `SchemaInvalid`,
which says what is wrong or which limit it is over.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from heapq import nlargest
from itertools import islice
from typing import Any, NoReturn, Protocol

from memtree.errors import BadRequest, SchemaInvalid
from memtree.text.normal_form import nfc

MAX_SCHEMAS = 50  # of a tenant
KIND = "kind"  # in `unique_on`: one memory of this kind in a scope
KIND_PATTERN = r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,63}"
KIND_RULE = "must be 1 to 64 of the characters A-Z a-z 0-9 _ . - and begin with none of . -"

_KIND = re.compile(KIND_PATTERN)


@dataclass(frozen=True, slots=True)
class MemorySchema:
    """`document`: the JSON Schema (draft 2020-12) as JSON text. `unique_on`: names of top-level
    fields whose values only one live memory of a scope may have. Times are unix seconds."""

    kind: str
    document: str
    unique_on: tuple[str, ...] = ()
    description: str = ""
    created: float = 0.0
    updated: float = 0.0


def same_content(one: MemorySchema, other: MemorySchema) -> bool:
    """Whatever their times.

    >>> same_content(MemorySchema("Shoe", "{}", updated=1.0), MemorySchema("Shoe", "{}"))
    True
    """
    return replace(one, created=0.0, updated=0.0) == replace(other, created=0.0, updated=0.0)


def checked_kind(value: object, name: str) -> str:
    """The name of a kind. Raises `BadRequest` naming the field. It stands in paths, so it begins
    with a letter, a digit or `_`: `.` and `..` mean something there.

    >>> checked_kind("UserProfile", "kind")
    'UserProfile'
    """
    if not isinstance(value, str) or not _KIND.fullmatch(value):
        raise BadRequest(f"{name} {KIND_RULE}", param=name)
    return value


UniqueKey = Callable[[Mapping[str, Any]], bytes]


class SchemaStore(Protocol):
    """Raises as `MemoryStore` does."""

    async def schemas(self, tenant: str) -> list[MemorySchema]:
        """By kind."""
        ...

    async def put_schema(
        self,
        tenant: str,
        schema: MemorySchema,
        unique_key: UniqueKey,
        *,
        most: int,
        once: bool = False,
        expected: MemorySchema | None = None,
    ) -> bool:
        """Keep it, or replace the one of its kind (whose `created` stays; with `once` that one
        stays, and nothing changes); whether it is new. With `expected` it only replaces one whose
        document, unique fields and description are those: otherwise `VersionConflict`.
        `Conflict` where the tenant has `most` others. `unique_key`: of the data of a memory, b""
        for none: where other fields are to be unique, the unique values of the kind's live memories
        are made anew in the same step; of those with equal ones the newest holds them, and all stay
        live. Whoever stores one meanwhile does so before it or after it."""
        ...

    async def delete_schema(self, tenant: str, kind: str) -> bool:
        """Delete the schema; return True if there was one. Its memories stay; their unique values
        go."""
        ...


KEY_BYTES = 16


def unique_key(schema: MemorySchema, data: Mapping[str, Any]) -> bytes:
    """Equal for memories of which a scope may hold one; b"" where nothing is unique."""
    if not schema.unique_on:
        return b""
    names = sorted(set(schema.unique_on) - {KIND})
    if any(data.get(name) is None for name in names):
        return b""
    parts = [schema.kind, *(part for name in names for part in (name, canonical(data[name])))]
    said = json.dumps(parts, ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(said.encode(), digest_size=KEY_BYTES).digest()


def canonical(value: Any) -> str:
    """One text for all ways to write a JSON value.

    >>> canonical({"b": 1.0, "a": [True, "e\\u0301"]}) == canonical({"a": [True, "\\xe9"], "b": 1})
    True
    """
    if isinstance(value, Mapping):
        rows = sorted((_text(name), canonical(inner)) for name, inner in value.items())
        return "{" + ",".join(f"{name}:{inner}" for name, inner in rows) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(canonical(inner) for inner in value) + "]"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value)


def _text(value: str) -> str:
    return json.dumps(nfc(value), ensure_ascii=True)


NEAR = 0.6  # share of the letters of two names that match in order
MOST_LETTERS = 64  # of a name that are compared
MOST_NAMES = 200
MOST_COMPARED = 8  # in order: those that share the most letters
_LEFT_OUT = dict.fromkeys(map(ord, "_.-"))


def nearest_kind(kind: str, known: Iterable[str]) -> str | None:
    """The one that matches best, upper and lower case and `_ . -` aside; None where none is near.
    Of equally near ones the first by name.

    >>> nearest_kind("user_profile", ["Reminder", "UserProfile"])
    'UserProfile'
    """
    matcher = SequenceMatcher(b=_plain(kind), autojunk=False)

    def to(name: str) -> SequenceMatcher[str]:
        matcher.set_seq1(_plain(name))
        return matcher

    names = islice(sorted(known), MOST_NAMES)
    likely = nlargest(MOST_COMPARED, names, key=lambda name: to(name).quick_ratio())
    best = max(sorted(likely), key=lambda name: to(name).ratio(), default="")
    return best if best and to(best).ratio() >= NEAR else None


def _plain(name: str) -> str:
    return name[:MOST_LETTERS].lower().translate(_LEFT_OUT)


MAX_BYTES = 16_000  # of the text, in UTF-8
MAX_NESTING = 64  # objects and arrays in each other, values of `enum` and `const` included

_LEAST, _MOST = -(2**63), 2**64 - 1  # integers that every part of the store can hold


def schema_text(document: str | Mapping[str, Any]) -> str:
    """The JSON text of a schema that came as text or as an object."""
    if isinstance(document, str):
        return document
    try:
        return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        raise SchemaInvalid("the schema is not valid JSON", param="schema") from None


def parsed(text: str) -> Any:
    """The decoded schema."""
    if len(text) > MAX_BYTES or len(_utf8(text)) > MAX_BYTES:
        raise SchemaInvalid(f"the schema has more than {MAX_BYTES:,} bytes", param="schema")
    try:
        document = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_number,
            parse_constant=_no_constant,
        )
    except RecursionError:
        raise SchemaInvalid(_nested(), param="schema") from None
    except json.JSONDecodeError as error:
        raise SchemaInvalid(
            f"the schema is not valid JSON (line {error.lineno}, column {error.colno})",
            param="schema",
        ) from None
    if is_deeper(document, MAX_NESTING):
        raise SchemaInvalid(_nested(), param="schema")
    return document


def _nested() -> str:
    return f"the schema is nested deeper than {MAX_NESTING} levels of JSON"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise SchemaInvalid("a name is given twice in one object of the schema", param="schema")
    for value in (*members, *members.values()):
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, str):
                _utf8(item)  # an escape may make half a character, which no JSON text holds itself
    return members


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise SchemaInvalid(
            "the schema holds half a character (a lone surrogate)", param="schema"
        ) from None


def _integer(digits: str) -> int:
    if len(digits) > 20 or not _LEAST <= (value := int(digits)) <= _MOST:
        raise SchemaInvalid("the schema holds an integer of more than 64 bits", param="schema")
    return value


def _number(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise SchemaInvalid(
            "the schema holds a number that is too large for a double", param="schema"
        )
    return value


def _no_constant(name: str) -> NoReturn:
    raise SchemaInvalid(f"the schema is not valid JSON: {name} is no number", param="schema")


def is_deeper(value: object, most: int) -> bool:
    """Return True if more than `most` objects and arrays stand in each other. Linear."""
    level = [value]
    for _ in range(most):
        inner: list[object] = []
        for each in level:
            if isinstance(each, dict | list):
                inner += each.values() if isinstance(each, dict) else each
        level = inner
    return any(isinstance(each, dict | list) for each in level)

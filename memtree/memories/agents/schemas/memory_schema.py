"""A schema of structured memories, as a value."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from memtree.errors import BadRequest

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

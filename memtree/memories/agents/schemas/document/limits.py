"""Limits of a schema, checked before anything compiles it.

A schema comes from a caller and is applied to the data of callers, so what it can cost is bounded
by what is written: 25 definitions that each use the one before twice are 33 million checks.
`CheckedSchema` is what a schema has to be to be compiled. Raises `SchemaInvalid`, which says which
limit, and where.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtree.errors import SchemaInvalid
from memtree.memories.agents.schemas.document.compilable import CompilableDocument
from memtree.memories.agents.schemas.document.schema_text import parsed
from memtree.memories.agents.schemas.document.sub_schemas import (
    DEFINITIONS,
    REF,
    SubSchema,
    shown,
    sub_schemas,
)
from memtree.memories.agents.schemas.memory_schema import KIND

MAX_EXPANDED = 1_000  # sub-schemas, each as often as references use it
MAX_UNIQUE = 16  # names in `uniqueOn`

_UNEVALUATED = ("unevaluatedItems", "unevaluatedProperties")
_ALL, _ANY = "allOf", ("anyOf", "oneOf")


@dataclass(frozen=True, slots=True)
class CheckedSchema:
    """Schema that has passed the checks of its size and form. `document`: what is compiled: without
    `$id` and `$schema`, its references in one spelling, its patterns in the engine's. `patterns`:
    of these, what was written. `sub_schemas`: the document itself first; `order`: each behind those
    that it uses. `properties`: names of the fields that it knows at the top; `names`: anywhere.
    `expanded`: its sub-schemas, each as often as it is used."""

    document: Mapping[str, Any]
    patterns: Mapping[str, str]
    sub_schemas: Sequence[SubSchema]
    order: Sequence[int]
    properties: frozenset[str]
    names: frozenset[str]
    expanded: int


def checked_schema(text: str, unique_on: Sequence[str] = ()) -> CheckedSchema:
    """Check the text of a schema. Linear in its length."""
    document = parsed(text)
    if not isinstance(document, dict):
        raise SchemaInvalid("the schema must be a JSON object", param="schema")
    parts = sub_schemas(document)
    order = _order(parts)
    expanded = _expanded(parts, order)
    if not _describes_object(parts, order):
        raise SchemaInvalid(
            'the schema must describe an object at the top: "type": "object"', param="schema"
        )
    properties = _properties(parts)
    check_unique(unique_on, properties)
    compilable = CompilableDocument(parts)
    return CheckedSchema(
        compilable.document, compilable.patterns, parts, order, properties, _names(parts), expanded
    )


def check_unique(unique_on: Sequence[str], properties: frozenset[str]) -> None:
    if len(unique_on) > MAX_UNIQUE:
        raise SchemaInvalid(f"uniqueOn has more than {MAX_UNIQUE} names", param="uniqueOn")
    for at, name in enumerate(unique_on):
        if name != KIND and name not in properties:
            raise SchemaInvalid(
                f"uniqueOn[{at}] is no property at the top of the schema, and not {KIND!r}",
                param=f"uniqueOn[{at}]",
            )


def _used(part: SubSchema) -> list[int]:
    """Return the sub-schemas that are applied wherever this one is."""
    inside = [child.at for child in part.children if child.keyword not in DEFINITIONS]
    return inside if part.target is None else [*inside, part.target]


def _order(parts: list[SubSchema]) -> list[int]:
    """All of them, each behind those that it uses. A reference that comes back to where it stands
    has no such order."""
    order: list[int] = []
    state = [0] * len(parts)  # 1: begun, 2: done
    for start in range(len(parts)):
        waiting = [start]
        while waiting:
            at = waiting[-1]
            if state[at] == 0:
                state[at] = 1
                for inner in _used(parts[at]):
                    if state[inner] == 1:
                        raise SchemaInvalid(
                            f"the schema at {shown(parts[at].place)}: {REF} leads back to where "
                            "it stands; a schema may not hold itself",
                            param="schema",
                        )
                    if state[inner] == 0:
                        waiting.append(inner)
            else:
                waiting.pop()
                if state[at] == 1:
                    state[at] = 2
                    order.append(at)
    return order


def _expanded(parts: list[SubSchema], order: list[int]) -> int:
    """How many sub-schemas are applied where each stands once for each use. Beside `unevaluated...`
    they are applied twice: once for what they say, once for what they leave."""
    sizes = [0] * len(parts)
    for at in order:
        times = 2 if any(keyword in parts[at].rules for keyword in _UNEVALUATED) else 1
        sizes[at] = 1 + times * sum(sizes[inner] for inner in _used(parts[at]))
        if sizes[at] > MAX_EXPANDED:
            raise SchemaInvalid(
                f"the schema at {shown(parts[at].place)}: more than {MAX_EXPANDED:,} sub-schemas, "
                f"each counted as often as {REF} uses it",
                param="schema",
            )
    return sizes[0]


def _describes_object(parts: list[SubSchema], order: list[int]) -> bool:
    """Return True if the top says that it is about objects: by itself, by what it refers to, by one
    of `allOf`, or by each of `anyOf` or `oneOf`."""
    objects = [False] * len(parts)
    for at in order:
        part = parts[at]
        if "type" in part.rules:
            objects[at] = part.rules["type"] in ("object", ["object"])
            continue
        by_use = "properties" in part.rules or (part.target is not None and objects[part.target])
        every = [objects[inner.at] for inner in part.children if inner.keyword == _ALL]
        options = [
            [objects[inner.at] for inner in part.children if inner.keyword == keyword]
            for keyword in _ANY
        ]
        objects[at] = by_use or any(every) or any(bool(each) and all(each) for each in options)
    return objects[0]


def _properties(parts: list[SubSchema]) -> frozenset[str]:
    """Names of the fields at the top, wherever it takes them from."""
    waiting, seen, names = [0], {0}, set[str]()
    while waiting:
        part = parts[waiting.pop()]
        listed = part.rules.get("properties")
        names.update(listed if isinstance(listed, Mapping) else ())
        aside = [child.at for child in part.children if child.keyword in (_ALL, *_ANY)]
        for at in aside if part.target is None else [*aside, part.target]:
            if at not in seen:
                seen.add(at)
                waiting.append(at)
    return frozenset(names)


def _names(parts: list[SubSchema]) -> frozenset[str]:
    """Return the names of fields, wherever the schema has any."""
    names = set[str]()
    for part in parts:
        for keyword in ("properties", "dependentSchemas", "dependentRequired"):
            listed = part.rules.get(keyword)
            names.update(listed if isinstance(listed, Mapping) else ())
        required = part.rules.get("required")
        listed = required if isinstance(required, list) else []
        names.update(name for name in listed if isinstance(name, str))
    return frozenset(names)

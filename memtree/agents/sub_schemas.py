"""The sub-schemas of a schema document, found by the keywords that hold them (draft 2020-12).

Nothing else of a document is a schema: what stands in `enum`, `const`, `default` or an unknown
keyword is a value, whatever it looks like. Raises `SchemaInvalid`, which names the place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from memtree.errors import SchemaInvalid

MAX_DEPTH = 16  # sub-schemas in each other, the document itself being 1
MAX_WRITTEN = 200  # sub-schemas of a document, itself included

DRAFT = "https://json-schema.org/draft/2020-12/schema"
REF = "$ref"
DEFINITIONS = ("$defs", "definitions")  # the latter's name in older drafts, still in use

_SCHEMA = (
    "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
    "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAPS = ("dependencies", "dependentSchemas", "patternProperties", "properties", *DEFINITIONS)
# They change what a reference means, or which rules hold. A document that refers to its own
# definitions alone has no use for them.
_REFUSED = (
    "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$vocabulary",
)  # fmt: skip

Place = tuple[str | int, ...]  # names and numbers from the document down


class Child(NamedTuple):
    """`keyword`: which holds it. `at`: the number of the sub-schema."""

    keyword: str
    at: int


@dataclass(slots=True)
class SubSchema:
    """`rules`: its keywords, empty for `true` and `false`. `target`: the number of the sub-schema
    that its `$ref` names."""

    place: Place
    rules: Mapping[str, Any]
    depth: int
    children: list[Child] = field(default_factory=list)
    target: int | None = None


def sub_schemas(document: Mapping[str, Any]) -> list[SubSchema]:
    """The document itself first, then those in it."""
    _check_draft(document)
    schemas: list[SubSchema] = []
    waiting: list[tuple[Place, Any, int, SubSchema | None, str]] = [((), document, 1, None, "")]
    while waiting:
        place, value, depth, parent, keyword = waiting.pop()
        if depth > MAX_DEPTH:
            raise _invalid(place, f"sub-schemas stand in each other deeper than {MAX_DEPTH} levels")
        if len(schemas) == MAX_WRITTEN:
            raise SchemaInvalid(
                f"the schema has more than {MAX_WRITTEN} sub-schemas", param="schema"
            )
        part = SubSchema(place, value if isinstance(value, Mapping) else {}, depth)
        if parent is not None:
            parent.children.append(Child(keyword, len(schemas)))
        schemas.append(part)
        _check_keywords(part)
        inner = [(*step, depth + 1, part, keyword) for keyword, step in _inner(part)]
        waiting += reversed(inner)
    _resolve(schemas)
    return schemas


def shown(place: Place) -> str:
    """A place as a reference writes it, cut where it is long.

    >>> shown(("properties", "a/b", "anyOf", 0))
    '#/properties/a~1b/anyOf/0'
    """
    text = "#" + "".join(f"/{_escaped(step)}" for step in place)
    return text if len(text) <= 200 else text[:199] + "…"


def reference(place: Place) -> str:
    """The `$ref` that names a place and nothing else, however it is decoded."""
    return "#" + "".join(f"/{quote(_escaped(step), safe='~')}" for step in place)


def _escaped(step: str | int) -> str:
    return str(step).replace("~", "~0").replace("/", "~1")


def _invalid(place: Place, rule: str) -> SchemaInvalid:
    return SchemaInvalid(f"the schema at {shown(place)}: {rule}", param="schema")


def _check_draft(document: Mapping[str, Any]) -> None:
    draft = document.get("$schema")
    if draft is not None and (not isinstance(draft, str) or draft.removesuffix("#") != DRAFT):
        raise SchemaInvalid(f"$schema must be {DRAFT} (or be left out)", param="schema")


def _check_keywords(part: SubSchema) -> None:
    if not isinstance(part.rules.get("$id", ""), str):
        raise _invalid(part.place, "$id must be string")
    for keyword in _REFUSED:
        if keyword in part.rules:
            raise _invalid(part.place, f"{keyword} is not supported; use $ref to #/$defs/NAME")
    if part.place:
        for keyword in ("$id", "$schema"):
            if keyword in part.rules:
                raise _invalid(part.place, f"{keyword} may stand at the top alone")


def _inner(part: SubSchema) -> Iterator[tuple[str, tuple[Place, Any]]]:
    """By keyword: the places and values of what stands directly in it. Values that cannot be
    schemas are left to the check against the draft."""
    for keyword, value in part.rules.items():
        place = (*part.place, keyword)
        if keyword in _SCHEMA and _is_schema(value):
            yield keyword, (place, value)
        elif keyword in _LISTS and isinstance(value, list):
            for number, each in enumerate(value):
                if _is_schema(each):
                    yield keyword, ((*place, number), each)
        elif keyword in _MAPS and isinstance(value, Mapping):
            for name, each in value.items():
                if _is_schema(each):
                    yield keyword, ((*place, name), each)


def _is_schema(value: object) -> bool:
    return isinstance(value, Mapping | bool)


def _resolve(schemas: list[SubSchema]) -> None:
    numbers = {tuple(str(step) for step in part.place): at for at, part in enumerate(schemas)}
    for part in schemas:
        if REF in part.rules:
            part.target = numbers.get(_steps(part))
            if part.target is None:
                raise _invalid(part.place, f"{REF} names no sub-schema of this schema")


def _steps(part: SubSchema) -> tuple[str, ...]:
    written = part.rules[REF]
    if not isinstance(written, str) or not written.startswith("#"):
        raise _invalid(
            part.place,
            f"{REF} must stay inside the schema, as in #/$defs/NAME: nothing is read from a file "
            "or an address",
        )
    pointer = unquote(written[1:], errors="replace")
    if pointer and not pointer.startswith("/"):
        raise _invalid(part.place, f"{REF} must be # or begin with #/, as in #/$defs/NAME")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])

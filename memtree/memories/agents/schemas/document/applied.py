"""The sub-schemas of a document as they are applied, with what each costs (`work`).

Costs are in units of 25 ns, measured (`benchmarks/memories/agent_schemas.py`): one rule on one
value is about one. Rules that are dear: numbers with a fraction are compared as exact fractions
(100; 2,500 where one is tiny or huge), and a pattern may take as many steps a character as it has
states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtree.memories.agents.schemas.document.sub_schemas import DEFINITIONS, REF, SubSchema

_AT_ITEMS = ("items", "contains", "unevaluatedItems")
_AT_FIELDS = ("additionalProperties", "unevaluatedProperties")
_UNEVALUATED = ("unevaluatedItems", "unevaluatedProperties")
_LISTING = ("required", "dependentRequired", "dependentSchemas", "dependencies", "properties")
_LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
FRACTION, LARGE = 100, 2_500  # units of comparing numbers
OPTION, _INSIDE, ITEM = 50, 15, 20  # plain options in a unit; units of a value in one, of an item
_LEAST_EXACT = 1e-10

# Units of a character against a pattern, from its bytes once compiled.
PatternWeight = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Numbers:
    """How many numbers of each sort a value is compared with."""

    whole: int = 0
    fractions: int = 0
    large: int = 0

    @property
    def most(self) -> int:
        return LARGE * (self.whole + self.fractions + self.large)


@dataclass(frozen=True, slots=True)
class Applied:
    """A sub-schema as it is applied. `here`: what is applied to the same value, `times` over.
    `items`: to each item; `first`: to the first ones; `fields`: by name; `others`: to each field;
    `matching`: units of a character of a name, and what is applied where it matches; `names`: to
    each name. `options`: units of comparing with plain ones; `inside`: with objects and arrays.
    `looked_for`: of names that an object may have to have."""

    own: int
    times: int
    here: tuple[int, ...]
    items: tuple[int, ...]
    first: tuple[int, ...]
    fields: Mapping[str, int]
    others: tuple[int, ...]
    matching: tuple[tuple[int, int], ...]
    names: tuple[int, ...]
    numbers: Numbers
    options: int
    inside: int
    looked_for: int
    letter: int
    unique: bool


def applied(sub_schemas: Sequence[SubSchema], weight: PatternWeight) -> tuple[Applied, ...]:
    """Return the sub-schemas of a document, applied."""
    return tuple(_applied(sub_schema, weight) for sub_schema in sub_schemas)


def _applied(sub_schema: SubSchema, weight: PatternWeight) -> Applied:
    by_keyword: dict[str, list[int]] = {}
    for child in sub_schema.children:
        by_keyword.setdefault(child.keyword, []).append(child.at)
    rules = sub_schema.rules
    elsewhere = {
        *_AT_ITEMS, *_AT_FIELDS, "prefixItems", "properties", "patternProperties",
        "propertyNames", "contentSchema", *DEFINITIONS,
    }  # fmt: skip
    here = [at for keyword, inner in by_keyword.items() if keyword not in elsewhere for at in inner]
    if sub_schema.target is not None:
        here.append(sub_schema.target)
    options = _options(rules)
    pattern = rules.get("pattern")
    return Applied(
        own=1 + len(rules) - (REF in rules),
        times=2 if any(keyword in rules for keyword in _UNEVALUATED) else 1,
        here=tuple(here),
        items=_of(by_keyword, _AT_ITEMS),
        first=_of(by_keyword, ("prefixItems",)),
        fields=_named(rules, "properties", by_keyword),
        others=_of(by_keyword, _AT_FIELDS),
        matching=tuple(
            (weight(name), at)
            for name, at in _named(rules, "patternProperties", by_keyword).items()
        ),
        names=_of(by_keyword, ("propertyNames",)),
        numbers=_numbers([*options, *(rules[name] for name in _LIMITS if name in rules)]),
        options=len(options) // OPTION,
        inside=sum(_comparing(each) for each in options if isinstance(each, Mapping | list)),
        looked_for=_names(rules) // 2,
        letter=weight(pattern) if isinstance(pattern, str) else 0,
        unique=rules.get("uniqueItems") is True,
    )


def _of(by_keyword: Mapping[str, list[int]], keywords: Sequence[str]) -> tuple[int, ...]:
    return tuple(at for keyword in keywords for at in by_keyword.get(keyword, ()))


def _named(
    rules: Mapping[str, Any], keyword: str, by_keyword: Mapping[str, list[int]]
) -> dict[str, int]:
    """By name. Children stand in the order of their names; what is no schema is none of them."""
    listed = rules.get(keyword)
    if not isinstance(listed, Mapping):
        return {}
    names = [name for name, each in listed.items() if isinstance(each, Mapping | bool)]
    return dict(zip(names, by_keyword.get(keyword, ()), strict=True))


def _names(rules: Mapping[str, Any]) -> int:
    """How many names its rules list."""
    total = 0
    for keyword in _LISTING:
        listed = rules.get(keyword)
        for each in [listed, *(listed.values() if isinstance(listed, Mapping) else ())]:
            total += len(each) if isinstance(each, Mapping | list) else 0
    return total


def _options(rules: Mapping[str, Any]) -> list[Any]:
    listed = rules.get("enum")
    options = list(listed) if isinstance(listed, list) else []
    return [*options, rules["const"]] if "const" in rules else options


def _numbers(values: Sequence[Any]) -> Numbers:
    kinds = [_sort(value) for value in values]
    return Numbers(*(kinds.count(sort) for sort in ("whole", "fraction", "large")))


def _sort(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    if isinstance(value, int):
        return "whole"
    return "large" if 0 < abs(value) < _LEAST_EXACT else "fraction"


def _comparing(option: Any) -> int:
    """Units of comparing data with an object or an array."""
    total, waiting = 0, [option]
    while waiting:
        each = waiting.pop()
        total += LARGE if isinstance(each, float) else _INSIDE
        if isinstance(each, Mapping):
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return total


def is_large(value: float) -> bool:
    """Return True if comparing the value takes an exact fraction with many digits."""
    return value != 0 and not _LEAST_EXACT <= abs(value) <= 1e20

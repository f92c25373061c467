"""Count how much work it is to hold data against a schema, before it is done.

The library holds the interpreter's lock while it works, so that a thread would not free the event
loop: 1,000 sub-schemas over 8,000 numbers take it seconds. So the work is counted first, for all
values that a sub-schema is applied to, and what is beyond a limit is refused. Counting assumes that
no rule ends the work early, and stops at the limit itself.

Costs are in units of 25 ns, measured (`benchmarks/memories/agent_schemas.py`): one rule on one
value is about one. Rules that are dear: numbers with a fraction are compared as exact fractions
(100; 2,500 where one is tiny or huge), and a pattern may take as many steps a character as it has
states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtree.agents.schema_limits import DEFINITIONS, REF, UNEVALUATED, SubSchema

_AT_ITEMS = ("items", "contains", "unevaluatedItems")
_AT_FIELDS = ("additionalProperties", "unevaluatedProperties")
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
        times=2 if any(keyword in rules for keyword in UNEVALUATED) else 1,
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
        inside=sum(_comparing_option(each) for each in options if isinstance(each, Mapping | list)),
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


def _comparing_option(option: Any) -> int:
    """Units of comparing data with an object or an array."""
    return sum(LARGE if isinstance(each, float) else _INSIDE for each in _every(option))


def _every(value: Any) -> Iterator[Any]:
    """Yield the value and all that it holds."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        yield each
        if isinstance(each, Mapping):
            waiting += each.values()
        elif isinstance(each, list | tuple):
            waiting += each


def is_large(value: float) -> bool:
    """Return True if comparing the value takes an exact fraction with many digits."""
    return value != 0 and not _LEAST_EXACT <= abs(value) <= 1e20


MAX_UNITS = 1_000_000  # of 25 ns; of one memory: 25 ms, where it is as bad as can be


@dataclass(frozen=True, slots=True)
class Values:
    """Values that one sub-schema is applied to, counted once for all that are: how many, the
    letters of texts among them, the numbers of each sort, the objects and arrays, how many values
    these hold, and the letters of their names."""

    count: int
    letters: int
    whole: int
    fractions: int
    large: int
    objects: Sequence[Mapping[str, Any]]
    arrays: Sequence[Sequence[Any]]
    inside: int
    name_letters: int


@dataclass(frozen=True, slots=True)
class Ceiling:
    """More units than any data can take: of each value, and of each letter."""

    value: int
    letter: int

    def units(self, size: int) -> int:
        """Count the units of data whose JSON has `size` bytes: each value takes two at least."""
        return (size // 2 + 1) * self.value + size * self.letter


def ceiling(schemas: Sequence[Applied], order: Sequence[int]) -> Ceiling:
    """Return the work as if each sub-schema were applied to each value. `order`: each behind those
    that it uses."""
    ceilings = [Ceiling(0, 0)] * len(schemas)
    for at in order:
        part = schemas[at]
        inner = [
            *part.here, *part.items, *part.first, *part.fields.values(), *part.others, *part.names,
            *(each for _, each in part.matching),
        ]  # fmt: skip
        own = part.own + part.options + part.inside + part.looked_for + part.numbers.most
        own += 2 + ITEM * part.unique
        letter = part.letter + sum(letter for letter, _ in part.matching)
        ceilings[at] = Ceiling(
            own + part.times * sum(ceilings[each].value for each in inner),
            letter + part.times * sum(ceilings[each].letter for each in inner),
        )
    return ceilings[0]


def units(schemas: Sequence[Applied], data: Mapping[str, Any], most: int = MAX_UNITS) -> int:
    """Count the units of holding data against the first of these; any number beyond `most` means
    too many."""
    total = 0
    waiting: list[tuple[int, Values, int]] = [(0, values_of([data]), 1)]
    while waiting and total <= most:
        at, values, times = waiting.pop()
        part = schemas[at]
        total += times * _on(part, values)
        times *= part.times
        waiting += [(inner, values, times) for inner in part.here]
        waiting += [(inner, values_of(each), times) for inner, each in _below(part, values) if each]
    return total


def _below(part: Applied, values: Values) -> Iterator[tuple[int, list[Any]]]:
    """Yield what is applied to values in these, and to which values."""
    if part.fields:
        by_field: dict[int, list[Any]] = {}
        for each in values.objects:
            for name, value in each.items():
                if name in part.fields:
                    by_field.setdefault(part.fields[name], []).append(value)
        yield from by_field.items()
    everywhere = [*part.others, *(inner for _, inner in part.matching)]
    if everywhere:
        fields = [field for each in values.objects for field in each.values()]
        yield from ((inner, fields) for inner in everywhere)
    for inner in part.names:
        yield inner, [name for each in values.objects for name in each]
    if part.items:
        items = [item for each in values.arrays for item in each]
        yield from ((inner, items) for inner in part.items)
    for place, inner in enumerate(part.first):
        yield inner, [each[place] for each in values.arrays if place < len(each)]


def _on(part: Applied, values: Values) -> int:
    """Units of its own rules."""
    total = values.count * (part.own + part.options)
    total += values.letters * part.letter + values.letters // OPTION
    total += _comparing(part.numbers, values)
    total += part.inside * (len(values.objects) + len(values.arrays)) + values.inside
    total += part.looked_for * len(values.objects)
    if part.matching:
        total += values.name_letters * sum(letter for letter, _ in part.matching)
    if part.unique:
        total += ITEM * sum(1 for array in values.arrays for _ in _every(array))
    return total


def _comparing(numbers: Numbers, values: Values) -> int:
    """Count the comparisons of each of the numbers among `values` with each of the others."""
    exact = values.whole * numbers.fractions
    exact += values.fractions * (numbers.whole + numbers.fractions)
    large = (values.whole + values.fractions) * numbers.large
    large += values.large * (numbers.whole + numbers.fractions + numbers.large)
    return values.whole * numbers.whole + FRACTION * exact + LARGE * large


def values_of(values: Sequence[Any]) -> Values:
    letters = whole = fractions = large = inside = name_letters = 0
    objects: list[Mapping[str, Any]] = []
    arrays: list[Sequence[Any]] = []
    for value in values:
        if isinstance(value, str):
            letters += len(value)
        elif isinstance(value, Mapping):
            objects.append(value)
            inside += len(value)
            name_letters += sum(map(len, value))
        elif isinstance(value, list | tuple):
            arrays.append(value)
            inside += len(value)
        elif isinstance(value, float):
            large += is_large(value)
            fractions += not is_large(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            whole += 1
    return Values(
        len(values), letters, whole, fractions, large, objects, arrays, inside, name_letters
    )

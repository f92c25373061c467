"""How much work it is to hold data against a schema, counted before it is done.

The library holds the interpreter's lock while it works, so that a thread would not free the event
loop: 1,000 sub-schemas over 8,000 numbers take it seconds. So the work is counted first, for all
values that a sub-schema is applied to, and what is beyond a limit is refused. Counting assumes that
no rule ends the work early, and stops at the limit itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtree.memories.agents.schemas.document.applied import (
    FRACTION,
    ITEM,
    LARGE,
    OPTION,
    Applied,
    Numbers,
    is_large,
)

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
        yield from _by_name(part.fields, values.objects).items()
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


def _by_name(
    fields: Mapping[str, int], objects: Sequence[Mapping[str, Any]]
) -> dict[int, list[Any]]:
    values: dict[int, list[Any]] = {}
    for each in objects:
        for name, value in each.items():
            inner = fields.get(name)
            if inner is not None:
                values.setdefault(inner, []).append(value)
    return values


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
        total += ITEM * sum(_values(each) for each in values.arrays)
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


def _values(value: Any) -> int:
    count, waiting = 0, [value]
    while waiting:
        each = waiting.pop()
        count += 1
        if isinstance(each, Mapping):
            waiting += each.values()
        elif isinstance(each, list | tuple):
            waiting += each
    return count

"""Describe how data breaks its schema: the place and the rule, never a value.

Names of fields are the schema's where it has them; others are part of the data, and
stand as `*`. Limits and options are the schema's, and are told where they are short.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from memtree.memories.agents.schemas.document.sub_schemas import Place
from memtree.memories.agents.schemas.nearest_kind import nearest_kind

MOST_SHOWN = 200  # characters of a rule's own values
PATTERN = "pattern"
NO_PATTERN = (
    "the pattern cannot be used: it is no regular expression, looks around or back, or is too large"
)


class Violation(NamedTuple):
    """`path`: where in the data, names that the schema does not have as `*`. `rule`: as in `must be
    string`."""

    path: tuple[str | int, ...]
    rule: str

    def message(self, name: str) -> str:
        """`name`: what the data is called.

        >>> Violation(("address", "lines", 0), "must be string").message("memories[0].data")
        'memories[0].data.address.lines[0]: must be string'
        """
        return f"{self.place(name)}: {self.rule}"

    def place(self, name: str) -> str:
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return name + "".join(steps)


def violation(
    kind: Any,
    path: Sequence[str | int],
    names: Collection[str],
    patterns: Mapping[str, str] = MappingProxyType({}),
) -> Violation:
    """`kind`: of the library's error. `names`: of fields that the schema has anywhere. `patterns`:
    by the engine's pattern, what was written."""
    shown = tuple(step if isinstance(step, int) or step in names else "*" for step in path)
    if kind.name == PATTERN:
        said = kind.as_dict()[PATTERN]
        return Violation(shown, f"breaks pattern ({_cut(patterns.get(said, said))})")
    return Violation(shown, _rule(kind, names, len(path)))


def of_schema(kind: Any, place: Place) -> str:
    """The rule of the draft that a schema breaks."""
    if kind.name == "format" or PATTERN in place:
        return NO_PATTERN
    return _rule(kind, ())


def _rule(kind: Any, names: Collection[str], depth: int = 0) -> str:
    """`depth`: steps of the path to where it is broken."""
    known = kind.as_dict()
    match kind.name:
        case "type":
            return f"must be {_either(known['types'])}"
        case "required":
            return f"lacks the required field {_cut(known['property'])}"
        case "additionalProperties" | "unevaluatedProperties":
            return _unexpected(known.get("unexpected") or (), names)
        case "enum":
            return f"must be one of {_short(known['options'])}"
        case "const":
            return f"must be {_short(known['expected_value'])}"
        case "anyOf" | "oneOf":
            return _alternatives(kind, depth)
        case "falseSchema":
            return "is not allowed"
        case _:
            return _limit(kind.name, known)


def _limit(name: str, known: Mapping[str, Any]) -> str:
    for field in ("limit", "multiple_of"):
        if field in known:
            return f"breaks {name} ({_short(known[field])})"
    return f"breaks {name}"


def _unexpected(unexpected: Iterable[str], names: Collection[str]) -> str:
    """Name the schema's own field that was meant, where one is near."""
    first = islice(unexpected, 2)
    near = next(filter(None, (nearest_kind(name, names) for name in first)), None)
    meant = "" if near is None else f" (near: {near})"
    return f"has a field that the schema does not know{meant}"


def _alternatives(kind: Any, depth: int) -> str:
    """`string or null` where they differ in their types alone."""
    context = getattr(kind, "context", None) or ()
    types = [each[0].kind.types for each in context if _is_type(each, depth)]
    if types and len(types) == len(context):
        return f"must be {_either(name for each in types for name in each)}"
    return f"fits none of the alternatives of {kind.name}, or too many of them"


def _is_type(errors: Sequence[Any], depth: int) -> bool:
    """Return True if an alternative is of another type, and nothing else is wrong with it."""
    return (
        len(errors) == 1 and errors[0].kind.name == "type" and len(errors[0].instance_path) == depth
    )


def _either(types: Iterable[str]) -> str:
    named = dict.fromkeys(types)
    return " or ".join(sorted(named, key=lambda name: name == "null"))


def _short(value: Any) -> str:
    try:
        return _cut(msgspec.json.encode(value).decode())
    except (TypeError, ValueError, OverflowError):
        return "as the schema says"


def _cut(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"

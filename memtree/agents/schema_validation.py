"""Compile schemas with `jsonschema-rs`, hold data against them, and describe what breaks them.

No other file knows the library, which is imported when the first schema is compiled. It is told to
fetch nothing, to match patterns in linear time (no look-around, no back-references), and to take
`format` as a note, as the draft does by default.

A description names the place and the rule, never a value. Names of fields are the schema's where it
has them; others are part of the data, and stand as `*`. Limits and options are the schema's, and
are told where they are short.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from memtree.agents.memory_schema import nearest_kind
from memtree.agents.schema_limits import PATTERN, PATTERNS, CheckedSchema, Place, shown, usable
from memtree.agents.validation_cost import MAX_UNITS, Applied, Ceiling, applied, ceiling, units
from memtree.errors import SchemaInvalid, Unavailable, needs_extra

MOST_SHOWN = 200  # characters of a rule's own values
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


# Bytes of a compiled pattern, the least of these that it fits (the last: some 1,300 states), and
# units of work of a character against it: measured, with the worst of texts.
PATTERN_UNITS = {1 << 12: 20, 1 << 14: 70, 1 << 15: 250, 1 << 16: 600, 1 << 17: 1_200}
MOST_PATTERN_BYTES = max(PATTERN_UNITS)
PATTERN_CACHE_BYTES = 1 << 20  # that matching one may keep
MAX_PATTERN_BYTES = 2 << 20  # of all patterns of a schema: compiling them holds up everything else
MAX_DATA_BYTES = 1 << 16  # whoever stores data allows less
MAX_EXPLAINED = 50_000  # sub-schemas times values: alternatives are told with a copy of the data

_MISSING = needs_extra("a schema", "agents")
_TOO_MUCH = Violation(
    (), "is too much to be held against its schema: send less data, or make the schema simpler"
)
_UNREADABLE = Violation((), "cannot be read as JSON")
_BROKEN = Violation((), "does not keep to its schema")


class CompiledSchema(NamedTuple):
    """`validator`: of the library. It keeps nothing of the data that it sees. `alternatives`: it
    has some."""

    checked: CheckedSchema
    validator: Any
    applied: tuple[Applied, ...]
    ceiling: Ceiling
    alternatives: bool


def compiled(checked: CheckedSchema) -> CompiledSchema:
    """Raises `SchemaInvalid` where it is no schema of the draft, or has a pattern that cannot be
    matched in linear time; `Unavailable` without the library."""
    try:
        import jsonschema_rs  # noqa: PLC0415  (optional; 8 MiB and 70 ms)
    except ImportError:
        raise Unavailable(_MISSING) from None
    sizes = _pattern_sizes(checked)
    try:
        validator = _validator(checked.document, MOST_PATTERN_BYTES)
    except jsonschema_rs.ValidationError as error:
        place = tuple(error.instance_path)
        raise _invalid(place, of_schema(error.kind, place)) from None
    except (ValueError, RecursionError):
        raise SchemaInvalid("the schema cannot be compiled", param="schema") from None
    schemas = applied(checked.sub_schemas, lambda pattern: PATTERN_UNITS[sizes[pattern]])
    return CompiledSchema(
        checked,
        validator,
        schemas,
        ceiling(schemas, checked.order),
        any("anyOf" in part.rules or "oneOf" in part.rules for part in checked.sub_schemas),
    )


def load(schema: CompiledSchema, data: Mapping[str, Any]) -> int:
    """At most so many times a sub-schema is applied to a value; 0 where the data is no JSON."""
    size = _size(data)
    return 0 if size is None else schema.checked.expanded * (size // 2 + 1)


def violation_of(schema: CompiledSchema, data: Mapping[str, Any]) -> Violation | None:
    """The first rule that the data breaks; None where it keeps to the schema."""
    import jsonschema_rs  # noqa: PLC0415  (as above)

    size = _size(data)
    if size is None:
        return _UNREADABLE
    if size > MAX_DATA_BYTES:
        return _TOO_MUCH
    if schema.ceiling.units(size) > MAX_UNITS and units(schema.applied, data) > MAX_UNITS:
        return _TOO_MUCH
    try:
        if schema.validator.is_valid(data):
            return None
        if not schema.alternatives or schema.checked.expanded * size <= MAX_EXPLAINED:
            schema.validator.validate(data)
    except jsonschema_rs.ValidationError as error:
        checked = schema.checked
        return violation(error.kind, tuple(error.instance_path), checked.names, checked.patterns)
    except (ValueError, RecursionError):
        return _UNREADABLE
    return _BROKEN


def _size(data: Mapping[str, Any]) -> int | None:
    """Bytes of its JSON."""
    try:
        return len(msgspec.json.encode(data))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None


def _validator(document: Mapping[str, Any], pattern_bytes: int) -> Any:
    import jsonschema_rs  # noqa: PLC0415  (as above)

    options = jsonschema_rs.RegexOptions(
        size_limit=pattern_bytes, dfa_size_limit=PATTERN_CACHE_BYTES
    )
    return jsonschema_rs.Draft202012Validator(
        dict(document), offline=True, pattern_options=options, validate_formats=False
    )


def _pattern_sizes(checked: CheckedSchema) -> dict[str, int]:
    """Return for each pattern, as it was written, its bytes once compiled."""
    import jsonschema_rs  # noqa: PLC0415  (as above)

    sizes: dict[str, int] = {}
    total = 0
    for place, pattern in _patterns(checked):
        if pattern not in sizes:
            said = usable(pattern, shown(place))
            for size in PATTERN_UNITS:
                try:
                    _validator({PATTERN: said}, size)
                except jsonschema_rs.ValidationError:
                    continue
                sizes[pattern] = size
                break
            else:
                raise _invalid(place, NO_PATTERN)
        total += sizes[pattern]
        if total > MAX_PATTERN_BYTES:
            raise SchemaInvalid(
                f"the patterns of the schema take more than {MAX_PATTERN_BYTES >> 10} KiB together",
                param="schema",
            )
    return sizes


def _patterns(checked: CheckedSchema) -> Iterator[tuple[Place, str]]:
    for part in checked.sub_schemas:
        pattern, named = part.rules.get(PATTERN), part.rules.get(PATTERNS)
        if isinstance(pattern, str):
            yield (*part.place, PATTERN), pattern
        for name in named if isinstance(named, Mapping) else ():
            yield (*part.place, PATTERNS, name), name


def _invalid(place: Place, rule: str) -> SchemaInvalid:
    return SchemaInvalid(f"the schema at {shown(place)}: {rule}", param="schema")

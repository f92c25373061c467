"""Schemas compiled by `jsonschema-rs`, and data held against them.

The only file that knows the library, which is imported when the first schema is compiled. It is
told to fetch nothing, to match patterns in linear time (no look-around, no back-references), and to
take `format` as a note, as the draft does by default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from memtree.errors import SchemaInvalid, Unavailable, needs_extra
from memtree.memories.agents.schemas.document.applied import Applied, applied
from memtree.memories.agents.schemas.document.compilable import PATTERN, PATTERNS
from memtree.memories.agents.schemas.document.limits import CheckedSchema
from memtree.memories.agents.schemas.document.patterns import usable
from memtree.memories.agents.schemas.document.sub_schemas import Place, shown
from memtree.memories.agents.schemas.validation_cost import MAX_UNITS, Ceiling, ceiling, units
from memtree.memories.agents.schemas.violation import NO_PATTERN, Violation, of_schema, violation

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
    sizes: dict[str, int] = {}
    total = 0
    for place, pattern in _patterns(checked):
        if pattern not in sizes:
            sizes[pattern] = _pattern_size(place, pattern)
        total += sizes[pattern]
        if total > MAX_PATTERN_BYTES:
            raise SchemaInvalid(
                f"the patterns of the schema take more than {MAX_PATTERN_BYTES >> 10} KiB together",
                param="schema",
            )
    return sizes


def _pattern_size(place: Place, pattern: str) -> int:
    import jsonschema_rs  # noqa: PLC0415  (as above)

    said = usable(pattern, shown(place))
    for size in PATTERN_UNITS:
        try:
            _validator({PATTERN: said}, size)
        except jsonschema_rs.ValidationError:
            continue
        return size
    raise _invalid(place, NO_PATTERN)


def _patterns(checked: CheckedSchema) -> Iterator[tuple[Place, str]]:
    for part in checked.sub_schemas:
        pattern, named = part.rules.get(PATTERN), part.rules.get(PATTERNS)
        if isinstance(pattern, str):
            yield (*part.place, PATTERN), pattern
        for name in named if isinstance(named, Mapping) else ():
            yield (*part.place, PATTERNS, name), name


def _invalid(place: Place, rule: str) -> SchemaInvalid:
    return SchemaInvalid(f"the schema at {shown(place)}: {rule}", param="schema")

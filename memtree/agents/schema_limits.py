"""Find the sub-schemas of a schema, and check its limits before anything compiles it.

A schema comes from a caller and is applied to the data of callers, so what it can cost is bounded
by what is written: 25 definitions that each use the one before twice are 33 million checks. A
`CheckedSchema` is ready to be compiled. All checks raise `SchemaInvalid`, which says which limit or
rule is broken, and where.

Sub-schemas are found by the keywords that hold them (draft 2020-12). Nothing else of a document is
a schema: what stands in `enum`, `const`, `default` or an unknown keyword is a value, whatever it
looks like.

Patterns are ECMAScript's. The engine matches in linear time, so it looks neither ahead nor back. A
few patterns that a widely used library writes do, and can be said without: they are replaced.
Others are written in the words that the engine is quick with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from memtree.agents.memory_schema import KIND, parsed
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
    draft = document.get("$schema")
    if draft is not None and (not isinstance(draft, str) or draft.removesuffix("#") != DRAFT):
        raise SchemaInvalid(f"$schema must be {DRAFT} (or be left out)", param="schema")
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
    numbers = {tuple(str(step) for step in part.place): at for at, part in enumerate(schemas)}
    for part in schemas:
        if REF in part.rules:
            part.target = numbers.get(_steps(part))
            if part.target is None:
                raise _invalid(part.place, f"{REF} names no sub-schema of this schema")
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


def _steps(part: SubSchema) -> tuple[str, ...]:
    """The place that its reference names."""
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


MAX_PATTERN_CHARS = 1_000

_DAYS = r"(?:\d+Y(?:\d+M)?(?:\d+D)?|\d+M(?:\d+D)?|\d+D)"
_SECONDS = r"\d+(?:[.,]\d+)?S"
_HOURS = rf"T(?:\d+H(?:\d+M)?(?:{_SECONDS})?|\d+M(?:{_SECONDS})?|{_SECONDS})"
_EMOJI = r"\p{Extended_Pictographic}\p{Emoji_Component}"

# What zod 4 writes for `z.email()` (until 4.1), `z.iso.duration()` and `z.emoji()`.
_EMAIL_LOOKING = (
    r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]"
    r"@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$"
)
_EMAIL = (
    r"^(?:[A-Za-z0-9_'+\-]+\.)*[A-Za-z0-9_'+\-]*[A-Za-z0-9_+-]"
    r"@(?:[A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$"
)
_DURATION_LOOKING = (
    r"^P(?:(\d+W)|(?!.*W)(?=\d|T\d)(\d+Y)?(\d+M)?(\d+D)?"
    r"(T(?=\d)(\d+H)?(\d+M)?(\d+([.,]\d+)?S)?)?)$"
)
_DURATION = rf"^P(?:\d+W|{_DAYS}(?:{_HOURS})?|{_HOURS})$"
_EMOJI_LOOKING = (
    rf"^(?=[\s\S]*[\p{{Extended_Pictographic}}\p{{Regional_Indicator}}\u20E3])[{_EMOJI}]+$"
)
_EMOJIS = rf"^[{_EMOJI}]*[\p{{Extended_Pictographic}}\p{{Regional_Indicator}}\u20E3][{_EMOJI}]*$"
KNOWN = {_EMAIL_LOOKING: _EMAIL, _DURATION_LOOKING: _DURATION, _EMOJI_LOOKING: _EMOJIS}

_CLASSES = frozenset("dDsSwW")


def usable(pattern: str, place: str) -> str:
    r"""Return the pattern for the engine. `place`: where it stands, for errors. Raises
    `SchemaInvalid` where it is too long.

    Its class escapes are put in brackets: outside of them the engine takes the square of their
    number to translate them, 35 s for 7,000.

    >>> usable(r"^\d+[\s\d]\\d", "")
    '^[\\d]+[\\s\\d]\\\\d'
    """
    if len(pattern) > MAX_PATTERN_CHARS:
        raise SchemaInvalid(
            f"the schema at {place}: a pattern has at most {MAX_PATTERN_CHARS:,} characters",
            param="schema",
        )
    pattern = KNOWN.get(pattern, pattern)
    pieces: list[str] = []
    at, inside = 0, False
    while at < len(pattern):
        piece = pattern[at : at + 2] if pattern[at] == "\\" else pattern[at]
        at += len(piece)
        if piece == "[":
            inside = True
        elif piece == "]":
            inside = False
        elif len(piece) == 2 and piece[1] in _CLASSES and not inside:
            piece = f"[{piece}]"
        pieces.append(piece)
    return "".join(pieces)


PATTERN, PATTERNS = "pattern", "patternProperties"

_AT_THE_TOP = ("$id", "$schema")  # a base address would change what references mean


class CompilableDocument:
    """`document`: its references in one spelling, whichever reader resolves them; its patterns in
    the engine's. `patterns`: of these, what was written."""

    def __init__(self, sub_schemas: Sequence[SubSchema]) -> None:
        """`sub_schemas`: the document first."""
        self.patterns: dict[str, str] = {}
        self._found = sub_schemas
        self._by_rules = {id(sub_schema.rules): sub_schema for sub_schema in sub_schemas}
        whole = self._copied(sub_schemas[0].rules)
        self.document = {name: each for name, each in whole.items() if name not in _AT_THE_TOP}

    def _copied(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._copied(each) for each in value]
        if not isinstance(value, dict):
            return value
        kept = {name: self._copied(each) for name, each in value.items()}
        sub_schema = self._by_rules.get(id(value))
        if sub_schema is None:
            return kept
        if sub_schema.target is not None:
            kept[REF] = reference(self._found[sub_schema.target].place)
        if isinstance(kept.get(PATTERN), str):
            kept[PATTERN] = self._usable(kept[PATTERN], sub_schema)
        if isinstance(kept.get(PATTERNS), dict):
            named: dict[str, Any] = {}
            for name, each in kept[PATTERNS].items():
                said = self._usable(name, sub_schema)
                while said in named:  # two spellings of one pattern
                    said += "(?:)"
                named[said] = each
            kept[PATTERNS] = named
        return kept

    def _usable(self, pattern: str, sub_schema: SubSchema) -> str:
        said = usable(pattern, shown(sub_schema.place))
        self.patterns[said] = pattern
        return said


MAX_EXPANDED = 1_000  # sub-schemas, each as often as references use it
MAX_UNIQUE = 16  # names in `uniqueOn`

UNEVALUATED = ("unevaluatedItems", "unevaluatedProperties")
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
                        raise _invalid(
                            parts[at].place,
                            f"{REF} leads back to where it stands; a schema may not hold itself",
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
        times = 2 if any(keyword in parts[at].rules for keyword in UNEVALUATED) else 1
        sizes[at] = 1 + times * sum(sizes[inner] for inner in _used(parts[at]))
        if sizes[at] > MAX_EXPANDED:
            raise _invalid(
                parts[at].place,
                f"more than {MAX_EXPANDED:,} sub-schemas, each counted as often as {REF} uses it",
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

"""Decode what callers send into msgspec Structs: strictly, and with one form of error.

    class NewGroup(Posted, frozen=True):
        title: Annotated[str, Meta(max_length=200)]
        limit: OrNull[Annotated[int, Meta(ge=1, le=100)]] = 10

    decode(NewGroup, b'{"title": "Pets", "limit": 0}')  # 400, param `limit`

A wrong type, an unknown value, a number out of range and an unknown field are a `BadRequest` that
names the field by its path. Null counts as absent for a field with a default. The values of a query
and of headers are read by the same types, with numbers and booleans written as text. What depends
on settings, on the time or on what is stored is checked by the use case that owns the rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import msgspec
from msgspec import inspect
from starlette.datastructures import QueryParams
from starlette.requests import Request

from memtree.errors import BadRequest
from memtree.history import json_body
from memtree.history.json_body import Body
from memtree.memories.scope import PLACEHOLDER, is_placeholder
from memtree_proxy.http.headers import own_value

Value = TypeVar("Value")
if TYPE_CHECKING:
    OrNull = Annotated[Value, "null counts as absent"]
else:
    OrNull = Value | None  # null becomes the default, see `Posted`

IN_QUERY = "query parameter"
KNOWN_QUERY = "memtree.query"  # in the scope of a request: the parameters of its route
MOST_LISTED = 500  # characters of the names that are known
# What a text of a pattern must be, for the sentence of an error.
NOT_BLANK = r"\S"
FORMS = {NOT_BLANK: "must be a text that is not empty"}
# Fields whose ids callers choose: others are made here, or name something of a provider.
_CALLERS_IDS = frozenset("agent_id subject_id thread_id group_id namespace".split())
_PLACE = re.compile(r"(.*) - at `(?:key in )?\$\.?([^`]*)`", re.DOTALL)
_TYPES = {
    "int": "an integer", "float": "a number", "str": "a string", "bool": "a boolean",
    "array": "an array", "object": "an object",
}  # fmt: skip
_LENGTHS = {"str": "characters", "array": "elements", "object": "fields"}
_WRONG_TYPE = re.compile(r"Expected `([^`]*)`, got `(\w+)`")
_BOUND = re.compile(r"Expected `(\w+)` (>=|<=|>|<) (.*)")
_LENGTH = re.compile(r"Expected `(\w+)` of length (>=|<=) (\d+)")
_PATTERN = re.compile(r"Expected `str` matching regex '(.*)'", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`")
_WORD = re.compile(r"[\w.-]{1,80}", re.ASCII)
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)


class FieldError(ValueError):
    """Raised by `check` for a field of the object, or, if `field` is empty, for the object."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field} {message}".lstrip())
        self.field = field


class Posted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Object that a caller sends."""

    def __post_init__(self) -> None:
        for name, default in _defaults(type(self)):
            if getattr(self, name) is None:
                msgspec.structs.force_setattr(self, name, default)
        for name, field in _callers_ids(type(self)):
            given = getattr(self, name)
            if isinstance(given, str) and is_placeholder(given):
                raise FieldError(field, PLACEHOLDER)
        self.check()

    def check(self) -> None:
        """Refuse errors across fields. Raises `FieldError`."""


def decode(kind: type[Value], given: bytes | Body) -> Value:
    """Decode a JSON value. Raises `BadRequest`."""
    raw = given.raw if isinstance(given, Body) else given
    key: Any = kind
    try:
        made: Value = _decoder(key).decode(raw)
    except msgspec.ValidationError as error:
        raise _refused(kind, error, "field") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        json_body.check_characters(raw)
        raise BadRequest(f"the body is not valid JSON: {error}") from error
    return made


def fields_of(kind: type[Value], body: Body, names: Iterable[str]) -> Value:
    """Decode some fields of a body; the others, which may be long, are not looked at."""
    spans = [body.spans[name] for name in names if name in body.spans]
    parts = [body.raw[span.key : span.end] for span in spans]
    return decode(kind, b"{%b}" % b",".join(parts))


def queried(kind: type[Value], query: QueryParams) -> Value:
    """Read a query. Arrays may be repeated or stand in one value with commas; other parameters that
    are repeated are refused, since two readers may see two values. Raises `BadRequest`."""
    key: Any = kind
    arrays = _arrays(key)
    given: dict[str, Any] = {}
    for name in query:
        values = query.getlist(name)
        if name in arrays:
            given[name] = [part.strip() for value in values for part in value.split(",")]
        elif len(values) > 1:
            raise BadRequest(f"{name} is given twice", param=name)
        else:
            # msgspec takes the word for null, which has no meaning in a query.
            is_word = values[0].lower() == "null" and not isinstance(
                _kind_at(kind, name), inspect.StrType
            )
            given[name] = f"{values[0]}?" if is_word else values[0]
    return converted(kind, given, strict=False, noun=IN_QUERY)


def check_query(request: Request) -> None:
    """Refuse a query parameter that the route does not have. The scope has `KNOWN_QUERY`. Raises
    `BadRequest`."""
    known: frozenset[str] = request.scope[KNOWN_QUERY]
    if not known.issuperset(request.query_params):
        name = next(name for name in request.query_params if name not in known)
        raise unknown(name, known, IN_QUERY)


def converted(
    kind: type[Value], given: object, name: str = "", *, strict: bool = True, noun: str = "field"
) -> Value:
    """Read a decoded value. `name`: of the value in errors. `strict`: False for text of queries and
    headers. Raises `BadRequest`."""
    try:
        return msgspec.convert(given, kind, strict=strict)
    except msgspec.ValidationError as error:
        raise _refused(kind, error, noun, name) from None
    except UnicodeEncodeError:  # which does not say where
        place = _inner(name, next(filter(_WORD.fullmatch, _halved(given)), ""))
        raise BadRequest(f"{place or 'a text'} holds half a character", param=place) from None


def _halved(given: Any) -> Iterator[str]:
    """Yield the fields of an object with a lone surrogate, which cannot be encoded."""
    for field, value in given.items() if isinstance(given, dict) else ():
        try:
            msgspec.json.encode(value)
        except UnicodeEncodeError:
            yield field


def header(kind: Any, headers: Mapping[str, str], name: str) -> Any:
    """Read a header; None if it is absent. Raises `BadRequest`."""
    given = own_value(headers, name) if name in headers else None
    return None if given is None else converted(kind, given, name, strict=False)


def names(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the names of the Struct's fields as callers write them."""
    return kind.__struct_encode_fields__


# -- errors ----------------------------------------------------------------------------------


class _Place(NamedTuple):
    """Where a value is wrong, as `memories[0].text`, and the type that was expected there."""

    name: str
    kind: inspect.Type | None


def _refused(kind: Any, error: msgspec.ValidationError, noun: str, root: str = "") -> BadRequest:
    """Turn an error of msgspec into ours: the path, and a sentence about it."""
    match = _PLACE.fullmatch(str(error))
    said, path = (match[1], match[2]) if match else (str(error), "")
    path = path.partition("[...]")[0]  # inside an object of the caller's own
    place = _Place(".".join(part for part in (root, path) if part), _kind_at(kind, path))
    if isinstance(error.__cause__, FieldError):
        name = _inner(place.name, error.__cause__.field)
        return BadRequest(_inner(place.name, said), param=name or None)
    if missing := _MISSING.fullmatch(said):
        name = _inner(place.name, missing[1])
        return BadRequest(f"{name} is required", param=name)
    if other := _UNKNOWN.fullmatch(said):
        fields = place.kind.fields if isinstance(place.kind, inspect.StructType) else ()
        known = [field.encode_name for field in fields]
        return unknown(other[1], known, noun, place.name)
    if not place.name and _WRONG_TYPE.fullmatch(said):
        return BadRequest("the body must be a JSON object")
    if noun == IN_QUERY:
        place = place._replace(name=place.name.partition("[")[0])
    return BadRequest(f"{place.name or 'the body'} {_rule(said, place)}", param=place.name or None)


def unknown(name: str, known: Iterable[str], noun: str, place: str = "") -> BadRequest:
    """Return the error for an unknown name. `noun`: the kind of name; `place`: the object that has
    it. A name that is no plain word may be text, and is not told."""
    listed = ", ".join(sorted(known)) or "none"
    hint = f"; known are {listed}" if len(listed) <= MOST_LISTED else ""
    if not _WORD.fullmatch(name):
        return BadRequest(
            f"{place or 'the request'} has an unknown {noun}{hint}", param=place or None
        )
    whole = _inner(place, name)
    return BadRequest(f"{whole} is not a known {noun}{hint}", param=whole)


def _inner(place: str, name: str) -> str:
    return f"{place}.{name}" if place and name else place or name


def _rule(said: str, place: _Place) -> str:
    if match := _WRONG_TYPE.fullmatch(said):
        if match[2] == "null":
            return "must not be null"
        wanted = [_TYPES[one] for one in match[1].split(" | ") if one in _TYPES]
        return f"must be {' or '.join(wanted) or 'null'}"
    if match := _LENGTH.fullmatch(said):
        return _length(match[1], match[2], int(match[3]))
    if match := _BOUND.fullmatch(said):
        words = {">=": "at least ", "<=": "at most ", ">": "more than ", "<": "less than "}
        return f"must be {_TYPES[match[1]]} of {words[match[2]]}{match[3].removesuffix('.0')}"
    if match := _PATTERN.fullmatch(said):
        forms = (form for pattern, form in FORMS.items() if repr(pattern)[1:-1] == match[1])
        return next(forms, "does not have the form that is asked for")
    if isinstance(place.kind, inspect.LiteralType):
        return f"must be one of {', '.join(map(str, place.kind.values))}"
    if "out of range" in said:
        return "is out of range"
    return said


def _length(kind: str, sign: str, bound: int) -> str:
    if sign == ">=" and bound == 1:
        return "must not be empty" if kind == "str" else "must be a non-empty array"
    limit = "at least" if sign == ">=" else "at most"
    return f"must have {limit} {bound} {_LENGTHS[kind]}"


def _kind_at(kind: Any, path: str) -> inspect.Type | None:
    """Return the type at a path such as `memories[0].text`, without null; None if it is a union or
    unknown."""
    at: inspect.Type | None = _plain(_info(kind))
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        if index and isinstance(at, inspect.ListType | inspect.VarTupleType):
            at = _plain(at.item_type)
        elif isinstance(at, inspect.StructType):
            inner = (field.type for field in at.fields if field.encode_name == name)
            at = _plain(next(inner, None))
        else:
            return None
    return at


def _plain(kind: inspect.Type | None) -> inspect.Type | None:
    while isinstance(kind, inspect.Metadata):
        kind = kind.type
    if isinstance(kind, inspect.UnionType):
        rest = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
        literal = [one for one in rest if isinstance(one, inspect.LiteralType)]
        return _plain((literal or rest)[0]) if literal or len(rest) == 1 else None
    return kind


# -- what is known of a type -----------------------------------------------------------------


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


@cache
def _info(kind: Any) -> inspect.Type:
    return inspect.type_info(kind)


@cache
def _arrays(kind: Any) -> frozenset[str]:
    info = _info(kind)
    fields = info.fields if isinstance(info, inspect.StructType) else ()
    array = inspect.ListType | inspect.VarTupleType
    return frozenset(one.encode_name for one in fields if isinstance(_plain(one.type), array))


@cache
def _defaults(kind: Any) -> tuple[tuple[str, Any], ...]:
    """Return the fields that null gives a default, with it."""
    no_default = (msgspec.NODEFAULT, msgspec.UNSET, None)
    fields = msgspec.structs.fields(kind)
    return tuple((each.name, each.default) for each in fields if each.default not in no_default)


@cache
def _callers_ids(kind: Any) -> tuple[tuple[str, str], ...]:
    """Return the fields that hold an id of the caller's, each with its name in JSON."""
    fields = msgspec.structs.fields(kind)
    return tuple((each.name, each.encode_name) for each in fields if each.name in _CALLERS_IDS)

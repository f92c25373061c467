"""Read and describe posted objects from one Struct, which defines each field once.

    class Batch(Shape):
        ids: Annotated[list[str], IDS]
        limit: Annotated[Limit, "Clamped."] = 10

A field without a default is required. A field with a default may be null, which means absent,
unless it is `NOT_NULL`; with the default `UNSET`, null is a value of its own. Types are defined in
`types.py`; rules across fields belong to a shape's `check`, or to its caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Final, NamedTuple, TypeVar, get_args

import msgspec

from memtree.errors import BadRequest, MemTreeError
from memtree.memories.memory import UNSET
from memtree.wire.json_body import Body
from memtree_proxy.wire.json_schema import NULL, Json, array, described, either, object_of, schema

NOT_NULL: Final = object()  # metadata: the field may be absent, but not null
Value = TypeVar("Value", bound="Shape")


class FromSetting(str):
    """Name of a setting; the schema shows the setting's value instead."""


@dataclass(frozen=True, slots=True, eq=False)  # hashable, since annotations hold it
class Type:
    """Type of a value. `read` takes the value and the field's name, and raises `BadRequest` naming
    the field. `reads_null`: `read` itself refuses null for a required field. `raw`: `read` takes
    the JSON as bytes; not allowed inside an array."""

    schema: Json
    read: Callable[[Any, str], Any]
    reads_null: bool = False
    raw: bool = False


@dataclass(frozen=True, slots=True, eq=False)  # hashable, since annotations hold it
class TypeNow:
    """Type of a value whose `read` also takes the context of the request."""

    schema: Json
    read: Callable[[Any, str, Any], Any]


class Many(NamedTuple):
    """Array of 1 to `most` objects. `most`: a number, or the name of a setting."""

    most: int | str
    bytes_of_each: int | None = None


class Shape(msgspec.Struct, frozen=True, rename="camel"):
    """Posted object. `MORE`: further keywords of its schema. `NULLABLE`: the schema lets optional
    fields be null."""

    MORE: ClassVar[Json] = {}
    NULLABLE: ClassVar[bool] = True

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        """Refuse errors across fields: unknown fields, fields that exclude each other. `place`:
        prefix of field names in errors, such as `memories[0].`."""


class PostedFields(Mapping[str, Any]):
    """Mapping of a body's fields that decodes each field on access."""

    def __init__(self, body: Body) -> None:
        self._body = body

    def __getitem__(self, name: str) -> Any:
        if name not in self._body.spans:
            raise KeyError(name)
        return self._body.value(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return the field's value or the default. Most fields are absent, and `Mapping.get` would
        raise and catch a `KeyError` for each."""
        return self._body.value(name) if name in self._body.spans else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._body.spans)

    def __len__(self) -> int:
        return len(self._body.spans)

    def __contains__(self, name: object) -> bool:
        return name in self._body.spans

    def is_given(self, name: str) -> bool:
        return self._body.fragment(name) not in (None, b"null")

    def raw(self, name: str) -> bytes | None:
        return self._body.fragment(name) if self.is_given(name) else None

    def elements(self, name: str) -> Sequence[bytes]:
        """Return the raw elements of an array field, or an empty list if it is not an array."""
        try:
            raw = self._body.fragment(name) or b"null"
            return [bytes(element) for element in msgspec.json.decode(raw, type=list[msgspec.Raw])]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return []


class _Field(NamedTuple):
    attribute: str
    name: str
    kind: Type | TypeNow | Many
    shape: type[Shape] | None
    says: str
    read: Callable[[Any, str, Any], Any]
    reads_null: bool
    raw: bool
    required: bool
    keeps_null: bool
    nullable: bool


def read(
    shape: type[Value], given: Body | Mapping[str, Any], by: Any = None, place: str = ""
) -> Value:
    """Read an object field by field. `by`: context of the request. Raises `BadRequest`."""
    fields = PostedFields(given) if isinstance(given, Body) else given
    shape.check(fields, place)
    values: dict[str, Any] = {}
    for field in _fields(shape):
        if isinstance(field.kind, Many):
            assert isinstance(fields, PostedFields)  # elements of an array have no raw fields
            if field.required or fields.is_given(field.name):
                values[field.attribute] = _many(fields, field, by)
            continue
        if field.raw:
            assert isinstance(fields, PostedFields)
            value = fields.raw(field.name)
        else:
            value = fields.get(field.name)
        if value is None:
            if field.keeps_null and field.name in fields:
                values[field.attribute] = None
            if not field.required:
                continue
            if not field.reads_null:
                raise BadRequest(f"{place}{field.name} is required", param=place + field.name)
        values[field.attribute] = field.read(value, place + field.name, by)
    return shape(**values)


def object_at(value: object, name: str) -> Mapping[str, Any]:
    """Return the value, or raise `BadRequest` if it is not an object."""
    if not isinstance(value, dict):
        raise BadRequest(f"{name} must be an object", param=name)
    return value


@contextmanager
def placed(place: str) -> Iterator[None]:
    """Prefix the field that an error names with a place, such as `rows[0].`."""
    try:
        yield
    except MemTreeError as error:
        raise type(error)(f"{place}{error.message}", param=f"{place}{error.param}") from None


def named(name: str) -> Type:
    """Return the type of an object that the document describes under this name."""
    return Type(schema(name) if name else {}, object_at, reads_null=True)


def refuse_unknown(shape: type[Shape], given: Mapping[str, Any], name: str) -> None:
    """Raise `BadRequest` if an object called `name` has a field that the shape lacks."""
    known = [field.name for field in _fields(shape)]
    if not set(known).issuperset(given):
        raise BadRequest(f"{name} knows only {', '.join(known)}", param=name)


def names(shape: type[Shape]) -> tuple[str, ...]:
    """Return the posted names of the shape's fields."""
    return tuple(field.name for field in _fields(shape))


def kinds(shape: type[Shape]) -> Iterator[tuple[str, str, Json]]:
    """Yield name, description and JSON Schema of each field that is not an array of shapes."""
    for field in _fields(shape):
        if not isinstance(field.kind, Many):
            yield field.name, field.says, field.kind.schema


def schema_of(shape: type[Shape], settings: Any = None) -> Json:
    """Return the JSON Schema of a shape. `settings`: source of its limits."""
    fields = _fields(shape)
    required = [field.name for field in fields if field.required]
    return object_of({f.name: _schema(f, settings) for f in fields}, required) | shape.MORE


def _many(fields: PostedFields, field: _Field, by: Any) -> list[Any]:
    assert isinstance(field.kind, Many)
    name, elements, most = field.name, fields.elements(field.name), _most(field.kind, by)
    if not elements:
        raise BadRequest(f"{name} must be a non-empty array", param=name)
    if len(elements) > most:
        raise BadRequest(f"{name} must be at most {most}", param=name)
    return [
        field.read(_element(raw, f"{name}[{at}]", field.kind), f"{name}[{at}]", by)
        for at, raw in enumerate(elements)
    ]


def _element(raw: bytes, name: str, of: Many) -> Mapping[str, Any]:
    if of.bytes_of_each is not None and len(raw) > of.bytes_of_each:
        raise BadRequest(f"{name} has {len(raw)} bytes", param=name)
    try:
        return object_at(msgspec.json.decode(raw), name)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadRequest(f"{name} is not valid JSON", param=name) from None


def _most(of: Many, limits: Any) -> int:
    most: int = getattr(limits, of.most) if isinstance(of.most, str) else of.most
    return most


def _schema(field: _Field, settings: Any) -> Json:
    inner = {} if field.shape is None else schema_of(field.shape, settings)
    if isinstance(field.kind, Many):
        made = array(inner, minItems=1, maxItems=_most(field.kind, settings))
    else:
        made = {
            key: getattr(settings, value) if isinstance(value, FromSetting) else value
            for key, value in (field.kind.schema or inner).items()
        }
    if field.nullable:
        made = either(made, NULL)
    return described(made, field.says) if field.says else made


@cache
def _fields(shape: type[Shape]) -> tuple[_Field, ...]:
    return tuple(_field(info, shape.NULLABLE) for info in msgspec.structs.fields(shape))


def _field(info: msgspec.structs.FieldInfo, nullable: bool) -> _Field:
    parts = list(_parts(info.type))
    kind = next((one for one in parts if isinstance(one, Type | TypeNow | Many)), None)
    shape = next((one for one in parts if isinstance(one, type) and issubclass(one, Shape)), None)
    kind = kind or named("")
    return _Field(
        attribute=info.name,
        name=info.encode_name,
        kind=kind,
        shape=shape,
        says=next((one for one in parts if isinstance(one, str)), ""),
        read=_reader(kind, shape),
        reads_null=isinstance(kind, Type) and kind.reads_null,
        raw=isinstance(kind, Type) and kind.raw,
        required=info.required,
        keeps_null=info.default is UNSET,
        nullable=nullable and not info.required and NOT_NULL not in parts,
    )


def _reader(kind: Type | TypeNow | Many, shape: type[Shape] | None) -> Callable[..., Any]:
    """Return a function that takes a value, its name and the context of the request, and reads the
    value."""
    if shape is not None:
        return lambda value, name, by: read(shape, object_at(value, name), by, f"{name}.")
    if isinstance(kind, TypeNow):
        return kind.read
    assert isinstance(kind, Type)
    return lambda value, name, by: kind.read(value, name)


def _parts(annotation: Any) -> Iterator[Any]:
    """Return the type and the metadata of an annotation, the outermost metadata first."""
    metadata = getattr(annotation, "__metadata__", ())
    yield from metadata
    yield annotation
    for inner in get_args(annotation):
        if not any(inner is entry for entry in metadata):
            yield from _parts(inner)

"""Posted objects: a Struct says each field once, and is read and described from that.

    class Batch(Shape):
        ids: Annotated[list[str], IDS]
        limit: Annotated[Limit, "Clamped."] = 10

A field without a default is required. One with a default may be null, which means absent, unless it
is `NOT_NULL`; with `UNSET` as its default null is a value of its own. What this file does not do:
know a type (`types.py`) or what fields mean together (a shape's `check`, and who reads it).
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

NOT_NULL: Final = object()  # beside a type: null is refused though the field may be absent
Value = TypeVar("Value", bound="Shape")


class FromSetting(str):
    """Name of a setting. In a schema its value stands in this place."""


@dataclass(frozen=True, slots=True, eq=False)  # hashable: it stands in annotations
class Type:
    """A kind of value. `read` takes the value and the field's name; it raises `BadRequest` naming
    it. `reads_null`: it says itself what is wrong where a required field is null or absent. `raw`:
    it reads the JSON itself, as bytes; not within an array."""

    schema: Json
    read: Callable[[Any, str], Any]
    reads_null: bool = False
    raw: bool = False


@dataclass(frozen=True, slots=True, eq=False)  # hashable: it stands in annotations
class TypeNow:
    """A kind of value that is read with what is known of the request: `read` takes that, too."""

    schema: Json
    read: Callable[[Any, str, Any], Any]


class Many(NamedTuple):
    """An array of 1 to `most` objects; a name is that of a setting."""

    most: int | str
    bytes_of_each: int | None = None


class Shape(msgspec.Struct, frozen=True, rename="camel"):
    """`MORE`: what else its schema says. `NULLABLE`: the schema says of optional fields that they
    may be null, as all may."""

    MORE: ClassVar[Json] = {}
    NULLABLE: ClassVar[bool] = True

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        """Refuse what no single field can: unknown fields, fields that exclude each other.
        `place`: stands before names of fields in errors, as `memories[0].`."""


class PostedFields(Mapping[str, Any]):
    """The fields of a body, each decoded when it is asked for."""

    def __init__(self, body: Body) -> None:
        self._body = body

    def __getitem__(self, name: str) -> Any:
        if name not in self._body.spans:
            raise KeyError(name)
        return self._body.value(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Faster than by an exception, which most fields of a shape would raise."""
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
        """The raw elements of an array; none where it is no array."""
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
    """Read an object field by field. `by`: what is known of the request. Raises `BadRequest`."""
    fields = PostedFields(given) if isinstance(given, Body) else given
    shape.check(fields, place)
    values: dict[str, Any] = {}
    for field in _fields(shape):
        if isinstance(field.kind, Many):
            assert isinstance(fields, PostedFields)  # within an array no element is raw
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
    """Raise `BadRequest` unless the value is an object."""
    if not isinstance(value, dict):
        raise BadRequest(f"{name} must be an object", param=name)
    return value


@contextmanager
def placed(place: str) -> Iterator[None]:
    """Put a place, as `rows[0].`, before the field that an error names."""
    try:
        yield
    except MemTreeError as error:
        raise type(error)(f"{place}{error.message}", param=f"{place}{error.param}") from None


def named(name: str) -> Type:
    """Say that an object's schema stands in the document under this name."""
    return Type(schema(name) if name else {}, object_at, reads_null=True)


def refuse_unknown(shape: type[Shape], given: Mapping[str, Any], name: str) -> None:
    """Raise `BadRequest` where an object called `name` has a field that its shape has not."""
    known = [field.name for field in _fields(shape)]
    if not set(known).issuperset(given):
        raise BadRequest(f"{name} knows only {', '.join(known)}", param=name)


def names(shape: type[Shape]) -> tuple[str, ...]:
    """The fields' names as they are posted."""
    return tuple(field.name for field in _fields(shape))


def kinds(shape: type[Shape]) -> Iterator[tuple[str, str, Json]]:
    """The name, the sentence and the JSON Schema of each field that is not an array of shapes."""
    for field in _fields(shape):
        if not isinstance(field.kind, Many):
            yield field.name, field.says, field.kind.schema


def schema_of(shape: type[Shape], settings: Any = None) -> Json:
    """The JSON Schema of a shape. `settings`: where limits come from."""
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
    """Read a value of the kind, called by its name, with what is known of the request."""
    if shape is not None:
        return lambda value, name, by: read(shape, object_at(value, name), by, f"{name}.")
    if isinstance(kind, TypeNow):
        return kind.read
    assert isinstance(kind, Type)
    return lambda value, name, by: kind.read(value, name)


def _parts(annotation: Any) -> Iterator[Any]:
    """Return the parts of an annotation, the outermost metadata first."""
    metadata = getattr(annotation, "__metadata__", ())
    yield from metadata
    yield annotation
    for inner in get_args(annotation):
        if not any(inner is entry for entry in metadata):
            yield from _parts(inner)

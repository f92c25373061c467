"""Build and describe answers from one table, which defines each field once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any, Final, Generic, NamedTuple, TypeVar

from memtree_proxy.wire.json_schema import Json, array, described, object_of

Row = TypeVar("Row")
LEFT_OUT: Final = object()  # value that omits an optional field
WHERE_EMPTY: Final = "where empty"  # marks an optional field that an empty attribute omits


class Shown(NamedTuple, Generic[Row]):
    """Field of an answer. `value`: a function of the row, or the path of an attribute such as
    `memory.id`; None means the field's name. `says`: the description. `made` converts an attribute.
    `optional`: omitted if its value is `LEFT_OUT`, and with `WHERE_EMPTY` also if its attribute is
    empty."""

    schema: Json
    value: Callable[[Row], object] | str | None = None
    says: str = ""
    optional: bool | str = False
    made: Callable[[Any], object] | None = None


Answer = Mapping[str, Shown[Row]]
SUCCESS: Answer[Any] = {"success": Shown({"const": True}, lambda row: True)}


def shown(answer: Answer[Row], row: Row, **others: object) -> dict[str, Any]:
    """Build the answer for a row. `others`: values of fields that the row does not hold."""
    made = {}
    for name, field in answer.items():
        if name in others:
            value = others[name]
        elif callable(field.value):
            value = field.value(row)
        else:
            value = attrgetter(field.value or name)(row)
            if field.optional == WHERE_EMPTY and not value:
                value = LEFT_OUT
            elif field.made is not None:
                value = field.made(value)
        if value is not LEFT_OUT:
            made[name] = value
    return made


def shown_each(answer: Answer[Row], rows: Iterable[Row]) -> list[dict[str, Any]]:
    return [shown(answer, row) for row in rows]


def same(schema: Json, says: str = "", made: Callable[[Any], object] | None = None) -> Shown[Any]:
    """Describe a field whose value is the row's attribute of the same name."""
    return Shown(schema, None, says, made=made)


def rows_of(answer: Answer[Any], says: str = "") -> Shown[Any]:
    """Describe a field that holds an array of answers, each built from the table `answer`."""
    shape = array(schema_of_answer(answer))
    return same(shape, says, lambda rows: shown_each(answer, rows))


def schema_of_answer(answer: Answer[Any], **more: Any) -> Json:
    """Return the JSON Schema of the answer. `more`: further keywords of the schema."""
    properties = {
        name: described(field.schema, field.says) if field.says else field.schema
        for name, field in answer.items()
    }
    required = [name for name, field in answer.items() if not field.optional]
    return object_of(properties, required, **more)

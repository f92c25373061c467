"""Shapes: what is read, what is refused, what is described, from the same fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import msgspec
import pytest

from memtree.errors import BadRequest, SecretRejected
from memtree.memories.memory import UNSET, Unset
from memtree.wire.json_body import split
from memtree_proxy.wire.shape import NOT_NULL, Many, Shape, Type, placed, read, schema_of
from memtree_proxy.wire.types import AN_ID, QUERY, YES_OR_NO, clamped, ids


class Row(Shape, frozen=True, kw_only=True):
    row_id: Annotated[str, AN_ID, "Its id."]
    flag: Annotated[bool, YES_OR_NO] = False


class Posted(Shape, frozen=True, kw_only=True):
    query: Annotated[str, QUERY]
    limit: Annotated[int, clamped(1, 9), "Clamped."] = 5
    owner: Annotated[str | Unset | None, AN_ID] = UNSET
    ids: Annotated[Sequence[str], ids(2), NOT_NULL] = ()
    inner: Row | None = None
    rows: Annotated[Sequence[Row], Many("most_rows", 50)] = ()
    old_name: Annotated[bool, YES_OR_NO] = msgspec.field(default=False, name="old_name")


class Limits(NamedTuple):
    most_rows: int = 2


def posted(**fields: Any) -> Posted:
    return read(Posted, split(msgspec.json.encode({"query": "tea", **fields})), Limits())


def refusal(**fields: Any) -> tuple[str | None, str]:
    with pytest.raises(BadRequest) as caught:
        posted(**fields)
    return caught.value.param, caught.value.message


def test_absent_fields_have_their_defaults_and_so_have_null_ones():
    assert posted() == Posted(query="tea")
    assert posted(limit=None, inner=None, rows=None, ids=None) == Posted(query="tea")


def test_null_is_a_value_where_unset_is_the_default():
    assert posted().owner is UNSET
    assert posted(owner=None).owner is None
    assert posted(owner="ada").owner == "ada"


@pytest.mark.parametrize(("given", "kept"), [(0, 1), (99, 9), (2.0, 2), ("2", 2), ("-7", 1)])
def test_integers_are_clamped_and_may_be_written_as_floats_or_strings(given: Any, kept: int):
    assert posted(limit=given).limit == kept


def test_objects_and_arrays_of_objects_are_read_by_their_own_shapes():
    made = posted(inner={"rowId": "a", "flag": True}, rows=[{"rowId": "b", "more": 1}])
    assert made.inner == Row(row_id="a", flag=True)
    assert made.rows == [Row(row_id="b")]


@pytest.mark.parametrize(
    ("fields", "param", "message"),
    [
        ({"query": None}, "query", "query must be a text that is not empty"),
        ({"limit": True}, "limit", "limit must be an integer"),
        ({"limit": "null"}, "limit", "limit must be an integer"),
        ({"old_name": "true"}, "old_name", "old_name must be a boolean"),
        ({"inner": []}, "inner", "inner must be an object"),
        ({"inner": {}}, "inner.rowId", "inner.rowId is required"),
        ({"rows": {}}, "rows", "rows must be a non-empty array"),
        ({"rows": []}, "rows", "rows must be a non-empty array"),
        ({"rows": [{}] * 3}, "rows", "rows must be at most 2"),
        ({"rows": [{"rowId": "a"}, 5]}, "rows[1]", "rows[1] must be an object"),
        ({"rows": [{"rowId": "a", "flag": 1}]}, "rows[0].flag", "rows[0].flag must be a boolean"),
        ({"rows": [{"rowId": "a" * 50}]}, "rows[0]", "rows[0] has 62 bytes"),
        ({"ids": ["a", "a", "b"]}, "ids", "ids must be at most 2"),
    ],
)
def test_an_error_names_the_place(fields: dict[str, Any], param: str, message: str):
    assert refusal(**fields) == (param, message)


def test_an_element_that_cannot_be_decoded_is_named():
    body = split(b'{"query":"tea","rows":[{"rowId":"a"},{"rowId":1e999}]}')
    with pytest.raises(BadRequest) as caught:
        read(Posted, body, Limits())
    assert (caught.value.param, caught.value.message) == ("rows[1]", "rows[1] is not valid JSON")


def test_the_schema_says_what_is_read():
    schema = schema_of(Posted, Limits(most_rows=7))
    assert schema["required"] == ["query"]
    assert schema["properties"]["limit"] == {
        "anyOf": [{"type": "integer"}, {"type": "null"}],
        "description": "Clamped.",
    }
    assert schema["properties"]["ids"]["type"] == "array"  # null is not among its types
    assert schema["properties"]["rows"]["anyOf"][0]["maxItems"] == 7
    assert "old_name" in schema["properties"]
    assert schema["properties"]["inner"]["anyOf"][0]["required"] == ["rowId"]


class Sheet(Shape, frozen=True):
    document: Annotated[str, Type({"type": "object"}, lambda raw, name: raw.decode(), raw=True)] = (
        ""
    )


@pytest.mark.parametrize(("posted", "kept"), [('{"a":  1}', '{"a":  1}'), ("null", ""), (None, "")])
def test_a_raw_field_is_read_as_it_was_posted(posted: str | None, kept: str):
    field = "" if posted is None else f'"document": {posted}'
    assert read(Sheet, split(f"{{{field}}}".encode())).document == kept


def test_an_error_gets_the_place_of_its_field_and_keeps_its_kind():
    with pytest.raises(SecretRejected) as caught, placed("rows[1]."):
        raise SecretRejected("text holds a secret", param="text")
    assert (caught.value.param, caught.value.message) == (
        "rows[1].text",
        "rows[1].text holds a secret",
    )

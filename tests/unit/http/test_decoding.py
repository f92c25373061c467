"""Structs decoded strictly; each refusal names the path and says what is asked for."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import UNSET, Meta, UnsetType
from starlette.datastructures import QueryParams

from memtree.errors import BadRequest
from memtree.history.json_body import split
from memtree_proxy.http import decoding
from memtree_proxy.http.decoding import (
    FORMS,
    FieldError,
    OrNull,
    Posted,
    converted,
    decode,
    fields_of,
    header,
    names,
    queried,
)

FORMS["^[a-z]+$"] = "must be lower case letters"


class Row(Posted, frozen=True):
    text: Annotated[str, Meta(min_length=1, max_length=5)]
    first: bool = False
    last: bool = False

    def check(self) -> None:
        if self.first and self.last:
            raise FieldError("first", "and last exclude each other")


class Query(Posted, frozen=True):
    limit: OrNull[Annotated[int, Meta(ge=1, le=9)]] = 5
    score: Annotated[float, Meta(ge=0, le=1)] | None = None
    mode: OrNull[Literal["fast", "slow"]] = "fast"
    name: Annotated[str, Meta(pattern="^[a-z]+$")] | None = None
    tags: Annotated[list[str], Meta(max_length=2)] | None = None
    purge: OrNull[bool] = False


class Batch(Query, frozen=True, kw_only=True, rename="camel"):
    memory_rows: Annotated[list[Row], Meta(min_length=1, max_length=2)]
    size: int | str | None = None
    ends: float | UnsetType | None = UNSET


ROW = {"text": "a"}


def refusal(**fields: Any) -> tuple[str | None, str]:
    with pytest.raises(BadRequest) as caught:
        decode(Batch, msgspec.json.encode({"memoryRows": [ROW], **fields}))
    return caught.value.param, caught.value.message


def test_null_is_absent_where_a_field_has_a_default():
    body = b'{"memoryRows":[{"text":"a"}],"limit":null,"mode":null,"score":null,"tags":null}'
    assert decode(Batch, body) == decode(Batch, b'{"memoryRows":[{"text":"a"}]}')
    assert decode(Batch, body).limit == 5


def test_where_null_means_something_it_is_kept():
    assert decode(Batch, b'{"memoryRows":[{"text":"a"}],"ends":null}').ends is None
    assert decode(Batch, b'{"memoryRows":[{"text":"a"}]}').ends is UNSET


def test_a_score_takes_an_integer_and_a_time_a_float():
    assert decode(Query, b'{"score":1}').score == 1.0
    assert decode(Batch, b'{"memoryRows":[{"text":"a"}],"ends":1.5e9}').ends == 1.5e9


@pytest.mark.parametrize(
    ("fields", "param", "message"),
    [
        ({"limit": 0}, "limit", "limit must be an integer of at least 1"),
        ({"limit": 10}, "limit", "limit must be an integer of at most 9"),
        ({"limit": "2"}, "limit", "limit must be an integer"),
        ({"limit": 2.0}, "limit", "limit must be an integer"),
        ({"limit": True}, "limit", "limit must be an integer"),
        ({"score": 1.5}, "score", "score must be a number of at most 1"),
        ({"score": "1"}, "score", "score must be a number"),
        ({"purge": 1}, "purge", "purge must be a boolean"),
        ({"mode": "quick"}, "mode", "mode must be one of fast, slow"),
        ({"name": "A"}, "name", "name must be lower case letters"),
        ({"size": 1.5}, "size", "size must be an integer or a string"),
        ({"tags": ["a", "b", "c"]}, "tags", "tags must have at most 2 elements"),
        ({"tags": ["a", 1]}, "tags[1]", "tags[1] must be a string"),
        ({"tags": "a"}, "tags", "tags must be an array"),
        ({"memoryRows": []}, "memoryRows", "memoryRows must be a non-empty array"),
        ({"memoryRows": None}, "memoryRows", "memoryRows must not be null"),
        ({"memoryRows": [5]}, "memoryRows[0]", "memoryRows[0] must be an object"),
        ({"memoryRows": [ROW, {}]}, "memoryRows[1].text", "memoryRows[1].text is required"),
        ({"memoryRows": [{"text": ""}]}, "memoryRows[0].text",
         "memoryRows[0].text must not be empty"),
        ({"memoryRows": [{"text": "abcdef"}]}, "memoryRows[0].text",
         "memoryRows[0].text must have at most 5 characters"),
        ({"memoryRows": [{**ROW, "x": 1}]}, "memoryRows[0].x",
         "memoryRows[0].x is not a known field; known are first, last, text"),
        ({"memoryRows": [ROW, {**ROW, "first": True, "last": True}]}, "memoryRows[1].first",
         "memoryRows[1].first and last exclude each other"),
        ({"limits": 1}, "limits", "limits is not a known field; known are ends, limit, memoryRows, "
         "mode, name, purge, score, size, tags"),
    ],
)  # fmt: skip
def test_an_error_names_the_path_and_says_what_is_asked_for(
    fields: dict[str, Any], param: str, message: str
):
    assert refusal(**fields) == (param, message)


def test_a_number_that_no_machine_holds_is_out_of_range():
    with pytest.raises(BadRequest, match="score is out of range") as caught:
        decode(Query, b'{"score":1e400}')
    assert caught.value.param == "score"


def test_what_is_no_object_and_what_is_no_json():
    for raw, message in (
        (b"[]", "the body must be a JSON object"),
        (b"null", "the body must be a JSON object"),
        (b"{", "not valid JSON"),
    ):
        with pytest.raises(BadRequest, match=message) as caught:
            decode(Query, raw)
        assert caught.value.param is None


@pytest.mark.parametrize("name", ["x" * 500, "A line of text", "\u00e4"])
def test_an_unknown_name_that_is_no_word_is_not_told(name: str):
    param, message = refusal(**{name: 1})
    assert param is None
    assert message.startswith("the request has an unknown field; known are ends, limit")
    param, message = refusal(memoryRows=[{**ROW, name: 1}])
    assert param == "memoryRows[0]"
    assert message.startswith("memoryRows[0] has an unknown field; known are first, last, text")


def test_a_query_is_read_by_the_same_types():
    asked = QueryParams("limit=3&score=0.5&purge=TRUE&mode=slow&tags=a,%20b&name=x")
    assert queried(Query, asked) == Query(
        limit=3, score=0.5, purge=True, mode="slow", tags=["a", "b"], name="x"
    )
    assert queried(Query, QueryParams("tags=a&tags=b")).tags == ["a", "b"]
    assert queried(Query, QueryParams("name=null")).name == "null"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("limit=0", "limit must be an integer of at least 1"),
        ("limit=x", "limit must be an integer"),
        ("limit=null", "limit must be an integer"),
        ("purge=yes", "purge must be a boolean"),
        ("score=nan", "score must be a number of at least 0"),
        ("limit=1&limit=2", "limit is given twice"),
        ("mode=", "mode must be one of fast, slow"),
        ("other=1", "other is not a known query parameter"),
    ],
)
def test_a_query_is_refused_by_the_same_rules(asked: str, message: str):
    with pytest.raises(BadRequest) as caught:
        queried(Query, QueryParams(asked))
    assert caught.value.message.startswith(message)
    assert caught.value.param == asked.partition("=")[0]


def test_a_header_is_read_by_a_type():
    days = Annotated[int, Meta(ge=1, le=365)]
    assert header(days, {"x-days": " 30 "}, "x-days") == 30
    assert header(days, {}, "x-days") is None
    with pytest.raises(BadRequest, match="x-days must be an integer of at most 365") as caught:
        header(days, {"x-days": "366"}, "x-days")
    assert caught.value.param == "x-days"


def test_some_fields_of_a_long_body_are_decoded():
    body = split(b'{"messages":[1,2], "limit" : 7,"other":null}')
    assert fields_of(Query, body, names(Query)) == Query(limit=7)
    with pytest.raises(BadRequest, match="limit must be an integer"):
        fields_of(Query, split(b'{"limit":"7"}'), names(Query))


def test_a_value_inside_another_is_named_by_its_path():
    with pytest.raises(BadRequest, match=r"^arguments\.limit must be an integer$") as caught:
        converted(Query, {"limit": "1"}, "arguments")
    assert caught.value.param == "arguments.limit"


class Named(Posted, frozen=True):
    agent_id: str | None = msgspec.field(default=None, name="agentId")


def test_a_placeholder_is_no_id():
    assert queried(Named, QueryParams("agentId=helper")).agent_id == "helper"
    for read in (
        lambda: queried(Named, QueryParams("agentId=undefined")),
        lambda: decode(Named, b'{"agentId": "null"}'),
    ):
        with pytest.raises(BadRequest, match=r"^agentId is a placeholder, not an id$") as caught:
            read()
        assert caught.value.param == "agentId"


def test_the_fields_of_a_class_are_looked_at_once(monkeypatch: pytest.MonkeyPatch):
    decode(Named, b'{"agentId": "helper"}')
    monkeypatch.setattr(decoding, "_CALLERS_IDS", None)
    assert decode(Named, b'{"agentId": "helper"}').agent_id == "helper"

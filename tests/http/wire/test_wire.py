"""Bodies as bytes: what is found, what is refused, and what survives byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.errors import BadRequest
from memtree.history.json_body import OWN_FIELDS, split

ODD = b' {\n "model" : "m\\u0041",\t"x":[1 , 2],"messages":[{"role":"user"} ], "y":1.0e2 }\n'


def test_an_untouched_body_is_the_same_object():
    assert split(ODD).rewritten() is ODD


def test_spans_hold_the_raw_values():
    body = split(ODD)
    assert list(body.spans) == ["model", "x", "messages", "y"]
    assert body.fragment("x") == b"[1 , 2]"
    assert body.value("model") == "mA"
    assert body.fragment("absent") is None


def test_new_messages_leave_all_other_bytes_as_they_were():
    changed = split(ODD).rewritten({"messages": b"[1]"})
    assert changed == ODD.replace(b'[{"role":"user"} ]', b"[1]")


@pytest.mark.parametrize(
    ("posted", "left"),
    [
        (b'{"memory":true}', b"{}"),
        (b'{ "memory":true , "a":1 }', b'{ "a":1 }'),
        (b'{"a":1, "memory":true}', b'{"a":1}'),
        (b'{"a":1, "memory":true ,\n"b":2}', b'{"a":1 ,\n"b":2}'),
        (b'{"memory":1,"mode":2,"a":3,"query":4,"use_rag":5,"b":6}', b'{"a":3,"b":6}'),
        (b'{"m\\u0065mory":true,"a":1}', b'{"a":1}'),
    ],
)
def test_own_fields_are_cut_out(posted: bytes, left: bytes):
    assert split(posted).rewritten() == left


@pytest.mark.parametrize("name", sorted(OWN_FIELDS))
def test_every_own_field_goes_and_the_rest_stays_valid(name: str):
    for at in range(3):
        items: list[tuple[str, Any]] = [("a", {"memory": 1}), ("b", [None, "mode"])]
        items.insert(at, (name, {"deep": [1, 2]}))
        posted = json.dumps(dict(items)).encode()
        assert json.loads(split(posted).rewritten()) == {"a": {"memory": 1}, "b": [None, "mode"]}


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "not valid JSON"),
        (b"nothing", "not valid JSON"),
        (b'{"a":1} x', "not valid JSON"),
        (b"[]", "must be a JSON object"),
        (b'"text"', "must be a JSON object"),
        (b'{"a":"\xff"}', "not valid UTF-8"),
        (b'{"\xff":1}', "invalid UTF-8"),
        (b'{"a":"\\ud800"}', "half a surrogate"),
        (b'{"a":NaN}', "not valid JSON"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b'{"a":1,"a":2}', "is given twice"),
        (b'{"a":1,"a":1}', "is given twice"),
        (b'{"a":12,"a":1}', "is given twice"),
        (b'{"a":{},"b":1,"\\u0061":{}}', "is given twice"),
        (b'{"a":[1],"x":0,"a":[1],"x":1}', "is given twice"),
    ],
)
def test_what_is_no_sound_object_is_refused(raw: bytes, why: str):
    with pytest.raises(BadRequest) as caught:
        split(raw)
    assert why in caught.value.message


def test_an_error_says_nothing_of_what_was_posted():
    with pytest.raises(BadRequest) as caught:
        split(b'{"messages": "my secret diary" "more"}')
    assert "secret" not in caught.value.message


def test_messages_keep_their_fragments():
    messages = split(ODD).messages()
    assert [message.raw for message in messages] == [b'{"role":"user"}']


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b'{"messages":[{"role":"user","content":"a\\ud800"}]}', "messages[0].content"),
        (b'{"messages":[],"query":"\\udc00x"}', "query"),
    ],
)
def test_half_a_surrogate_pair_is_named(body: bytes, place: str) -> None:
    with pytest.raises(BadRequest) as caught:
        split(body)
    assert caught.value.param == place

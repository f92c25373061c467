"""The items of a posted array, where they stand."""

from __future__ import annotations

import pytest

from memtree.dialects.translated_messages import RawItems, raw_items
from memtree.wire import json_body

BODY = b'{"model": "m", "input" : [ {"a":[1]} , 7 ,\n[2] ], "n": [0]}'


def found(body: bytes = BODY) -> RawItems:
    items = raw_items(json_body.split(body), "input")
    assert items is not None
    return items


def test_items_are_cut_out_where_they_stand():
    items = found()
    assert items[0:3] == (b'{"a":[1]}', b"7", b"[2]")
    assert [items.size(at) for at in range(len(items))] == [9, 1, 3]
    assert items[-1] == b"[2]"
    assert list(items) == list(items[:])


def test_the_array_is_the_posted_one():
    assert found().array() == b'[ {"a":[1]} , 7 ,\n[2] ]'
    assert found().with_item(1, b"8") == b'[ {"a":[1]} , 8 ,\n[2] ]'


def test_each_list_has_a_number_of_its_own():
    assert found().number != found().number


@pytest.mark.parametrize("posted", [b'"a"', b"null", b"{}", b"[]"])
def test_where_there_are_none(posted):
    assert not raw_items(json_body.split(b'{"input":' + posted + b"}"), "input")
    assert not raw_items(json_body.split(b'{"model":' + posted + b"}"), "input")

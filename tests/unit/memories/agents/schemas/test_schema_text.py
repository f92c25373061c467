from __future__ import annotations

import pytest

from memtree.errors import SchemaInvalid
from memtree.memories.agents.schemas.schema_text import (
    MAX_BYTES,
    MAX_NESTING,
    parsed,
    schema_text,
)


def refused(text: str) -> str:
    with pytest.raises(SchemaInvalid) as caught:
        parsed(text)
    assert caught.value.param == "schema"
    return caught.value.message


def test_text_is_kept_as_it_is():
    text = '{ "type" : "object" }'
    assert schema_text(text) == text
    assert schema_text({"type": "object", "title": "ä"}) == '{"type":"object","title":"ä"}'


def test_an_object_that_is_no_json():
    for document in ({"a": {1, 2}}, {"a": float("nan")}):
        with pytest.raises(SchemaInvalid, match="not valid JSON"):
            schema_text(document)


def test_its_size_counts_in_bytes():
    def of(letter: str, size: int) -> str:
        return '{"title":"' + letter * ((size - 12) // len(letter.encode())) + '"}'

    assert parsed(of("a", MAX_BYTES))
    assert parsed(of("ä", MAX_BYTES))
    for text in (of("a", MAX_BYTES + 1), of("ä", MAX_BYTES + 2), of("漢", 3 * MAX_BYTES)):
        assert f"more than {MAX_BYTES:,} bytes" in refused(text)


@pytest.mark.parametrize("text", ['{"a":1,"a":1}', '{"b":{"a":1,"\\u0061":2}}', '[{"":1,"":2}]'])
def test_a_name_twice(text):
    assert "twice" in refused(text)


def test_nesting():
    assert parsed("[" * MAX_NESTING + "]" * MAX_NESTING)
    for depth in (MAX_NESTING + 1, 1_000, 7_900):
        assert f"deeper than {MAX_NESTING}" in refused("[" * depth + "]" * depth)


@pytest.mark.parametrize("number", ["1e400", "-1e400", "123456789e999999999"])
def test_numbers_that_no_double_holds(number):
    assert "too large for a double" in refused(f'{{"minimum":{number}}}')


@pytest.mark.parametrize("number", ["18446744073709551616", "-9223372036854775809", "9" * 9_000])
def test_integers_that_64_bits_do_not_hold(number):
    assert "more than 64 bits" in refused(f'{{"minimum":{number}}}')


@pytest.mark.parametrize(
    "text", ["", "{", "{'a':1}", '{"a":NaN}', '{"a":Infinity}', "{}x", "\ufeff{}"]
)
def test_what_is_no_json(text):
    message = refused(text)
    assert "not valid JSON" in message


@pytest.mark.parametrize(
    "text", ['{"title":"\\ud800"}', '{"\\udc00":1}', '{"enum":["\\ud800"]}', '{"title":"\ud800"}']
)
def test_half_a_character(text):
    assert "half a character" in refused(text)


def test_what_is_wrong_is_told_without_the_text():
    assert "hunter2" not in refused('{"title": "hunter2" oh}')

"""JSON with half characters and huge numbers."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.conversation.posted_json import decode, decode_any, encode, mended
from memtree.errors import BadRequest
from memtree.wire.json_body import elements_of, fields_of, split, with_value

HALF = rb'{"a":"\ud99c","b\udc00":[1,"\ud83d\ude00\ud83d"],"c":2}'


@given(st.text(st.characters(codec=None), max_size=20))
def test_halves_are_mended_and_nothing_else(text):
    raw = json.dumps([text]).encode()
    assert len(mended(raw)) == len(raw)
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if not any("\ud800" <= sign <= "\udfff" for sign in text):
        assert mended(raw) == raw
    assert [len(each) for each in decode(raw)] == [len(whole)]


def test_raw_pieces_keep_their_bytes():
    fields = fields_of(HALF)
    assert list(map(bytes, fields.values())) == [rb'"\ud99c"', rb'[1,"\ud83d\ude00\ud83d"]', b"2"]
    assert elements_of(bytes(fields["b\ufffd"]))[1] == rb'"\ud83d\ude00\ud83d"'
    assert with_value(HALF, fields, "c", b"3") == HALF.replace(b":2}", b":3}")


@pytest.mark.parametrize("halves", [True, False])
def test_fields_of_our_own_hold_no_half_characters(halves):
    assert split(HALF, halves=True).raw == HALF
    with pytest.raises(BadRequest, match="query holds half"):
        split(rb'{"query":"\ud99c"}', halves=halves)


def test_numbers_out_of_range_are_text():
    assert decode_any(b"[1e999, 1.5, 12, 123456789012345678901]") == [
        "1e999", 1.5, 12, "123456789012345678901"
    ]  # fmt: skip
    assert decode_any(b"[123456789012345678901]") == [123456789012345678901]
    assert encode({"b": 1 << 70, "a": "\u00e9"}, order="deterministic").startswith(b'{"a":"\xc3')
    with pytest.raises(msgspec.ValidationError):
        decode(b"1", list)

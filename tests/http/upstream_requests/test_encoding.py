"""Compressed bodies: every encoding, whole or byte by byte, and what a hostile one costs."""

from __future__ import annotations

import gzip
import json
import sys
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.errors import BadRequest, RequestTooLarge, UnsupportedMedia
from memtree_proxy.http.request_body import MAX_MEMBERS, PIECE, Decoder, decoded
from tests.http.served.encoders import ENCODERS, encoded, raw_deflate

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MEGA = 1024 * 1024


BARE = {**ENCODERS, "deflate": raw_deflate}
NAMES = sorted(ENCODERS)


@pytest.mark.parametrize("encoding", [*NAMES, "identity", "", "gzip, zstd", "zstd,gzip,deflate"])
@pytest.mark.parametrize("encoders", [ENCODERS, BARE], ids=["framed", "bare"])
@given(data=st.binary(max_size=3 * PIECE), step=st.integers(1, 5_000))
def test_what_was_encoded_comes_back(encoding, encoders, data, step):
    if not encoding:
        raw = data
    else:
        raw = encoded(data, encoding, encoders)
    assert decoded(raw, encoding, len(data) + 1_000) == data
    decoder = Decoder(encoding)
    fed = [decoder.feed(raw[at : at + step]) for at in range(0, len(raw), step)]
    decoder.finish()
    assert b"".join(fed) == data


@pytest.mark.parametrize("name", NAMES)
def test_names_are_read_as_headers_are(name):
    assert decoded(ENCODERS[name](b"x"), f" Identity, {name.upper()} ,", 10) == b"x"


@pytest.mark.parametrize("name", [name for name in NAMES if name != "deflate"])
def test_members_follow_each_other(name):
    raw = ENCODERS[name](b"one ") + ENCODERS[name](b"") + ENCODERS[name](b"two")
    assert decoded(raw, name, 100) == b"one two"


def test_a_skippable_frame_is_skipped():
    skipped = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"hello"
    assert decoded(skipped + zstd.compress(b"x") + skipped, "zstd", 100) == b"x"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("encoders", [ENCODERS, BARE], ids=["framed", "bare"])
def test_broken_data_is_told(name, encoders):
    whole = encoders[name](b"some words that are long enough " * 20)
    unchecked = name == "zstd" or (name == "deflate" and encoders is BARE)
    wrong = {
        "cut": whole[:-1],
        "begun": whole[:3],
        "after": whole + b"garbage",
        "zero": whole + b"\0",
        "other": b"{}",
        "changed": whole[: len(whole) // 2] + b"\xff\xff\xff" + whole[len(whole) // 2 + 3 :],
    }
    if unchecked:
        del wrong["changed"]  # without a checksum it may pass for other text
    for how, raw in wrong.items():
        with pytest.raises(BadRequest) as caught:
            decoded(raw, name, MEGA)
        assert caught.value.param == "content-encoding", how
        assert name in caught.value.message


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_nothing(name):
    assert decoded(b"", name, 10) == b""


@pytest.mark.parametrize("encoding", ["br", "gzip, br", "compress", "x" * 500, "gzip;q=1"])
def test_an_unknown_encoding_is_named(encoding):
    with pytest.raises(UnsupportedMedia) as caught:
        decoded(b"", encoding, 10)
    assert encoding.split(", ")[-1][:32] in caught.value.message
    assert len(caught.value.message) < 150


def test_too_many_layers_are_refused():
    with pytest.raises(UnsupportedMedia):
        decoded(b"", "gzip,gzip,gzip,gzip", 10)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("over", [0, 1])
def test_the_limit_is_exact(name, over):
    data = b"x" * (PIECE + 10)
    if over:
        with pytest.raises(RequestTooLarge):
            decoded(ENCODERS[name](data), name, len(data) - 1)
    else:
        assert decoded(ENCODERS[name](data), name, len(data)) == data


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd", "gzip,gzip", "gzip,gzip,zstd"])
def test_a_bomb_costs_no_more_than_its_limit(encoding):
    raw = encoded(bytes(64 * MEGA), encoding)
    assert len(raw) < 70_000
    tracemalloc.start()
    try:
        with pytest.raises(RequestTooLarge):
            decoded(raw, encoding, 2 * MEGA)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * MEGA


def test_an_inner_layer_is_counted_too():
    """Members that hold nothing: 60 MB of them between two layers, and not a byte in the end."""
    empty = gzip.compress(b"", mtime=0) * (3 * MEGA)
    raw = gzip.compress(empty, 1)
    assert len(raw) < MEGA
    with pytest.raises((RequestTooLarge, BadRequest)):
        decoded(raw, "gzip,gzip", 2 * MEGA)


def test_members_without_end_are_refused():
    with pytest.raises(BadRequest, match="members"):
        decoded(gzip.compress(b"") * (MAX_MEMBERS + 1), "gzip", MEGA)


def test_a_frame_may_not_ask_for_more_than_eight_megabytes():
    whole = zstd.compress(bytes(range(256)) * 100_000, level=22)
    with pytest.raises(BadRequest):
        decoded(whole, "zstd", 64 * MEGA)


def test_a_stream_is_decoded_in_small_pieces():
    decoder = Decoder("gzip")
    sizes = [len(piece) for piece in decoder.pieces(gzip.compress(bytes(8 * MEGA)))]
    decoder.finish()
    assert sum(sizes) == 8 * MEGA
    assert max(sizes) <= PIECE


def test_a_stream_gives_what_was_flushed():
    """A server that compresses an event stream flushes it piece by piece."""
    for work in (zlib.compressobj(wbits=31), zstd.ZstdCompressor()):
        name = "gzip" if hasattr(work, "copy") else "zstd"
        flush = zlib.Z_SYNC_FLUSH if name == "gzip" else zstd.ZstdCompressor.FLUSH_BLOCK
        decoder = Decoder(name)
        for text in (b"data: 1\n\n", b"data: 2\n\n"):
            assert decoder.feed(work.compress(text) + work.flush(flush)) == text
        decoder.feed(work.flush())
        decoder.finish()


def test_errors_hold_no_text():
    with pytest.raises(BadRequest) as caught:
        decoded(json.dumps({"secret": "words"}).encode(), "gzip", 100)
    assert "words" not in str(caught.value)

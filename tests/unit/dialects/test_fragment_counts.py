"""Check what a client sends alike with each request is counted once."""

from __future__ import annotations

from memtree.dialects.fragment_counts import ROW_BYTES, FragmentCounts
from memtree.text import tokens

TOOLS = b'[{"name":"caf\xc3\xa9","cache_control":{"type":"ephemeral"}},{"cache_control":null}]' * 9


def test_tokens_and_markers_of_a_fragment():
    counts = FragmentCounts(1)
    for _ in range(2):
        assert counts.of(TOOLS) == (tokens.count(TOOLS.decode()), 18)
        assert counts.of(b"[]") == (tokens.count("[]"), 0)
    assert counts.nbytes == ROW_BYTES


def test_it_is_bounded_in_bytes():
    counts = FragmentCounts(1, most=3 * ROW_BYTES)
    for number in range(9):
        counts.of(TOOLS + b"%d" % number)
    assert counts.nbytes == 3 * ROW_BYTES

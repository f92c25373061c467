"""Blocks put into raw messages and taken out: the other bytes stay."""

from __future__ import annotations

import json

import pytest

from memtree.dialects.anthropic_messages import content

MORE = content.text_block("more")


def test_more_stands_behind_the_last_result_and_before_all_else():
    raw = (
        b'{"role" : "user","content":[ {"type":"tool_result","tool_use_id":"a"} ,'
        b'{ "type":"image"},{"type":"text","text":"\\u00e9"}], "x":1e2}'
    )
    made = content.with_blocks(raw, [MORE])
    assert made == (
        b'{"role" : "user","content":[{"type":"tool_result","tool_use_id":"a"},'
        + MORE
        + b',{ "type":"image"},{"type":"text","text":"\\u00e9"}], "x":1e2}'
    )


def test_a_string_becomes_the_list_that_it_stands_for():
    string = b'{"role":"user","content":"say \\u00e9"}'
    listed = b'{"role":"user","content":[{"type":"text","text":"say \\u00e9"}]}'
    assert content.with_blocks(string, [MORE]) == content.with_blocks(listed, [MORE])


@pytest.mark.parametrize("posted", [b'""', b"null", b"[]"])
def test_an_empty_content_has_the_block_alone(posted):
    made = content.with_blocks(b'{"role":"user","content":' + posted + b"}", [MORE])
    assert json.loads(made)["content"] == [{"type": "text", "text": "more"}]


def test_blocks_are_left_out_and_nothing_remains_of_nothing():
    raw = b'{"role":"assistant","content":[{"type":"thinking"},{"type":"text", "text":"a"}]}'
    assert content.without_blocks(raw, (0,)) == (
        b'{"role":"assistant","content":[{"type":"text", "text":"a"}]}'
    )
    assert content.without_blocks(raw, (0, 1)) == b""


def test_several_messages_are_one_with_the_blocks_of_all():
    one = b'{"role":"user","content":[{"type":"tool_result", "tool_use_id":"a"}]}'
    made = content.merged([one, b'{"content":"hi","role":"user"}'])
    assert made == (
        b'{"role":"user","content":[{"type":"tool_result", "tool_use_id":"a"},'
        b'{"type":"text","text":"hi"}]}'
    )


def test_only_the_marker_goes_from_a_block():
    plain = b'{"type":"text", "text":"a"}'
    assert content.without_marker(plain) is plain
    marked = b'{"type":"text","cache_control":{"type":"ephemeral"},"text":"\\u00e9"}'
    assert content.without_marker(marked) == b'{"type":"text","text":"\\u00e9"}'


def test_a_key_that_stands_twice_counts_as_the_decoder_reads_it():
    raw = b'{"role":"user","content":"old","content":"new"}'
    assert json.loads(content.with_blocks(raw, [MORE]))["content"][1]["text"] == "new"

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from memtree.memories.transfer.file_items import LineResult, LineStatus
from memtree.memories.transfer.json_entries import (
    MOST_VALUES,
    FileEntry,
    RepeatedKeys,
    document_entries,
    line_entries,
)

SECRET = "the user's own words"


def shown(found: Iterable[FileEntry | LineResult]) -> list[tuple[Any, ...]]:
    return [
        (one.line, one.reason) if isinstance(one, LineResult) else (one.line, one.key, one.value)
        for one in found
    ]


# -- lines -----------------------------------------------------------------------------------


def test_each_line_is_an_entry_whatever_its_end():
    raw = b'{"a": 1}\r\n\n  \t\r\n{"b": "x\xe2\x80\xa8y"}\n[2]'
    assert shown(line_entries(raw)) == [
        (1, "", {"a": 1}), (4, "", {"b": "x\u2028y"}), (5, "", [2]),
    ]  # fmt: skip


def test_a_broken_line_costs_itself():
    raw = b'{"a": 1}\n{"a": \n{"a": "\xff"}\n{"a": 1} {"b": 2}\n{"a": 5}\n'
    assert shown(line_entries(raw)) == [
        (1, "", {"a": 1}), (2, "json"), (3, "encoding"), (4, "", {"a": 1}), (4, "", {"b": 2}),
        (5, "", {"a": 5}),
    ]  # fmt: skip


@pytest.mark.parametrize("last", [b'{"a": "b', b'{"a": 1', b'{"a', b"{", b'{"a": tr'])
def test_half_of_a_last_line_is_told_from_a_broken_one(last: bytes):
    assert shown(line_entries(b'{"a": 1}\n' + last)) == [(1, "", {"a": 1}), (2, "cut_off")]


def test_no_message_holds_what_was_read():
    raw = b'{"a": 1}\n{"%s": "\xff"}\n{"%s": }\n{"%s": "' % ((SECRET.encode(),) * 3)
    told = [one.message for one in line_entries(raw) if isinstance(one, LineResult)]
    assert told[0] == f"not text in UTF-8, byte {len(SECRET) + 6}"
    assert told[1] == f"column {len(SECRET) + 6}: not valid JSON: Expecting value"
    assert len(told) == 3
    assert not any(SECRET in message for message in told)


def test_a_stub_in_front_of_a_line_costs_itself():
    raw = b'{"text": "a", "id": 1}\n{"text": "b{"text": "c", "id": 2}\n\0\0{"text": "d"}\0\n'
    assert shown(line_entries(raw)) == [
        (1, "", {"text": "a", "id": 1}), (2, "json"), (2, "", {"text": "c", "id": 2}),
        (3, "", {"text": "d"}),
    ]  # fmt: skip


def test_documents_one_behind_the_other_count_as_one():
    assert shown(document_entries('[{"a": 1}, 2]\n[]\n[3]{"b": [4], "c": 5}')) == [
        (1, "", {"a": 1}), (2, "", 2), (3, "", 3), (1, "b", 4), (1, "c", 5),
    ]  # fmt: skip


def test_what_is_no_object_stands_alone_on_its_line():
    raw = b'{"a": 1} "b"\n "entities": [\n"c"\n5 {"a": 2}\n{}'
    assert shown(line_entries(raw)) == [
        (1, "", {"a": 1}), (1, "json"), (2, "json"), (3, "", "c"), (4, "json"), (4, "", {"a": 2}),
        (5, "", {}),
    ]  # fmt: skip


def test_an_object_with_a_key_twice_is_marked():
    (first, second) = line_entries(b'{"a": 1, "a": 2}\n{"a": {"b": 1, "b": 2}}')
    assert isinstance(first, FileEntry)
    assert isinstance(first.value, RepeatedKeys)
    assert isinstance(second, FileEntry)
    assert not isinstance(second.value, RepeatedKeys)


@pytest.mark.parametrize(
    "bomb", ["[" * 100_000, '{"a":' * 100_000, "]]" * 50_000, "[[" * 50 + "]]" * 50_000]
)
def test_deep_lines_are_invalid(bomb: str):
    found = list(line_entries(b'{"a": 1}\n' + bomb.encode() + b"\n{}\n"))
    assert [type(one) for one in found] == [FileEntry, LineResult, FileEntry]


def test_numbers_beyond_what_a_database_holds_are_no_integers():
    raw = b'{"a": 1%s, "b": 9223372036854775807}' % (b"0" * 9_000)
    ((_, _, value),) = shown(line_entries(raw))
    assert value == {"a": float("inf"), "b": 2**63 - 1}


# -- documents -------------------------------------------------------------------------------


@pytest.mark.parametrize("space", ["", " ", "\r\n\t "])
def test_lists_of_a_document_are_gone_through_one_by_one(space: str):
    text = space.join('{|"a"|:|[|{"b":1}|,|2|]|,|"c"|:|"x,]}"|,|"d"|:|[|]|}|'.split("|"))
    assert shown(document_entries(text)) == [
        (1, "a", {"b": 1}), (2, "a", 2), (1, "c", "x,]}"),
    ]  # fmt: skip


def test_a_list_is_a_document_as_well():
    assert shown(document_entries(' [{"a": "]"}, [1], "b"] ')) == [
        (1, "", {"a": "]"}), (2, "", [1]), (3, "", "b"),
    ]  # fmt: skip
    assert shown(document_entries("[]")) == shown(document_entries("{}")) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[{"a": 1}, {"a": 2', "cut_off"),
        ('[{"a": 1}, {"a": "2', "cut_off"),
        ('[{"a": 1},', "cut_off"),
        ('[{"a": 1}', "cut_off"),
        ('[{"a": 1} {"a": 2}]', "broken"),
        ('[{"a": 1}, nonsense]', "broken"),
        ('[{"a": 1}, {"a": 2]]', "broken"),
        ('[{"a": 1}, ' + "[" * 100_000, "broken"),
        ('[{"a": 1}]]', "json"),
    ],
)
def test_what_stands_before_a_break_is_read(text: str, reason: str):
    first, last = shown(document_entries(text))
    assert first == (1, "", {"a": 1})
    assert last[1] == reason


@pytest.mark.parametrize("text", ['{"a": 1, "b"', '{"a": 1, b: 2}', '{"a": 1', '{"a": 1, []: 2}'])
def test_a_broken_object_as_well(text: str):
    first, last = document_entries(text)
    assert first == FileEntry(1, 1, "a")
    assert isinstance(last, LineResult)
    assert last.status is LineStatus.INVALID


@pytest.mark.slow
def test_an_entry_of_too_many_values_is_refused_and_not_built():
    bomb = "[" + "0," * MOST_VALUES + "0]"
    text = f'[{{"a": 1}}, {bomb}, {{"b": "{{[,"}}, 7, "x,y"]'
    assert shown(document_entries(text)) == [
        (1, "", {"a": 1}), (2, "too_large"), (3, "", {"b": "{[,"}), (4, "", 7), (5, "", "x,y"),
    ]  # fmt: skip
    assert shown(document_entries(f'{{"a": {{"b": {bomb}}}, "c": 5}}')) == [
        (1, "too_large"), (1, "c", 5),
    ]  # fmt: skip
    assert shown(line_entries(f"{bomb}\n5\n".encode())) == [(1, "too_large"), (2, "", 5)]

"""Arguments by name, with the place that each value has in the call's text."""

from __future__ import annotations

import json

import pytest

from memtree.digests.tool_calls.fields import Field, Group, Span, folded, groups, unescaped


def texts(found: list[Group]) -> list[dict[str, str]]:
    return [{key: field.text for key, field in group.items()} for group in found]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"filePath": "a.py", "limit": 3}, [{"filepath": "a.py", "limit": "3"}]),
        ({"commands": ["ls", "make"]}, [{}, {"command": "ls"}, {"command": "make"}]),
        ({"command": ["bash", "-lc", "make all"]}, [{"command": "make all"}]),
        ({"command": ["pytest", "-q"]}, [{"command": "pytest -q"}]),
        ({"path": None, "old_str": "x"}, [{"oldstr": "x"}]),
    ],
)
def test_scalars_and_lists_become_groups(
    arguments: dict[str, object], expected: list[dict[str, str]]
) -> None:
    assert texts(groups(json.dumps(arguments))) == expected


def test_a_nested_edit_inherits_the_path_that_stands_behind_it() -> None:
    arguments = '{"edits":[{"old":"x","new":"y"}],"path":"a.py"}'
    assert {"old": "x", "new": "y", "path": "a.py"} in texts(groups(arguments))


def test_a_value_stands_where_its_span_says() -> None:
    text = 'tool {"command":"cd \\"a b\\"\\nmake"}'
    command = groups(text[5:], 5)[0]["command"]
    at = command.text.index("make")
    span = command.span(at, at + 4)
    assert text[span.start : span.end] == "make"
    assert span.escaped


def test_a_span_that_holds_escapes_is_spelled_as_posted() -> None:
    field = Field('say \\"\\u00e9\\"!', 10, escaped=True)
    assert field.text == 'say "é"!'
    assert field.span(4, 7) == Span(14, 24, True)


@pytest.mark.parametrize(
    ("raw", "text"),
    [("a\\tb", "a\tb"), ("\\ud83d\\ude00", "😀"), ("\\/", "/"), ("\\u00", "u00")],
)
def test_escapes(raw: str, text: str) -> None:
    assert unescaped(raw) == text


def test_text_that_is_no_object_is_one_input() -> None:
    assert texts(groups("*** Begin Patch")) == [{"input": "*** Begin Patch"}]


@pytest.mark.parametrize("broken", ['{"a":', '{"a":[[[[', "{" * 200, '{"a" "b" "c"}', "{]}"])
def test_broken_json_is_read_as_far_as_it_goes(broken: str) -> None:
    assert isinstance(groups(broken), list)


def test_names_are_compared_without_separators() -> None:
    assert folded("File-Path") == folded("file_path") == "filepath"

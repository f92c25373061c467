"""Strings in the arguments of calls, decoded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.conversation.call_arguments import LONGEST_PATH, argument_values

_KEYS = st.text("ab-_ é", min_size=1, max_size=3)
_VALUES = st.recursive(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=8,
)


def walked(value: Any, path: str = "") -> list[tuple[str, str]]:
    if isinstance(value, str):
        return [(path, value)]
    if isinstance(value, list):
        return [each for at, one in enumerate(value) for each in walked(one, f"{path}[{at}]")]
    if isinstance(value, dict):
        return [each for key, one in value.items() for each in walked(one, f"{path}.{key}")]
    return []


@given(st.dictionaries(_KEYS, _VALUES, max_size=3), st.booleans(), st.sampled_from([None, 1]))
def test_all_strings_are_found_as_a_parser_finds_them(
    held: dict[str, Any], ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(held, ensure_ascii=ascii_only, indent=indent)
    values = argument_values(text)
    assert [(value.path, value.text) for value in values] == walked(held)
    for value in values:
        assert json.loads(f'"{text[value.start : value.end]}"') == value.text


@given(st.text('a\n"\\é\U0001f680', min_size=1, max_size=9), st.data())
def test_characters_of_the_posted_text_become_those_of_the_decoded_one(
    said: str, data: st.DataObject
) -> None:
    text = json.dumps({"a": said})
    (value,) = argument_values(text)
    low = data.draw(st.integers(0, len(said) - 1))
    high = data.draw(st.integers(low + 1, len(said)))
    first = value.start + len(json.dumps(said[:low])) - 2
    last = value.start + len(json.dumps(said[:high])) - 2
    assert value.decoded(first, last) == (low, high)
    assert value.decoded(0, len(text)) == (0, len(said))


def test_an_escape_that_a_span_cuts_is_included_whole() -> None:
    (value,) = argument_values('{"a":"x\\ny"}')
    assert value.decoded(value.start + 2, value.start + 4) == (1, 3)
    assert value.decoded(value.start, value.start + 2) == (0, 2)


@pytest.mark.parametrize(
    "text",
    [
        "make test",
        '["a"]',
        '{"a": "x"',
        '{"a": "x", "a": "y"}',
        '{"a.b": "x"}',
        '{"": "x"}',
        '{"a": "\\ud83d"}',
        '{"a":' * 30 + '"x"' + "}" * 30,
        json.dumps({"a" * LONGEST_PATH: "x"}),
        json.dumps({"a" * LONGEST_PATH: 1, "b": "x"}),
    ],
)
def test_arguments_whose_strings_no_path_can_name_have_none(text: str) -> None:
    assert argument_values(text) == ()

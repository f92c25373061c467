"""Arguments of tool calls: their spelling, and the strings in them."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.history.message import Message, Volatile
from memtree.history.posted_json import LONGEST_PATH, Spelling, argument_values, canonical

# ------------------------------------------------------------------------------------------------
# Strings in the arguments of calls, decoded.


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


# ------------------------------------------------------------------------------------------------
# Arguments of tool calls: one spelling for hashing, and the way back to what was posted.


SAME = [
    '{"path":"café/a.py","line":1,"deep":{"x":[1,2.5,null,true]}}',
    '{"path": "café/a.py", "line": 1, "deep": {"x": [1, 2.5, null, true]}}',
    '{"path":"caf\\u00e9\\/a.py","line":1.0,"deep":{"x":[1,2.50,null,true]}}',
    '\n{ "path" :"caf\\u00E9/a.py",\n\t"line":1,"deep":{"x":[1 ,2.5e0,null,true] } } ',
]


@pytest.mark.parametrize("spelling", SAME)
def test_one_object_has_one_form(spelling):
    assert canonical(spelling) == SAME[0]


@pytest.mark.parametrize(
    "text",
    ["", "ls -la", "[1, 2]", '"a b"', "{", '{"a": 1', '{"a": 1} {"b": 2}', '{"a": 1, "a": 2}',
     '{"a": "\ud800"}', "{" * 20_000, '{"a": ' * 5_000, "null", " 7 "],
)  # fmt: skip
def test_what_is_no_object_stays_as_it_is(text):
    assert canonical(text) == text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}'),  # the order of keys is kept
        ('{"a": "1.0"}', '{"a": "1"}'),
        ('{"a": 1}', '{"a": "1"}'),
        ('{"a": 1.5}', '{"a": 1}'),
        ('{"a": "x y"}', '{"a": "xy"}'),
        ('{"a": null}', "{}"),
    ],
)
def test_other_values_have_another_form(one, other):
    assert canonical(one) != canonical(other)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False,
    allow_infinity=False, width=32) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
OBJECTS = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), VALUES, max_size=5)


@pytest.mark.slow
@given(OBJECTS, st.booleans(), st.sampled_from([None, 0, 2]))
def test_any_serialiser_gives_one_form(value, ascii_only, indent):
    spelled = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    compact = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert canonical(spelled) == canonical(compact)
    assert canonical(canonical(spelled)) == canonical(spelled)


@pytest.mark.slow
@given(OBJECTS, st.booleans(), st.data())
def test_a_span_of_the_form_is_found_in_what_was_posted(value, ascii_only, data):
    posted = json.dumps(value, ensure_ascii=ascii_only)
    compact = canonical(posted)
    if compact == posted:
        return
    spelling = Spelling(posted, compact)
    start = data.draw(st.integers(0, len(compact) - 1))
    end = data.draw(st.integers(start + 1, len(compact)))
    low, high = spelling.span(start, end)
    assert 0 <= low < high <= len(posted)
    assert spelling.span(0, len(compact)) == (0, len(posted))
    # What is quoted holds what was meant, and no more of it than an escape or a number.
    assert len(posted[low:high]) <= 12 * (end - start) + 40
    if posted.replace(" ", "") == compact.replace(" ", ""):  # nothing but white space differs
        assert compact[start] == posted[low]
        assert compact[end - 1] == posted[high - 1]


@given(st.text('a\n"\\/\u00e9\x1f\U0001f680', min_size=1, max_size=12), st.data())
def test_each_character_of_a_string_is_found_in_its_own_spelling(said, data):
    spelled = [data.draw(st.sampled_from(spellings(each))) for each in said]
    posted = f'{{"a": "{"".join(spelled)}"}}'
    compact = canonical(posted)
    spelling = Spelling(posted, compact)
    at, where = len('{"a":"'), len('{"a": "')
    for each, own in zip(said, spelled, strict=True):
        width = len(msgspec.json.encode(each).decode()) - 2
        if compact != posted:
            assert spelling.span(at, at + width) == (where, where + len(own))
        at, where = at + width, where + len(own)


def spellings(each):
    return sorted({json.dumps(each)[1:-1], msgspec.json.encode(each).decode()[1:-1]})


def test_a_view_counts_in_the_form_and_quotes_what_was_posted():
    arguments = '{"path": "a.py", "text": "caf\\u00e9 au lait"}'
    call = {"id": "c", "type": "function", "function": {"name": "write", "arguments": arguments}}
    message = Message.of({"role": "assistant", "content": "Now.", "tool_calls": [call]})
    view = message.view(Volatile())
    assert view.text == 'Now.\nwrite {"path":"a.py","text":"café au lait"}'
    assert view.posted(0, len(view.text)) == ((0, 4), (11, 11 + len(arguments)))
    start = view.text.index("a.py")
    [(low, high)] = view.posted(start, start + 4)
    assert message.text[low:high] == "a.py"
    start = view.text.index("au")
    [(low, high)] = view.posted(start, start + 2)
    assert message.text[low:high] == "au"
    start = view.text.index("f\u00e9")
    [(low, high)] = view.posted(start, start + 2)
    assert message.text[low:high] == "f\\u00e9"
    assert [segment.part for segment in view.segments] == [
        "content", "", "tool_calls[0].function.arguments",
    ]  # fmt: skip

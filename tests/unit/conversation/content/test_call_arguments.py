"""Arguments of tool calls: one spelling for hashing, and the way back to what was posted."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.conversation.call_arguments import Spelling, canonical
from memtree.conversation.message import Message, Volatile

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
    if posted.replace(" ", "") == compact.replace(" ", ""):  # nothing but white space differs
        assert compact[start] == posted[low]
        assert compact[end - 1] == posted[high - 1]


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
    assert message.text[low:high] == '"caf\\u00e9 au lait"', "spelled otherwise: the whole token"
    assert [segment.part for segment in view.segments] == [
        "content", "", "tool_calls[0].function.arguments",
    ]  # fmt: skip

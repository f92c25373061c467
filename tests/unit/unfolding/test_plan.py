"""From a plan to text and back: labels, gaps, fences; every piece a piece of what was posted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtree.conversation.history import read
from memtree.conversation.message import Message, Volatile
from memtree.tree.node import Node, NodePlace, Summary
from memtree.unfolding.plan import (
    CLOSING,
    GAP,
    OPENING,
    OutlineNode,
    Plan,
    TextSpan,
    merge,
    outline_line,
    quote_lines,
    quotes,
    render,
)


def history(*messages):
    made = [one if isinstance(one, dict) else {"role": "user", "content": one} for one in messages]
    return read("t", [Message.of(one) for one in made], Volatile())


SYSTEM = {"role": "system", "content": "S"}
NODE = Node(b"n" * 16, 1, 9, 2, 0, Summary("headline", "body"))


def line(spans, found):
    (one,) = quote_lines(spans, found)
    return one


def test_a_quote_names_number_and_role():
    found = history(SYSTEM, "hello", {"role": "assistant", "content": "world"})
    spans = [TextSpan(0, 0, 5), TextSpan(1, 1, 4)]
    assert list(quote_lines(spans, found)) == ["[1 user] hello", "[2 assistant] orl"]


def test_what_is_left_out_between_two_pieces_is_marked():
    spans = [TextSpan(0, 8, 13), TextSpan(0, 0, 3)]
    assert line(spans, history("one two three")) == f"[0 user] one\n{GAP}\nthree"


def test_a_volatile_block_splits_a_quote():
    found = history("ab<system-reminder>x</system-reminder>cd")
    assert line([TextSpan(0, 1, 3)], found) == f"[0 user] b\n{GAP}\nc"
    assert [(q.start, q.end) for q in quotes([TextSpan(0, 1, 3)], found)] == [(1, 2), (38, 39)]


def test_placeholders_and_names_of_calls_are_no_quotes():
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    found = history({"role": "assistant", "content": "look", "tool_calls": [call]})
    assert line([TextSpan(0, 0, 99)], found) == f"[0 assistant] look\n{GAP}\n{{}}"
    image = {"type": "image_url", "image_url": {"url": "x"}}
    assert (
        list(quote_lines([TextSpan(0, 0, 99)], history({"role": "user", "content": [image]}))) == []
    )


def test_nothing_to_quote_gives_no_line():
    assert list(quote_lines([TextSpan(0, 0, 3), TextSpan(1, 0, 0)], history("  \n", "x"))) == []


def test_quotes_are_what_is_shown():
    assert quotes([TextSpan(0, 0, 3)], history("  \n")) == []


def test_spans_that_touch_are_one():
    spans = [
        TextSpan(1, 0, 5),
        TextSpan(0, 5, 9),
        TextSpan(0, 0, 5),
        TextSpan(0, 8, 12),
        TextSpan(0, 13, 14),
    ]
    assert merge(spans) == [TextSpan(0, 0, 12), TextSpan(0, 13, 14), TextSpan(1, 0, 5)]


def fences(text):
    return sum(one.lstrip().startswith(("```", "~~~")) for one in text.splitlines())


TEXT = "Look:\n```python\na = 1\nb = 2\n```\nDone.\n```\nc\n```\n"


@pytest.mark.parametrize(
    ("start", "end", "shown"),
    [
        (0, 6, "Look:\n"),
        (16, 22, "```\na = 1\n```"),
        (0, 22, "Look:\n```python\na = 1\n```"),
        (22, 38, "```\nb = 2\n```\nDone.\n"),
        (16, 21, "```\na = 1\n```"),
        (0, len(TEXT), TEXT),
    ],
)
def test_fences_are_closed_and_reopened_outside_of_the_verbatim_text(start, end, shown):
    found = line([TextSpan(0, start, end)], history(TEXT)).removeprefix("[0 user] ")
    assert found == shown
    assert TEXT[start:end] in found


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(["a\n", "```\nx\n```\n", "b ", "```py\ny\ny\n```\n"]), max_size=8),
    st.data(),
)
def test_every_quote_has_balanced_fences(pieces, data):
    text = "".join(["start\n", *pieces])
    lines = [0]
    for one in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(one))
    low, high = sorted(data.draw(st.tuples(st.sampled_from(lines), st.sampled_from(lines))))
    for found in quote_lines([TextSpan(0, low, high)], history(text)):
        body = found.removeprefix("[0 user] ")
        assert fences(body) % 2 == 0
        assert text[low:high] in body


def test_a_tilde_fence_is_reopened_as_one():
    text = "~~~\na\nb\n~~~\nend\n"
    assert line([TextSpan(0, 6, len(text))], history(text)) == "[0 user] ~~~\nb\n~~~\nend\n"


def test_lines_of_the_outline():
    found = history(SYSTEM, "a", "b", "c", "d")
    shown = OutlineNode(NODE.id, 0, 1, NodePlace(1, 0, 3, 0), False)
    assert outline_line(shown, NODE, found) == "  - [2-3] headline"
    body = OutlineNode(NODE.id, 0, 0, NodePlace(0, 0, 0, 5), True)
    assert outline_line(body, NODE, found) == "- [1] headline: body"


def test_a_rendered_plan_is_wrapped_and_in_order():
    found = history("rule", "text", "recent")
    outline = (OutlineNode(NODE.id, 0, 0, NodePlace(0, 0, 2, 0), True),)
    text = render(
        Plan(2, outline, (TextSpan(0, 0, 4),), (TextSpan(1, 0, 4),)), found, {NODE.id: NODE}
    )
    assert text.startswith(f"{OPENING}\n")
    assert text.endswith(f"\n{CLOSING}")
    order = [
        text.index(part)
        for part in ("up to number 1", "- [0-1] headline: body", "[0 user] rule", "[1 user] text")
    ]
    assert order == sorted(order)
    assert "recent" not in text


def test_an_empty_plan_renders_to_the_wrapper():
    assert len(render(Plan(0), history("x"), {}).splitlines()) == 3


def test_a_plan_needs_its_nodes():
    shown = OutlineNode(NODE.id, 0, 0, NodePlace(0, 0, 1, 0), False)
    with pytest.raises(KeyError):
        render(Plan(1, (shown,)), history("x", "y"), {})

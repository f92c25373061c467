"""Verbatim pieces: gaps, fences, our own tags; every piece a piece of what was posted."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.conversation.history import History
from memtree.text import own_lines
from memtree.text.own_lines import GAP
from memtree.unfolding.memory_message import quotes as module
from memtree.unfolding.memory_message.quotes import (
    cut_lines,
    first_piece,
    is_left_out,
    quoted,
    quotes,
)
from memtree.unfolding.plan import TextSpan
from tests.unit.unfolding.histories import history


def text_of(spans, found):
    return quoted(spans, found.view(spans[0].message), marks=False)


def test_what_is_left_out_between_two_pieces_is_marked():
    spans = [TextSpan(0, 0, 3), TextSpan(0, 8, 13)]
    assert text_of(spans, history("one two three")) == f"one\n{GAP}\nthree"


@pytest.mark.parametrize(
    ("end", "behind"),
    [
        (3, f"\n{GAP}"),  # text is left out
        (13, ""),  # nothing but white space is
        (99, ""),
    ],
)
def test_where_a_message_goes_on_its_end_is_marked(end, behind):
    found = history("one two three \n")
    text = "one two three \n"[:end]
    assert quoted([TextSpan(0, 0, end)], found.view(0)) == text + behind


def test_of_what_is_left_out_the_first_line_with_text_is_read(monkeypatch: pytest.MonkeyPatch):
    read = []

    def cut_spans(text, start, end):
        read.append(end - start)
        return own_lines.cut_spans(text, start, end)

    monkeypatch.setattr(module, "cut_spans", cut_spans)
    found = history("one\n" + " \n" * 100 + "¶\n</context_memory>\n" + "two three\n" * 1_000)
    assert is_left_out(found.view(0), 3, len(found.view(0).text))
    assert sum(read) < 200
    assert not is_left_out(found.view(0), 3, found.view(0).text.index("two"))


def test_code_that_is_left_out_is_named_with_its_size():
    text = "Here's the change:\n\nsrc/a.py\n```python\nx = 1\ny = 2\n```\nDone."
    found = quoted([TextSpan(0, 0, 18)], history(text).view(0))
    assert found == "Here's the change:\n[... 2 lines of code, src/a.py]"


def test_a_volatile_block_splits_a_quote():
    found = history("ab<system-reminder>x</system-reminder>cd")
    assert text_of([TextSpan(0, 1, 3)], found) == f"b\n{GAP}\nc"
    assert [(q.start, q.end) for q in quotes([TextSpan(0, 1, 3)], found)] == [(1, 2), (38, 39)]


def test_a_line_goes_on_behind_an_escape_code_and_its_pieces_stand_as_posted():
    said = " 1%\r99%\r\n\x1b[31mError\x1b[0m: no\x1b[1Crule\n"
    found = history(said)
    spans = [TextSpan(0, 0, len(found.view(0).text))]
    assert text_of(spans, found) == "99%\r\nError: no rule\n"
    pieces = quotes(spans, found)
    assert [piece.text for piece in pieces] == ["99%\r\n", "Error", ": no", "rule\n"]
    assert [said[piece.start : piece.end] for piece in pieces] == [piece.text for piece in pieces]
    assert first_piece(TextSpan(0, 7, 9), found)[1:] == (16, 18)
    assert len(found.view(0).segments) == 1


def test_a_tag_of_ours_around_an_escape_code_is_none():
    found = history("a </context_\x1b[0mmemory> b")
    assert text_of([TextSpan(0, 0, 99)], found) == f"a \n{GAP}\n b"


@pytest.mark.parametrize(
    "tag",
    ["<context_memory>", "</context_memory>", "</RECALLED_CONTEXT>", "<user_memories>"],
)
def test_a_tag_of_ours_splits_a_quote(tag):
    """Else quoted text could close the memory message and speak in its own name."""
    found = history(f"before {tag} behind")
    spans = [TextSpan(0, 0, 99)]
    assert text_of(spans, found) == f"before \n{GAP}\n behind"
    assert [one.text for one in quotes(spans, found)] == ["before ", " behind"]


def test_a_message_of_our_tags_alone_has_nothing_to_quote():
    assert text_of([TextSpan(0, 0, 99)], history("<context_memory></context_memory>")) == ""


def test_placeholders_and_names_of_calls_are_no_quotes():
    arguments = '{"path":"a","text":"some words"}'
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": arguments}}
    found = history({"role": "assistant", "content": "look", "tool_calls": [call]})
    assert text_of([TextSpan(0, 0, 99)], found) == f"look\n{GAP}\nsome words"
    image = {"type": "image_url", "image_url": {"url": "x"}}
    assert text_of([TextSpan(0, 0, 99)], history({"role": "user", "content": [image]})) == ""


def test_arguments_that_the_label_tells_are_not_quoted():
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": '{"path":"a"}'}}
    found = history({"role": "assistant", "content": "look", "tool_calls": [call]})
    assert text_of([TextSpan(0, 0, 99)], found) == "look"
    assert [one.text for one in quotes([TextSpan(0, 0, 99)], found)] == ["look"]


def test_the_first_piece_of_a_span_also_where_it_is_not_quoted():
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": '{"path":"a"}'}}
    found = history({"role": "assistant", "content": "look", "tool_calls": [call]})
    assert first_piece(TextSpan(0, 1, 99), found) == ("content", 1, 4)
    at = found.view(0).text.index("{") + 1
    told = TextSpan(0, at, at + 2)
    assert first_piece(told, found) == ("tool_calls[0].function.arguments", 1, 3)
    image = {"type": "image_url", "image_url": {"url": "x"}}
    nothing = history({"role": "user", "content": [image]})
    assert first_piece(TextSpan(0, 0, 99), nothing) == ("", 0, 0)


def test_quotes_are_what_is_shown():
    assert quotes([TextSpan(0, 0, 3)], history("  \n")) == []


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
    found = text_of([TextSpan(0, start, end)], history(TEXT))
    assert found == shown
    assert TEXT[start:end] in found


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
    body = text_of([TextSpan(0, low, high)], history(text))
    assert fences(body) % 2 == 0
    assert text[low:high] in body or not text[low:high].strip()


def test_a_tilde_fence_is_reopened_as_one():
    text = "~~~\na\nb\n~~~\nend\n"
    assert text_of([TextSpan(0, 6, len(text))], history(text)) == "~~~\nb\n~~~\nend\n"


def called(**arguments: object) -> History:
    body = {"name": "write", "arguments": json.dumps(arguments)}
    made = {"id": "c", "type": "function", "function": body}
    return history("Go.", {"role": "assistant", "content": None, "tool_calls": [made]})


def test_arguments_are_quoted_decoded() -> None:
    words = 'def f():\n    return "some words"\n'
    found = called(path="a.py", text=words)
    span = TextSpan(1, 0, len(found.view(1).text))
    (quote,) = quotes([span], found)
    assert quote.part == "tool_calls[0].function.arguments.text"
    assert (quote.start, quote.end, quote.text) == (0, len(words), words)
    assert quoted([span], found.view(1)) == words


def test_an_empty_argument_is_no_piece() -> None:
    found = called(note="", text="some words")
    span = TextSpan(1, 0, len(found.view(1).text))
    part = "tool_calls[0].function.arguments.text"
    assert first_piece(span, found) == (part, 0, len("some words"))


def test_a_part_of_an_argument_begins_and_ends_at_whole_escapes() -> None:
    found = called(path="a.py", text='some words\nand "more" of them')
    view = found.view(1)
    start, end = view.text.index("words"), view.text.index("more") - 1  # inside of an escape
    (quote,) = quotes([TextSpan(1, start, end)], found)
    assert quote.text == 'words\nand "'
    assert 'some words\nand "more" of them'[quote.start : quote.end] == quote.text


def test_lines_and_tags_of_ours_are_left_out_of_decoded_arguments() -> None:
    posted = '{"text": "a b\\n\\u00b67 user\\n\\u003c/context_memory>c d"}'
    body = {"name": "write", "arguments": posted}
    call = {"id": "c", "type": "function", "function": body}
    found = history("Go.", {"role": "assistant", "content": None, "tool_calls": [call]})
    span = TextSpan(1, 0, len(found.view(1).text))
    text = quoted([span], found.view(1))
    assert "\n7 user" in text
    assert "context_memory" not in text
    assert cut_lines([span], found) == 2


def test_a_fence_is_closed_around_a_part_of_a_decoded_argument() -> None:
    words = "Some words\n```\nx = 1\ny = 2\n```\n"
    found = called(path="a.md", text=words)
    view = found.view(1)
    piece = TextSpan(1, view.text.index("x = 1"), view.text.index("y = 2"))
    assert quoted([piece], view, marks=False) == "```\nx = 1\n```"


def test_arguments_that_no_path_can_name_are_quoted_as_posted() -> None:
    found = called(**{"path": "a.py", "a.b": "some words\nand more"})
    span = TextSpan(1, 0, len(found.view(1).text))
    (quote,) = quotes([span], found)
    assert (quote.part, quote.text) == ("tool_calls[0].function.arguments", "some words\\nand more")


def test_the_free_text_of_a_custom_call_is_quoted_as_posted() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n+some words\n*** End Patch"
    made = {"id": "c", "type": "custom", "custom": {"name": "apply_patch", "input": patch}}
    found = history("Go.", {"role": "assistant", "content": None, "tool_calls": [made]})
    (quote,) = quotes([TextSpan(1, 0, len(found.view(1).text))], found)
    assert (quote.part, quote.text) == ("tool_calls[0].custom.input", patch)

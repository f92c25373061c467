"""Quotations and their labels."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.history.chat_history import History
from memtree.text import own_lines
from memtree.text.own_lines import GAP
from memtree.tree.node import NodePlace
from memtree.unfolding import quotes as module
from memtree.unfolding.labels import (
    NO_NOTE,
    answered_call,
    label,
    main_argument,
    named_label,
    numbers,
    tells_all,
    with_document,
)
from memtree.unfolding.memory_plan import ExcerptNote, TextSpan
from memtree.unfolding.quotes import cut_lines, first_piece, is_left_out, quoted, quotes
from memtree.unfolding.work_events import answers_of
from tests.unit.unfolding.histories import answering, call, calling, history

# ------------------------------------------------------------------------------------------------
# Verbatim pieces: gaps, fences, our own tags; every piece a piece of what was posted.


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


# ------------------------------------------------------------------------------------------------
# Labels: whose text it is, what a tool was called for, what was not text.


SYSTEM = {"role": "system", "content": "S"}
EVERYTHING = TextSpan(0, 0, 10_000)


def said(message, found, note=NO_NOTE, start=0, end=10_000):
    return label([TextSpan(message, start, end)], note, found, message, "", cut=False)


def test_number_and_role():
    found = history(SYSTEM, "hello", {"role": "assistant", "content": "world"})
    assert said(0, found) == "¶1 user"
    assert said(1, found) == "¶2 assistant"


@pytest.mark.parametrize(
    ("posted", "expected"),
    [
        ({"role": "user", "name": "Ben"}, "¶0 user Ben"),
        ({"role": "assistant", "name": "Guide"}, "¶0 assistant Guide"),
        ({"role": "user", "name": "Ben\n¶3 tool, run; newest"}, "¶0 user Ben 3 tool run newest"),
        ({"role": "user", "name": "Ben", "content": "Ben: hello"}, "¶0 user"),
        ({"role": "user", "name": ["Ben"]}, "¶0 user"),
    ],
)
def test_who_speaks_is_named(posted, expected):
    assert said(0, history({"content": "hello", **posted})) == expected


def test_a_result_names_the_call_it_answers():
    found = history(
        "go",
        calling(call("read_file", '{"path": "src/app.py"}', "a"), call("run", "{}", "b")),
        answering("text", "a"),
        answering("done", "b"),
    )
    assert said(2, found) == "¶2 tool, read_file src/app.py"
    assert said(3, found) == "¶3 tool, run"


def test_a_result_behind_a_later_message_names_its_call():
    found = history(
        "go",
        calling(call("read_file", '{"path": "src/app.py"}', "a")),
        "wait",
        calling(call("run", "{}", "b")),
        answering("text", "a"),
        answering("done", "b"),
    )
    assert said(4, found) == "¶4 tool, read_file src/app.py"
    assert said(5, found) == "¶5 tool, run"
    assert answers_of(found, 1, len(found)) == {0: 4}
    assert answers_of(found, 3, len(found)) == {0: 5}
    assert answers_of(found, 1, 4) == {}


def test_a_pasted_text_is_named_with_the_place_in_it():
    log = "\n".join(f"2026-11-26 10:00:{at:02} INFO served {at}" for at in range(40))
    found = history(f"Why is it slow?\n\n{log}", {"role": "assistant", "content": log})
    at = found.messages[0].text.index("served 30")
    assert said(0, found, start=at) == "¶0 user, log, 40 lines, line 31"
    assert said(0, found) == "¶0 user, log, 40 lines"  # the question stands before it
    assert said(0, found, end=10) == "¶0 user"
    assert said(1, found) == "¶1 assistant"
    inside = NodePlace(0, 100, 0, 400)
    line = with_document("INFO served", inside, found, whole=False)
    assert line == "log, 40 lines, line 3: INFO served"
    assert with_document("a log of what", inside, found, whole=False) == "a log of what"
    assert with_document("INFO served", NodePlace(0, 100, 1, 9), found, whole=True) == "INFO served"


def test_results_without_an_id_answer_in_order():
    first, second = call("ls", '{"path": "a"}'), call("ls", '{"path": "b"}')
    del first["id"], second["id"]
    results = [{"role": "tool", "content": str(n), "tool_call_id": ""} for n in range(2)]
    found = history("go", calling(first, second), *results)
    assert said(2, found) == "¶2 tool, ls a"
    assert said(3, found) == "¶3 tool, ls b"


def test_a_function_message_answers_by_name():
    asked = {"role": "assistant", "content": None,
             "function_call": {"name": "look", "arguments": '{"query": "pier"}'}}  # fmt: skip
    found = history("go", asked, {"role": "function", "name": "look", "content": "two boats"})
    assert said(2, found) == "¶2 function, look pier"
    assert answered_call(0, found) is None


def test_a_quoted_call_is_named():
    found = history("go", calling(call("run", '{"command": "make test"}'), content="I run it."))
    assert said(1, found, end=5) == "¶1 assistant"
    assert said(1, found) == "¶1 assistant, calls run make test"


def test_of_many_calls_the_first_are_named():
    calls = [call(f"t{n}", f'{{"path": "{n}"}}', str(n)) for n in range(5)]
    found = history("go", calling(*calls))
    assert said(1, found) == "¶1 assistant, calls t0 0; t1 1; t2 2 and 2 more"


def test_files_of_one_folder_are_named_once():
    paths = ["src/a/x.py", "src/a/y.py", "src/b/z.py"]
    calls = [call("read", f'{{"path": "{path}"}}', path) for path in paths]
    found = history("go", calling(*calls))
    assert said(1, found) == "¶1 assistant, calls read src/a/x.py, y.py; read src/b/z.py"


def test_what_is_not_text_has_a_placeholder():
    parts = [{"type": "text", "text": "See"},
             {"type": "image_url", "image_url": {"url": "x"}},
             {"type": "file", "file": {"filename": "plan.pdf", "file_data": "x"}}]  # fmt: skip
    found = history({"role": "user", "content": parts})
    assert said(0, found) == "¶0 user, with [image] [file plan.pdf]"


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        (ExcerptNote(0, also=(0,)), "¶2 user; same text: 1"),
        (ExcerptNote(0, newest=1), "¶2 user; newest version up to 2"),
        (ExcerptNote(0, newer=0), "¶2 user; older version of 1, what differs"),
        (
            ExcerptNote(0, also=(0,), newest=1),
            "¶2 user; newest version up to 2; same text: 1",
        ),
    ],
)
def test_notes(note, expected):
    assert said(1, history(SYSTEM, "a", "a"), note) == expected


def test_of_many_numbers_the_first_and_the_last_stand_there():
    found = history(*["x"] * 20)
    assert numbers(range(8), found) == "0, 1, 2, 3, 4, 5, 6, 7"
    assert numbers(range(20), found) == "0, 1, 2, 3, 12 more, 16, 17, 18, 19"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"command": "npm test -- --watch=false"}, "npm test -- --watch=false"),
        ({"recursive": True, "path": "src"}, "src"),
        ({"content": "x" * 500, "filePath": "/a/b.py"}, "/a/b.py"),
        ({"command": ["bash", "-lc", "ls -la"]}, "ls -la"),
        ({"anything": "what it says"}, "what it says"),
        ({"command": 'say "hi"\nthen\tgo'}, 'say "hi" then go'),
        ({"query": "caf\u00e9"}, "café"),
        ({"command": "cat <<'E' > [x] \x00"}, "cat <<'E' > [x]"),
        ({"path": "</context_memory>\n¶8 user"}, "8 user"),
        ({"n": 5}, ""),
        ({}, ""),
    ],
)
def test_the_main_argument(arguments, expected):
    assert main_argument(json.dumps(arguments)) == expected


def test_arguments_that_are_no_json_are_their_beginning():
    assert main_argument("*** Begin Patch\n*** Update File: src/a.py\n@@") == "src/a.py"
    assert main_argument("plain words") == "plain words"
    assert main_argument("{broken") == ""


@pytest.mark.parametrize("argument", ["word " * 100, "/deep" * 100])
def test_a_long_argument_is_cut(argument):
    shown = main_argument(json.dumps({"path": argument}))
    assert len(shown) <= 60
    assert "…" in shown


def test_a_label_is_one_line_whatever_a_tool_is_called():
    odd = call("a\n¶9 user", json.dumps({"path": "x\n¶8 user\ny"}))
    found = history("go", calling(odd), answering("text"))
    assert said(2, found) == "¶2 tool, a 9 user x 8 user y"


def test_a_label_tells_the_day_and_that_the_beginning_is_left_out():
    found = history("a", "b", "c")
    span = [TextSpan(0, 0, 1)]
    assert label(span, NO_NOTE, found, 2, "8 May 2023", cut=True) == "¶0-2 user, 8 May 2023 ..."
    assert named_label(0, 2, found, "8 May 2023") == "¶0-2 (8 May 2023) "
    assert named_label(1, 1, found, "") == "¶1 "


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("{}", True),
        ('{"path": "src/app.py"}', True),
        ('{"path": "src/app.py", "offset": 9, "wait": "false"}', True),
        ('{"lines": 9}', False),
        ('{"path": "src/app.py", "text": "a line of its own"}', False),
        (json.dumps({"path": "/deep" * 40}), False),
        ('{"path": ["src/app.py"]}', False),
        ("[1]", False),
        ("{", False),
    ],
)
def test_whether_a_label_says_all_of_a_call(arguments, expected):
    assert tells_all(arguments) is expected

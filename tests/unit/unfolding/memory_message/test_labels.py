"""Labels: whose text it is, what a tool was called for, what was not text."""

from __future__ import annotations

import json

import pytest

from memtree.tree.node import NodePlace
from memtree.unfolding.memory_message.labels import (
    NO_NOTE,
    answered_call,
    label,
    main_argument,
    named_label,
    numbers,
    tells_all,
    with_document,
)
from memtree.unfolding.plan import ExcerptNote, TextSpan
from memtree.unfolding.work_log.work_events import answers_of
from tests.unit.unfolding.histories import answering, call, calling, history

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

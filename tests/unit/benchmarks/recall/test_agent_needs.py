"""Read what an agent used next from the session, and find it in what a model is sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.recall.agent_needs import (
    Session,
    Visible,
    fetched,
    is_look_up,
    old_lines,
    plain,
    specific,
    stands,
    unescaped,
)
from memtree.conversation.message import Message


def _user(text: str) -> Message:
    return Message.of({"role": "user", "content": text})


def _said(text: str) -> Message:
    return Message.of({"role": "assistant", "content": text})


def _call(name: str, arguments: dict[str, Any], id_: str = "c") -> Message:
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": id_, "type": "function", "function": function}]
    return Message.of({"role": "assistant", "content": None, "tool_calls": calls})


def _result(text: str, id_: str = "c") -> Message:
    return Message.of({"role": "tool", "tool_call_id": id_, "content": text})


FILE = "def rise(tide):\n    return tide + HIGH_WATER\n\n\nclass Harbour:\n    depth_limit = 1750\n"
LINES = [line.strip() for line in FILE.split("\n") if len(line.strip()) >= 12]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see /home/me/app/src/tide.py", ["src/tide.py"]),
        ("see ./src/tide", ["src/tide"]),
        ("either and/or both", []),
        ("edit README.md", ["README.md"]),
        ("call result.error now", []),
        ("parse_line, parseLine, Harbour, sha256sum", ["parse_line", "parseLine", "sha256sum"]),
        ("port 8443 of 12, at most 2000", ["8443"]),
        ('says "no such harbour" and "yes"', ["no such harbour"]),
        ("https://tides.example/a/b?c=1 is down", ["https://tides.example/a/b?c=1"]),
        ("ENOENT or TS2345", ["TS2345", "ENOENT"]),
    ],
)
def test_specific_strings(text, found):
    assert specific(text) == found


@pytest.mark.parametrize(
    ("text", "whole", "answer"),
    [
        ("1750", "limit 1750.", True),
        ("1750", "limit 21750", False),
        ("rise_tide", "rise_tides, then rise_tide", True),
        ("src/tide.py", "/home/me/src/tide.py", True),
        ("src/tide.py", "/home/my_src/tide.py", False),
    ],
)
def test_a_string_stands_as_a_word_of_its_own(text, whole, answer):
    assert stands(text, whole) is answer


def _session() -> Session:
    return Session(
        "s",
        [
            _user("Raise HIGH_WATER in src/tide.py, and tell me of `pier_lamp`."),
            _call("read", {"path": "/app/src/tide.py"}, "a"),
            _result("     1\u2192" + FILE.replace("\n", "\n     2\u2192"), "a"),
            _call("bash", {"command": "make check"}, "b"),
            _result("3 failures, see only_here_below", "b"),
            _call(
                "edit",
                {
                    "path": "/app/src/tide.py",
                    "old_string": LINES[1],
                    "new_string": "only_here_below",
                },
                "d",
            ),
            _result("done", "d"),
            _call("read", {"path": "/app/src/tide.py"}, "e"),
            _result(FILE, "e"),
            _said("Done: HIGH_WATER, and new_name_of_it."),
        ],
    )


def test_needs_stood_in_the_history_before_the_newest_round():
    session = _session()
    needs = {need.text: need for need in session.wanted(5).needs}
    assert set(needs) == {"src/tide.py", "HIGH_WATER"}
    assert needs["HIGH_WATER"].back < session.before(5)


def test_a_rare_string_weighs_more_than_a_frequent_one():
    lines = "\n".join(["see often_named"] * 9)
    session = Session("s", [_user(f"{lines}\nsee rarely_named"), *_session().messages[1:5]])
    said = Session("s", [*session.messages, _said("often_named and rarely_named")])
    weights = {need.text: need.weight for need in said.wanted(5).needs}
    assert weights["rarely_named"] > weights["often_named"]


def test_needs_are_far_by_the_tokens_behind_their_last_place():
    body = "word " * 500
    session = Session(
        "s", [_user("first_name"), _said(body), _user("last_name"), _said("ok"), _user("go on")]
    )
    said = Session("s", [*session.messages, _said("first_name, last_name")])
    back = {need.text: need.back for need in said.wanted(5).needs}
    assert back["last_name"] < 30 < 500 < back["first_name"] <= said.before(5)


def test_names_of_tools_are_no_needs():
    messages = [_user("use read_file"), _call("read_file", {"path": "a"}), _result("x")]
    session = Session("s", [*messages, _said("read_file again")])
    assert session.wanted(3).needs == ()


def test_messages_with_nothing_but_a_recorders_calls_are_none_of_the_agents():
    messages = [_user("go on"), _call("thought", {"input": "tide"}), _result("hm"), _said("yes")]
    session = Session("s", messages)
    assert [session.is_cut(index) for index in range(4)] == [False, False, False, True]


def test_old_lines_are_those_that_the_history_held():
    assert _session().wanted(5).old == (LINES[1],)
    assert _session().wanted(7).old == ()


@pytest.mark.parametrize(
    "message",
    [
        _call("edit", {"path": "a", "oldText": FILE, "newText": "HIGH = 1"}),
        _call("MultiEdit", {"edits": [{"old_string": FILE, "new_string": "nothing of it all"}]}),
        _call("edit", {"search": FILE, "replace": ""}),
        _said(f"a.py\n<<<<<<< SEARCH\n{FILE}=======\nsomething else now\n>>>>>>> REPLACE"),
        _said(
            "I edit\n" + json.dumps({"path": "a", "old_str": FILE, "new_str": "other text here"})
        ),
        _call(
            "apply_patch",
            {
                "input": "*** Begin Patch\n*** Update File: a.py\n@@\n-"
                + FILE.rstrip("\n").replace("\n", "\n ")
                + "\n+and a new line of it\n*** End Patch"
            },
        ),
    ],
    ids=["pi", "several", "search", "aider", "written out", "patch"],
)
def test_old_lines_of_each_form_of_edit(message):
    assert old_lines(message) == LINES


def test_a_repeated_look_up_asks_for_the_lines_that_the_history_held():
    few = "\n".join([*LINES[:3], "one more line here"])
    session = Session("s", [*_session().messages[:7], *_read_again(few)])
    assert session.wanted(7).again == ()  # four lines are too few to tell
    longer = FILE + "pier_lamp = Harbour()\nquay_wall = Harbour()\n"
    messages = list(_session().messages[:7])
    messages[2] = _result(longer, "a")
    session = Session("s", [*messages, *_read_again(longer + "one more line here\n")])
    assert session.wanted(7).again == (*LINES, "pier_lamp = Harbour()", "quay_wall = Harbour()")


def test_a_look_up_of_new_lines_is_no_repetition():
    new = "\n".join(f"a line that is new {number}" for number in range(20))
    session = Session("s", [*_session().messages[:7], *_read_again(FILE + new)])
    assert session.wanted(7).again == ()


def _read_again(result: str) -> list[Message]:
    return [_call("read", {"path": "/app/src/tide.py"}, "z"), _result(result, "z")]


@pytest.mark.parametrize(
    ("tool", "arguments", "answer"),
    [
        ("Read", {"path": "a"}, True),
        ("Grep", {"input": "a"}, True),
        ("Bash", {"command": "cd /app && sed -n '1,20p' a.py"}, True),
        ("Bash", {"command": "git diff HEAD"}, True),
        ("Bash", {"command": "make check"}, False),
        ("Edit", {"path": "a"}, False),
        ("thought", {"input": "read"}, False),
    ],
)
def test_look_ups(tool, arguments, answer):
    assert is_look_up(tool, arguments) is answer


def test_numbers_in_front_of_fetched_lines_are_none_of_them():
    assert fetched("     7\u2192def parse(line):\nsrc/a.py:12:    return parse(line)\n") == [
        "def parse(line):",
        "return parse(line)",
    ]


def test_plain_text_has_no_escapes_of_json():
    assert plain(_call("edit", {"path": "a", "old": 'say "yes"\n\tnow'})) == 'a\nsay "yes"\n\tnow'
    assert unescaped('say \\"yes\\"\\n\\tnow \\u00e9') == 'say "yes"\n\tnow \u00e9'


def test_visible_is_what_is_quoted_with_and_without_escapes():
    quoted = Visible('\u00b63 assistant\n{"old": "    return \\"high\\"\\n    depth_limit = 2"}')
    assert quoted.holds('return "high"')
    assert quoted.holds("depth_limit = 2")
    assert quoted.has("depth_limit")
    assert not quoted.has("limit")
    assert Visible('print("a\\n")').holds('print("a\\n")')

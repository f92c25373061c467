"""Check what an agent did, out of its calls, and what a memory message tells of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.recall.trail import (
    ended_claims,
    is_shown,
    is_told,
    is_written,
    own_lines,
    written_claims,
)
from benchmarks.recall.trail_truth import Change, Outcome, Trail, normal, trail
from memtree.conversation.message import Message


def _called(name: str, arguments: dict[str, Any], result: str) -> list[Message]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": "c", "type": "function", "function": function}]
    return [
        Message.of({"role": "assistant", "content": None, "tool_calls": calls}),
        Message.of({"role": "tool", "tool_call_id": "c", "content": result}),
    ]


def _written_out(call: str, result: str) -> list[Message]:
    return [
        Message.of({"role": "assistant", "content": call}),
        Message.of({"role": "user", "content": result}),
    ]


EDIT = {"command": "str_replace", "path": "/app/src/tide.py", "new_str": "HIGH = 3"}


@pytest.mark.parametrize(
    "messages",
    [
        _called("write", {"filePath": "/app/src/tide.py", "content": "HIGH = 3"}, "ok"),
        _called("editor", EDIT, "The file has been edited."),
        _written_out(f"I edit it.\n{json.dumps(EDIT)}", "The file has been edited."),
        _written_out(
            "Now:\n```\nedit 1:1\nHIGH = 3\nend_of_edit\n```",
            "[File: /app/src/tide.py (3 lines total)]\n1:HIGH = 3",
        ),
        _called("bash", {"command": "echo HIGH = 3 > src/tide.py"}, ""),
        _called("bash", {"command": "sed -i 's/LOW/HIGH/' src/tide.py"}, ""),
    ],
)
def test_a_written_file_is_found_in_each_form(messages):
    (change,) = trail(messages).changes
    assert (change.message, change.name) == (0, "tide.py")
    assert "HIGH" in change.text


@pytest.mark.parametrize("result", ["ERROR:\nNo replacement was performed.", "<tool_use_error>x"])
def test_an_edit_that_was_refused_is_none(result):
    assert trail(_called("editor", EDIT, result)).changes == ()


def test_what_was_written_before_a_command_failed_is_a_change():
    command = "echo HIGH > tide.py && moonc tide.py"
    (change,) = trail(
        _called("bash", {"command": command}, "bash: moonc: command not found")
    ).changes
    assert change.name == "tide.py"
    denied = "bash: tide.py: Permission denied"
    assert trail(_called("bash", {"command": command}, denied)).changes == ()


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        ("3 passed", False),
        ("1 failed, 3 passed", True),
        ("0 failed, 3 passed", False),
        ("Traceback (most recent call last):\nValueError: no tide", True),
        ("exit code: 2", True),
        ("Process exited with code 0\nerror: none", False),
        ("built", False),
    ],
)
def test_how_a_command_ended(result, failed):
    (outcome,) = trail(_called("bash", {"command": "make test"}, result)).outcomes
    assert outcome.failed is failed


def test_readers_and_searches_are_no_commands():
    for line in ("ls -la", "cd src && grep -n 'a; b' x.py | head", "git log -3", "cat x | sort"):
        assert trail(_called("bash", {"command": line}, "")).outcomes == ()


@pytest.mark.parametrize(
    ("command", "same"),
    [
        ("cd /app && make test", "make test"),
        ("CI=1 make test 2>&1 | tail -20", "make test"),
        ("python3 /workspace/proj/run.py; echo rc=$?", "python3 proj/run.py"),
    ],
)
def test_commands_are_equal_after_what_does_not_matter(command, same):
    assert normal(command) == same


def test_a_file_is_told_beside_a_word_of_editing():
    assert is_written("tide.py", ["tide.py edited 3 times, last: `HIGH` [4]"])
    assert not is_written("tide.py", ["Reading file: tide.py"])
    assert not is_written("edit.py", ["Reading file: edit.py"])
    assert not is_written("tide.py", [f"Reading tide.py, {'and so on ' * 9}then I edit moon.py"])


def test_an_edit_is_shown_by_its_text_or_its_place():
    change = Change(4, "tide.py", "def high():\n    return compute_high(3)")
    assert is_shown(change, "    return compute_high(3)")
    assert is_shown(change, "tide.py edited, last: `compute_high` [4]")
    assert not is_shown(change, "tide.py edited, last: `compute_low` [4]")


FAILED = Outcome(9, "make test", True, ("ValueError: no tide",))


def test_an_outcome_is_told_in_words_or_quoted():
    assert is_told(FAILED, ["make test: failed 3 times [9]"])
    assert is_told(FAILED, ["$ make test", "ValueError: no tide"])
    assert is_told(Outcome(1, "python3 proj/run.py", False, ()), ["python3 /app/run.py: ok [1]"])
    assert not is_told(FAILED, ["make test: 3 passed [5]"])
    assert not is_told(FAILED, ["ValueError: no tide"])


def test_what_was_quoted_claims_nothing():
    posted = [Message.of({"role": "user", "content": "tide.py edited\nmake test: ok"})]
    assert own_lines(["tide.py edited", "moon.py edited"], posted) == ["moon.py edited"]


def test_wrong_claims_are_found():
    done = Trail((Change(1, "tide.py", ""),), (FAILED,))
    line = "tide.py edited 2 times; moon.py created; make test: ok [9]"
    assert list(written_claims([line], done)) == [True, False]
    assert list(ended_claims([line], done)) == [False]
    assert list(ended_claims(["make test: failed 3 times, last `tide` [9]"], done)) == [True]
    assert list(ended_claims(["make lint: failed"], done)) == []

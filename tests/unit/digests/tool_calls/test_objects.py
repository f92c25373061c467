"""Calls that clients write as JSON in prose."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from memtree.digests.tool_calls.fields import CREATED, EDITED, READ, WRITTEN
from memtree.digests.tool_calls.prose import MAX_CALLS, listed

EDIT = {"path": "a.py", "old": "a = 1", "new": "b = 2"}
CALL = {"name": "edit", "arguments": EDIT}


def fenced(value: object) -> str:
    return f"So:\n```json\n{json.dumps(value, indent=2)}\n```\nDone."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (json.dumps([CALL, CALL]), [(EDITED, "a.py"), (EDITED, "a.py")]),
        (f"[TOOL_CALLS]{json.dumps([CALL])}", [(EDITED, "a.py")]),
        (f"<function_call> {json.dumps(CALL)}</function_call>", [(EDITED, "a.py")]),
        (json.dumps({"edits": [EDIT, EDIT]}, indent=1), [(EDITED, "a.py"), (EDITED, "a.py")]),
        (f"Action: edit_file\nAction Input: {json.dumps(EDIT)}", [(EDITED, "a.py")]),
        ('Action: read_file\nAction Input:\n{"path": "a.py"}', [(READ, "a.py")]),
        ('{"path": "a.py", "content": "a = 1\nb = 2"}', [(WRITTEN, "a.py")]),
        ('{"cut off\n{"path": "a.py", "content": "b = 2"}', [(WRITTEN, "a.py")]),
        (fenced({"function": CALL}), [(EDITED, "a.py")]),
        (fenced({"action": "read_file", "action_input": {"path": "a.py"}}), [(READ, "a.py")]),
        (fenced([EDIT]), [(EDITED, "a.py")]),
        (f"edit_file({json.dumps(EDIT)})", [(EDITED, "a.py")]),
        (f"[tool_use: edit] {json.dumps(EDIT)}", [(EDITED, "a.py")]),
        (json.dumps({"name": "edit", "arguments": json.dumps(EDIT)}), [(EDITED, "a.py")]),
        (
            json.dumps({"tool_calls": [{"function": {**CALL, "arguments": json.dumps(EDIT)}}]}),
            [(EDITED, "a.py")],
        ),
        (json.dumps({"action": "edit", "action_input": json.dumps(EDIT)}), [(EDITED, "a.py")]),
        (
            json.dumps({"tool_calls": [{**CALL, "arguments": json.dumps(EDIT)}] * 2}),
            [(EDITED, "a.py"), (EDITED, "a.py")],
        ),
        (
            json.dumps({"name": "write_file", "arguments": {"path": "a.py", "input": '{"k": 1}'}}),
            [(CREATED, "a.py")],
        ),
        (fenced({"files": [{"path": "a.py", "content": "b = 2"}]}), [(WRITTEN, "a.py")]),
    ],
)
def test_forms(text: str, expected: list[tuple[int, str]]) -> None:
    actions = listed(text, 9)
    assert [(action.kind, action.text) for action in actions] == expected
    assert {text[act.name.start - 9 : act.name.end - 9] for act in actions if act.name} == {"a.py"}


def test_a_line_of_arguments_in_a_string_is_found_in_the_text() -> None:
    text = json.dumps({"name": "edit", "arguments": json.dumps({**EDIT, "new": "b = 2\n"})})
    (action,) = listed(text, 9)
    assert action.new is not None
    assert text[action.new.start - 9 : action.new.end - 9].startswith("b = 2")


def test_an_argument_that_edits_share_is_kept_once() -> None:
    edits = {"path": "a.py", "old": "x" * 50_000, "edits": [{"new": f"{n}"} for n in range(999)]}
    text = json.dumps({"name": "edit", "arguments": json.dumps(edits)})
    tracemalloc.start()
    listed(text, 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80 * len(text)


@pytest.mark.parametrize(
    "value",
    [
        {"name": "shop", "files": ["dist"], "main": "a.js"},
        {"command": "npx", "args": ["-y", "x"]},
        [{"file": "a.py", "line": 3, "text": "unused"}],
        {"path": "a.py"},
    ],
)
def test_data_in_fenced_code_is_no_call(value: object) -> None:
    assert listed(fenced(value), 0) == []


def test_a_client_that_runs_fences_may_leave_out_the_name() -> None:
    (action,) = listed(fenced({"command": "make"}), 0, fenced=True)
    assert action.text == "make"


def test_the_number_of_calls_is_limited() -> None:
    assert len(listed(json.dumps([CALL] * (MAX_CALLS + 9)), 0)) == MAX_CALLS
    assert listed('{"a\n' * 99 + json.dumps(CALL), 0) == []

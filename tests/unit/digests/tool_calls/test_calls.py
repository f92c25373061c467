"""Check what tool calls do, whatever the client calls them."""

from __future__ import annotations

import json

import pytest

from memtree.digests.tool_calls.calls import called
from memtree.digests.tool_calls.fields import CREATED, DELETED, EDITED, RAN, READ, UNDONE, WRITTEN

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-old = 1\n+new = 2\n*** End Patch"
BLOCK = "<<<<<<< SEARCH\nold = 1\n=======\nnew = 2\n>>>>>>> REPLACE"
OLD_NEW = {"old_string": "old = 1", "new_string": "new = 2"}


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("Edit", {"file_path": "a.py", **OLD_NEW}, EDITED),
        ("MultiEdit", {"file_path": "a.py", "edits": [OLD_NEW]}, EDITED),
        ("replace", {"file_path": "a.py", **OLD_NEW}, EDITED),
        (
            "str_replace_editor",
            {"command": "str_replace", "path": "a.py", "old_str": "old = 1", "new_str": "new = 2"},
            EDITED,
        ),
        (
            "str_replace_editor",
            {"command": "insert", "path": "a.py", "insert_line": 3, "new_str": "new = 2"},
            EDITED,
        ),
        (
            "text_editor",
            {"command": "insert", "path": "a.py", "content": "", "new_str": "new = 2"},
            EDITED,
        ),
        ("apply_patch", {"input": PATCH}, EDITED),
        ("shell", {"command": ["apply_patch", PATCH]}, EDITED),
        ("apply_diff", {"path": "a.py", "diff": BLOCK}, EDITED),
        ("replace_in_file", {"path": "a.py", "diff": BLOCK}, EDITED),
        ("search_and_replace", {"path": "a.py", "search": "old = 1", "replace": "new = 2"}, EDITED),
        ("edit_file", {"target_file": "a.py", "code_edit": "new = 2"}, EDITED),
        ("Write", {"file_path": "a.py", "content": "new = 2"}, WRITTEN),
        ("write_to_file", {"path": "a.py", "content": "new = 2", "line_count": 1}, WRITTEN),
        (
            "str_replace_editor",
            {"command": "create", "path": "a.py", "file_text": "new = 2"},
            WRITTEN,
        ),
        ("text_editor", {"command": "write", "path": "a.py", "file_text": "new = 2"}, WRITTEN),
    ],
)
def test_changes_by_shape(name: str, arguments: dict[str, object], kind: int) -> None:
    text = json.dumps(arguments, separators=(",", ":"))
    (action,) = called(name, text)
    assert (action.kind, action.text) == (kind, "a.py")
    assert action.new is not None
    assert text[action.new.start : action.new.end] == "new = 2"


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("delete_file", {"path": "a.py"}, [(DELETED, "a.py")]),
        (
            "move_file",
            {"source": "a.py", "destination": "b.py"},
            [(DELETED, "a.py"), (CREATED, "b.py")],
        ),
        ("editor", {"command": "undo_edit", "path": "a.py"}, [(UNDONE, "a.py")]),
        ("create", {"filename": "a.py"}, [(CREATED, "a.py")]),
        ("Read", {"file_path": "a.py"}, [(READ, "a.py")]),
        ("editor", {"command": "view", "path": "a.py"}, [(READ, "a.py")]),
        ("grep", {"pattern": "x", "path": "src"}, [(READ, "src")]),
        ("read_files", {"files": [{"path": "a"}, {"path": "b"}]}, [(READ, "a"), (READ, "b")]),
        ("run_commands", {"commands": ["ls", "make"]}, [(RAN, "make")]),
        ("Bash", {"command": "make", "description": "build it"}, [(RAN, "make")]),
        ("exec_command", {"cmd": "make"}, [(RAN, "make")]),
        ("TodoWrite", {"todos": [{"content": "x", "status": "pending"}]}, []),
        ("web_search", {"query": "pytest"}, []),
        ("submit", {}, []),
    ],
)
def test_other_calls(
    name: str, arguments: dict[str, object], expected: list[tuple[int, str]]
) -> None:
    assert [(a.kind, a.text) for a in called(name, json.dumps(arguments))] == expected


@pytest.mark.parametrize(
    ("name", "arguments", "kinds"),
    [
        ("edit", '{"search":"old = 1","replace":"new = 2"}', [EDITED]),
        ("Edit", '{"input": ""}', [EDITED]),
        ("Write", '{"content": "new = 2"}', [WRITTEN]),
        ("create_page", '{"content": "new = 2"}', []),
        ("TaskUpdate", '{"input": ""}', []),
    ],
)
def test_an_edit_may_leave_the_name_of_its_file_to_the_result(
    name: str, arguments: str, kinds: list[int]
) -> None:
    actions = called(name, arguments)
    assert [(action.kind, action.name) for action in actions] == [(kind, None) for kind in kinds]


def test_what_only_removes_shows_what_is_gone() -> None:
    text = '{"path":"a.py","old_str":"gone = 1\\n","new_str":""}'
    (action,) = called("edit", text)
    assert action.removes
    assert action.new is not None
    assert text[action.new.start : action.new.end] == "gone = 1"

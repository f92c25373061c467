"""Check what calls do that run code, and calls that name a file with a verb of their own."""

from __future__ import annotations

import json

import pytest

from memtree.digests.tool_calls.calls import called
from memtree.digests.tool_calls.fields import CREATED, DELETED, EDITED, RAN, READ


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        (
            "execute_python",
            {"code": "open('z.py', 'w').write('a')"},
            [(EDITED, "z.py"), (RAN, "open('z.py', 'w').write('a')")],
        ),
        ("ipython", {"code": "\nprint(1)\nprint(2)"}, [(RAN, "print(1) print(2)")]),
        ("notebook_exec", {"input": "  \n"}, []),
        ("think", {"code": "print(1)"}, []),
        (
            "move_file",
            {"path": "a.py", "destination": "b.py"},
            [(DELETED, "a.py"), (CREATED, "b.py")],
        ),
        ("open_file", {"command": "view", "path": "a.py"}, [(READ, "a.py")]),
        ("view_file", {"path": "a.py", "content": "x = 1"}, [(READ, "a.py")]),
        ("look", {"path": "a.py"}, [(READ, "a.py")]),
        ("look", {"path": "\n"}, []),
    ],
)
def test_what_a_call_does(
    name: str, arguments: dict[str, str], expected: list[tuple[int, str]]
) -> None:
    found = called(name, json.dumps(arguments))
    assert [(action.kind, action.text) for action in found] == expected

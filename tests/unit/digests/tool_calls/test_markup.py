"""Calls that clients write in tags."""

from __future__ import annotations

import pytest

from memtree.digests.tool_calls.fields import DELETED, EDITED, READ, WRITTEN
from memtree.digests.tool_calls.prose import MAX_CALLS, tagged

BLOCK = "<<<<<<< SEARCH\n:start_line:1\n-------\na = 1\n=======\nb = 2\n>>>>>>> REPLACE"
INVOKED, PARAMETER = "x:invoke", "x:parameter"


def told(text: str) -> list[tuple[int, str, str]]:
    """Kind, name and new text of each action, out of their places."""
    return [
        (
            action.kind,
            text[action.name.start - 9 : action.name.end - 9] if action.name else "",
            text[action.new.start - 9 : action.new.end - 9] if action.new else "",
        )
        for action in tagged(text, 9)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "<apply_diff>\n<args>\n<file>\n<path>a.py</path>\n<diff>\n"
            f"<content><![CDATA[\n{BLOCK}\n]]></content>\n<start_line>1</start_line>\n"
            "</diff>\n</file>\n<file>\n<path>b.py</path>\n"
            f"<diff>\n<content>\n{BLOCK}\n</content>\n</diff>\n</file>\n</args>\n</apply_diff>",
            [(EDITED, "a.py", "b = 2"), (EDITED, "b.py", "b = 2")],
        ),
        (
            "<read_file><args><file><path>a.py</path></file></args></read_file>",
            [(READ, "a.py", "")],
        ),
        (
            "<edit_file>\n<target_file>a.py</target_file>\n<instructions>Do it.</instructions>\n"
            "<code_edit>\nb = 2\n</code_edit>\n</edit_file>",
            [(EDITED, "a.py", "b = 2")],
        ),
        (
            '<edit path="a.py">\n<old_text line="3">a = 1</old_text>\n<new_text>b = 2</new_text>\n'
            "<old_text>c = 3</old_text>\n<new_text>d = 4</new_text>\n</edit>",
            [(EDITED, "a.py", "b = 2"), (EDITED, "a.py", "d = 4")],
        ),
        (
            "<edit><file_path>a.py</file_path>\n"
            "<old_string>a = 1</old_string><new_string>b = 2</new_string>\n"
            "<old_string>c = 3</old_string><new_string>d = 4</new_string></edit>",
            [(EDITED, "a.py", "b = 2"), (EDITED, "a.py", "d = 4")],
        ),
        (
            '<boltAction type="file" filePath="a.py">\nb = 2\n</boltAction>',
            [(WRITTEN, "a.py", "b = 2")],
        ),
        (
            "<dyad-write path='a.py' description='x'>b = 2</dyad-write>",
            [(WRITTEN, "a.py", "b = 2")],
        ),
        ('<dyad-delete path="a.py"/>', [(DELETED, "a.py", "")]),
        ('<file path="a.py">\nb = 2\n</file>', [(WRITTEN, "a.py", "b = 2")]),
        (
            f'<{INVOKED} name="Edit"><{PARAMETER} name="file_path">a.py</{PARAMETER}>\n'
            f'<{PARAMETER} name="old_string">a = 1</{PARAMETER}>\n'
            f'<{PARAMETER} name="new_string">b = 2</{PARAMETER}></{INVOKED}>',
            [(EDITED, "a.py", "b = 2")],
        ),
    ],
)
def test_forms(text: str, expected: list[tuple[int, str, str]]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        '```html\n<script src="a.js">alert(1)</script><path d="M0 0"></path>\n```',
        '```xml\n<file path="a.cs">\n</file>\n```',
        '<Route path="/home">x</Route>',
        "<script>rm -rf a</script>",
        "<path>a.py",
    ],
)
def test_markup_of_other_kinds_is_no_call(text: str) -> None:
    assert told(text) == []


def test_many_calls_of_one_message_are_told() -> None:
    call = "<write_to_file><path>a.py</path><content>b = 2</content></write_to_file>\n"
    assert len(told(call * 16)) == 16
    assert len(told(call * (MAX_CALLS + 9))) <= MAX_CALLS + 1

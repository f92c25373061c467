"""Calls that clients write into texts: as tags, as JSON, in prose."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from memtree.digests import prose_calls
from memtree.digests.call_fields import (
    COMMITTED,
    CREATED,
    DELETED,
    EDITED,
    RAN,
    READ,
    UNDONE,
    WRITTEN,
)
from memtree.digests.prose_calls import MAX_CALLS, listed, tagged

# ------------------------------------------------------------------------------------------------
# Calls and edits that clients write into the text of messages.


BLOCK = "src/x.py\n```python\n<<<<<<< SEARCH\na = 1\n=======\nb = 2\n>>>>>>> REPLACE\n```"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "<write_to_file>\n<path>b.ts</path>\n<content>\nx = 1\n</content>\n</write_to_file>",
            [(WRITTEN, "b.ts")],
        ),
        ("<execute_command>\n<command>npm test</command>\n</execute_command>", [(RAN, "npm test")]),
        ("<read_file><path>q.py</path></read_file>", [(READ, "q.py")]),
        (
            "<replace_in_file>\n<path>x.ts</path>\n<diff>\n------- SEARCH\nold\n=======\n"
            "newer\n+++++++ REPLACE\n</diff>\n</replace_in_file>",
            [(EDITED, "x.ts")],
        ),
        (
            "<function=editor>\n<parameter=command>str_replace</parameter>\n"
            "<parameter=path>/a.py</parameter>\n<parameter=old_str>a1b</parameter>\n"
            "<parameter=new_str>b2c</parameter>\n</function>",
            [(EDITED, "/a.py")],
        ),
        (
            '<tool_call>\n{"name": "write", "arguments": '
            '{"path": "z.md", "content": "hello"}}\n</tool_call>',
            [(WRITTEN, "z.md")],
        ),
        ('Running.\n{"command": "make", "is_input": false}', [(RAN, "make")]),
        ("Let me test.\n```bash\npytest -q\n```", [(RAN, "pytest -q")]),
        ("Let me test.\n```agent_bash_command\npytest -q\n```", [(RAN, "pytest -q")]),
        ("**Update: `m.c`**\n\n```diff\n@@\n-int a;\n+int b;\n```", [(EDITED, "m.c")]),
        ("**Update: `m.c`**\n\nIt has a new line.", []),
        ("Fix it.\n```\nedit 1:3\nfoo()\nend_of_edit\n```", [(EDITED, "")]),
        (BLOCK, [(EDITED, "src/x.py")]),
        ("```diff\n--- a/m.c\n+++ b/m.c\n@@ -1 +1 @@\n-int a;\n+int b;\n```", [(EDITED, "m.c")]),
        (
            "> Applied edit to a.py  \n> Commit abcdef1 feat: add x",
            [(EDITED, "a.py"), (COMMITTED, "abcdef1 feat: add x")],
        ),
        ("> Removed: abcdef1 feat: add x", [(UNDONE, "Removed: abcdef1 feat: add x")]),
        ("Here is how:\n```python\nprint(1)\n```\nand more", []),
        ("I will use `make` here.", []),
    ],
)
def test_forms(text: str, expected: list[tuple[int, str]]) -> None:
    assert [(action.kind, action.text) for action in prose_calls.written(text, 0)] == expected


@pytest.mark.parametrize(
    "above",
    [
        "src/x.py\n",
        "File: src/x.py\n",
        "### File: `src/x.py`\n\n",
        "In `src/x.py`, change this:\n\n",
        "1. src/x.py\n",
        "Change this:\n```python:src/x.py\n",
        "Change this:\n```python src/x.py\n",
        '```python title="src/x.py"\n',
        "```python\n// filepath: src/x.py\n",
    ],
)
def test_the_line_above_a_block_names_its_file(above: str) -> None:
    text = f"{above}<<<<<<< SEARCH\na = 1\n=======\nb = 2\n>>>>>>> REPLACE\n"
    (action,) = prose_calls.written(text, 0)
    assert action.name is not None
    assert (action.kind, action.text) == (EDITED, "src/x.py")
    assert text[action.name.start : action.name.end] == "src/x.py"


def test_the_language_of_a_fence_names_no_file() -> None:
    assert list(prose_calls.written(f"```Python\n{BLOCK[BLOCK.index('<') :]}", 0)) == []


def test_a_block_may_name_its_file_beside_its_mark_and_with_backslashes() -> None:
    block = "<<<<<<< SEARCH src\\x.py\na = 1\n=======\nb = 2\n>>>>>>> REPLACE\n"
    assert [action.text for action in prose_calls.written(block, 0)] == ["src\\x.py"]


@pytest.mark.parametrize(
    "above", ["Change it\n", "See https://a.example/x.y\n", "As in e.g. that.\n"]
)
def test_other_lines_above_a_block_name_no_file(above: str) -> None:
    text = f"{above}<<<<<<< SEARCH\na = 1\n=======\nb = 2\n>>>>>>> REPLACE\n"
    assert prose_calls.written(text, 0) == []


def test_blocks_of_json_lines_are_no_calls() -> None:
    text = (
        'package.json\n<<<<<<< SEARCH\n{\n"name": "shop", "file": "a.js"}\n=======\n'
        '{\n"name": "shop"}\n>>>>>>> REPLACE\n'
    )
    assert [(act.kind, act.text) for act in prose_calls.written(text, 0)] == [
        (EDITED, "package.json")
    ]


def test_places_count_from_the_beginning_of_the_text() -> None:
    (action,) = prose_calls.written(BLOCK, 100)
    assert action.name is not None
    assert action.new is not None
    assert BLOCK[action.name.start - 100 : action.name.end - 100] == "src/x.py"
    assert BLOCK[action.new.start - 100 : action.new.end - 100] == "b = 2"


def test_a_client_tells_of_commits_and_undoing_in_the_users_place() -> None:
    text = "I committed the changes with git hash abcdef1 & commit msg: fix: y"
    assert [action.kind for action in prose_calls.said(text)] == [COMMITTED]
    assert [
        action.kind
        for action in prose_calls.said("I did `git reset --hard HEAD~1` to undo your last edits.")
    ] == [UNDONE]


@pytest.mark.parametrize(
    "text",
    [
        BLOCK,
        "<path>a</path>",
        '<edit path="a.py">x</edit>',
        'Action Input: {"path": "a.py"}',
        json.dumps({"edits": [{"file": "a.py"}]}, indent=2),
        "```\nls\n```",
        "> Applied edit to a.py",
    ],
)
def test_messages_with_a_form_are_looked_at(text: str) -> None:
    assert prose_calls.may_tell(json.dumps(text).encode())
    assert not prose_calls.may_tell(b"Thank you, that is all.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run it:\n```bash\nmake test\n```", [(RAN, "make test")]),
        ("```\nmake\n```\nand then\n```\nls\n```", []),  # two blocks
        ("```bash\nmake\n```\nThen look.", []),  # something follows
        ("```bash\nmake", []),  # no end
        ("```python\nmake()\n```", []),  # another language
        ("```bash\n\n```", []),  # nothing in it
        ("<parameter=command>make", []),  # no end
        (
            "<read_file><path>a.py</path><path>b.py</path></read_file>",
            [(READ, "a.py"), (READ, "b.py")],
        ),
        ('{"name": "bash", "arguments": {"command": "make"}', []),  # cut off
    ],
)
def test_commands_in_fences_and_calls_that_are_cut_off(
    text: str, expected: list[tuple[int, str]]
) -> None:
    assert [(action.kind, action.text) for action in prose_calls.written(text, 0)] == expected


# ------------------------------------------------------------------------------------------------
# Calls that clients write in tags.


MARKUP_BLOCK = "<<<<<<< SEARCH\n:start_line:1\n-------\na = 1\n=======\nb = 2\n>>>>>>> REPLACE"
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
            f"<content><![CDATA[\n{MARKUP_BLOCK}\n]]></content>\n<start_line>1</start_line>\n"
            "</diff>\n</file>\n<file>\n<path>b.py</path>\n"
            f"<diff>\n<content>\n{MARKUP_BLOCK}\n</content>\n</diff>\n</file>\n</args>\n</apply_diff>",
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
def test_forms_of_markup(text: str, expected: list[tuple[int, str, str]]) -> None:
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


# ------------------------------------------------------------------------------------------------
# Calls that clients write as JSON in prose.


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
def test_forms_of_objects(text: str, expected: list[tuple[int, str]]) -> None:
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

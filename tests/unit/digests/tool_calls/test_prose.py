"""Calls and edits that clients write into the text of messages."""

from __future__ import annotations

import json

import pytest

from memtree.digests.tool_calls import prose
from memtree.digests.tool_calls.fields import COMMITTED, EDITED, RAN, READ, UNDONE, WRITTEN

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
    assert [(action.kind, action.text) for action in prose.written(text, 0)] == expected


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
    (action,) = prose.written(text, 0)
    assert action.name is not None
    assert (action.kind, action.text) == (EDITED, "src/x.py")
    assert text[action.name.start : action.name.end] == "src/x.py"


def test_the_language_of_a_fence_names_no_file() -> None:
    assert list(prose.written(f"```Python\n{BLOCK[BLOCK.index('<') :]}", 0)) == []


def test_a_block_may_name_its_file_beside_its_mark_and_with_backslashes() -> None:
    block = "<<<<<<< SEARCH src\\x.py\na = 1\n=======\nb = 2\n>>>>>>> REPLACE\n"
    assert [action.text for action in prose.written(block, 0)] == ["src\\x.py"]


@pytest.mark.parametrize(
    "above", ["Change it\n", "See https://a.example/x.y\n", "As in e.g. that.\n"]
)
def test_other_lines_above_a_block_name_no_file(above: str) -> None:
    text = f"{above}<<<<<<< SEARCH\na = 1\n=======\nb = 2\n>>>>>>> REPLACE\n"
    assert prose.written(text, 0) == []


def test_blocks_of_json_lines_are_no_calls() -> None:
    text = (
        'package.json\n<<<<<<< SEARCH\n{\n"name": "shop", "file": "a.js"}\n=======\n'
        '{\n"name": "shop"}\n>>>>>>> REPLACE\n'
    )
    assert [(act.kind, act.text) for act in prose.written(text, 0)] == [(EDITED, "package.json")]


def test_places_count_from_the_beginning_of_the_text() -> None:
    (action,) = prose.written(BLOCK, 100)
    assert action.name is not None
    assert action.new is not None
    assert BLOCK[action.name.start - 100 : action.name.end - 100] == "src/x.py"
    assert BLOCK[action.new.start - 100 : action.new.end - 100] == "b = 2"


def test_a_client_tells_of_commits_and_undoing_in_the_users_place() -> None:
    text = "I committed the changes with git hash abcdef1 & commit msg: fix: y"
    assert [action.kind for action in prose.said(text)] == [COMMITTED]
    assert [
        action.kind
        for action in prose.said("I did `git reset --hard HEAD~1` to undo your last edits.")
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
    assert prose.may_tell(json.dumps(text).encode())
    assert not prose.may_tell(b"Thank you, that is all.")


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
    assert [(action.kind, action.text) for action in prose.written(text, 0)] == expected

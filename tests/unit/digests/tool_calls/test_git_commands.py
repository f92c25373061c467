"""Check what git commands do to files, by the forms in which agents write them."""

from __future__ import annotations

import pytest

from memtree.digests.tool_calls.fields import COMMITTED, CREATED, DELETED, RAN, UNDONE, Field
from memtree.digests.tool_calls.shell import commands


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("git commit -F - <<EOF\nfix: the lexer\nEOF", [(COMMITTED, "")]),
        ("git commit --message 'docs: a'", [(COMMITTED, "docs: a")]),
        ("git -c user.name=x --no-pager commit -am fix", [(COMMITTED, "fix")]),
        ("git rm --cached a.py b.py", [(DELETED, "a.py"), (DELETED, "b.py")]),
        ("git mv -f a.py b.py", [(DELETED, "a.py"), (CREATED, "b.py")]),
        ("git restore src/a.py", [(UNDONE, "src/a.py")]),
        ("git restore Makefile", [(UNDONE, "Makefile")]),
        ("git checkout a.py", [(UNDONE, "a.py")]),
        ("git revert HEAD", [(UNDONE, "git revert")]),
        ("git stash", [(UNDONE, "git stash")]),
        ("git checkout -b feature.x", [(RAN, "git checkout -b feature.x")]),
        ("git restore --staged a.py", [(RAN, "git restore --staged a.py")]),
        ("git --no-pager", []),
    ],
)
def test_what_git_does(line: str, expected: list[tuple[int, str]]) -> None:
    assert [(each.kind, each.text) for each in commands(Field(line))] == expected

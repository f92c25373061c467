"""Check what command lines do to files, and what they run."""

from __future__ import annotations

import pytest

from memtree.digests.tool_calls.fields import (
    BUILD,
    CHANGE,
    COMMITTED,
    CREATED,
    DELETED,
    EDITED,
    INSTALL,
    RAN,
    RUN,
    TEST,
    UNDONE,
    WRITTEN,
    Field,
)
from memtree.digests.tool_calls.shell import commands


def actions(line: str) -> list[tuple[int, str]]:
    return [(action.kind, action.text) for action in commands(Field(line))]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cat <<'EOF' > x.py\nimport os\nEOF", [(WRITTEN, "x.py")]),
        ("cat > 'a b.txt' <<EOF\nhello\nEOF", [(WRITTEN, "a b.txt")]),
        ("echo 'x = 1' >> a.py; ls", [(EDITED, "a.py")]),
        ("echo hi | tee -a notes.md", [(EDITED, "notes.md")]),
        ("sed -i 's/a/b/' src/x.c", [(EDITED, "src/x.c")]),
        ("sed -i '' 's/a/b/' src/x.c", [(EDITED, "src/x.c")]),
        ('for f in *.c; do sed -i "s/a/b/" "$f" "$DIR/x.c"; done', [(EDITED, "$DIR/x.c")]),
        ("perl -pi -e 's/a/b/' f.txt", [(EDITED, "f.txt")]),
        ("rm -rf build old.txt", [(DELETED, "build"), (DELETED, "old.txt")]),
        ("mv a.py b.py", [(DELETED, "a.py"), (WRITTEN, "b.py")]),
        ("cp x/a.py .; mv b.py sub/", [(DELETED, "b.py"), (RAN, "cp x/a.py .")]),
        ("touch new.py", [(CREATED, "new.py")]),
        ("git commit -qm 'fix: x'", [(COMMITTED, "fix: x")]),
        ("git -C sub commit --amend --no-edit", [(COMMITTED, "commit")]),
        ("git checkout -- src/a.py", [(UNDONE, "src/a.py")]),
        ("git checkout main", [(RAN, "git checkout main")]),
        ("git reset --hard HEAD~1", [(UNDONE, "git reset")]),
        ("git stash pop", [(RAN, "git stash pop")]),
        (
            "python3 - <<'PY'\nopen('z.py', 'w').write('a')\nPY",
            [(EDITED, "z.py"), (RAN, "python3 -")],
        ),
        (
            "apply_patch <<'E'\n*** Begin Patch\n*** Add File: n.py\n+import os\nE",
            [(CREATED, "n.py")],
        ),
    ],
)
def test_files_that_a_line_changes(line: str, expected: list[tuple[int, str]]) -> None:
    assert actions(line) == expected


@pytest.mark.parametrize(
    ("line", "name", "purpose"),
    [
        ("cd /app && make -j4 2>&1 | tail -5", "make -j4", BUILD),
        ("FOO=1 timeout 60 python -m pytest -q a.py::b", "python -m pytest -q a.py::b", TEST),
        ("(cd sub && npm test)", "npm test", TEST),
        ("npm run test:unit -- --ci", "npm run test:unit -- --ci", TEST),
        ("cd x; pip install -e '.[dev]' && pytest", "pip install -e '.[dev]' && pytest", TEST),
        ("./node_modules/.bin/tsc -p .", "./node_modules/.bin/tsc -p .", BUILD),
        ("sudo apt-get install -y gcc", "apt-get install -y gcc", INSTALL),
        ("bash run_tests.sh", "bash run_tests.sh", TEST),
        ("uv run pytest", "uv run pytest", TEST),
        ("python app.py > /dev/null 2>&1", "python app.py", RUN),
        ("git push origin main", "git push origin main", CHANGE),
        ("make check", "make check", TEST),
        ("rm -rf build && cd /srv && make", "rm -rf build && cd /srv && make", BUILD),
        ("cat in.txt | ./solve", "cat in.txt | ./solve", RUN),
    ],
)
def test_what_a_line_runs(line: str, name: str, purpose: int) -> None:
    ran = [action for action in commands(Field(line)) if action.kind == RAN]
    assert [(action.text, action.command) for action in ran] == [(name, purpose)]


@pytest.mark.parametrize(
    "line",
    [
        "ls -la",
        "grep -rn foo . | head",
        "cat a.py",
        "sed -n '1,5p' x",
        "git status && git diff",
        "find . -name '*.py' | xargs wc -l",
        "python --version",
        "cd /app",
        "echo done",
        "pip list",
        "",
        "# only a comment",
        "export A=b",
    ],
)
def test_readers_do_nothing(line: str) -> None:
    assert actions(line) == []


def test_the_new_text_is_what_the_document_says() -> None:
    line = "cat > a.py <<EOF\n\nimport telescope\nEOF\n"
    (action,) = commands(Field(line))
    assert action.new is not None
    assert line[action.new.start : action.new.end] == "import telescope"


@pytest.mark.parametrize(
    ("line", "hidden"),
    [
        ("make | tail -3", True),
        ("make || true", True),
        ("make; ls", True),
        ("make\nls", True),
        ("make & sleep 1", True),
        ("make &", True),
        ("make", False),
        ("make && ls", False),
        ("make || exit 1", False),
        ("make; echo rc=$?", False),
        ("for x in a b; do make $x; done", False),
        ("make | tail -3; pytest", False),
    ],
)
def test_another_command_hides_the_exit_code(line: str, hidden: bool) -> None:
    assert [action.piped for action in commands(Field(line))] == [hidden]


def test_the_folder_of_a_command_is_known() -> None:
    assert next(commands(Field("cd /srv/shop && make"))).folder == "/srv/shop"

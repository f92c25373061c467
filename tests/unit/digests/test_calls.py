"""Check what calls and command lines do."""

from __future__ import annotations

import json

import pytest

from memtree.digests.call_fields import (
    BUILD,
    CHANGE,
    COMMITTED,
    CREATED,
    DELETED,
    EDITED,
    INSTALL,
    RAN,
    READ,
    RUN,
    TEST,
    UNDONE,
    WRITTEN,
    Field,
    Group,
    Span,
    folded,
    groups,
    unescaped,
)
from memtree.digests.shell import commands, program_purpose
from memtree.digests.shell_words import split
from memtree.digests.tool_calls import called

# ------------------------------------------------------------------------------------------------
# Check what tool calls do, whatever the client calls them.


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


# ------------------------------------------------------------------------------------------------
# Check what calls do that run code, and calls that name a file with a verb of their own.


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


# ------------------------------------------------------------------------------------------------
# Arguments by name, with the place that each value has in the call's text.


def texts(found: list[Group]) -> list[dict[str, str]]:
    return [{key: field.text for key, field in group.items()} for group in found]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"filePath": "a.py", "limit": 3}, [{"filepath": "a.py", "limit": "3"}]),
        ({"commands": ["ls", "make"]}, [{}, {"command": "ls"}, {"command": "make"}]),
        ({"command": ["bash", "-lc", "make all"]}, [{"command": "make all"}]),
        ({"command": ["pytest", "-q"]}, [{"command": "pytest -q"}]),
        ({"path": None, "old_str": "x"}, [{"oldstr": "x"}]),
    ],
)
def test_scalars_and_lists_become_groups(
    arguments: dict[str, object], expected: list[dict[str, str]]
) -> None:
    assert texts(groups(json.dumps(arguments))) == expected


def test_a_nested_edit_inherits_the_path_that_stands_behind_it() -> None:
    arguments = '{"edits":[{"old":"x","new":"y"}],"path":"a.py"}'
    assert {"old": "x", "new": "y", "path": "a.py"} in texts(groups(arguments))


def test_a_value_stands_where_its_span_says() -> None:
    text = 'tool {"command":"cd \\"a b\\"\\nmake"}'
    command = groups(text[5:], 5)[0]["command"]
    at = command.text.index("make")
    span = command.span(at, at + 4)
    assert text[span.start : span.end] == "make"
    assert span.escaped


def test_a_span_that_holds_escapes_is_spelled_as_posted() -> None:
    field = Field('say \\"\\u00e9\\"!', 10, escaped=True)
    assert field.text == 'say "é"!'
    assert field.span(4, 7) == Span(14, 24, True)


@pytest.mark.parametrize(
    ("raw", "text"),
    [("a\\tb", "a\tb"), ("\\ud83d\\ude00", "😀"), ("\\/", "/"), ("\\u00", "u00")],
)
def test_escapes(raw: str, text: str) -> None:
    assert unescaped(raw) == text


def test_text_that_is_no_object_is_one_input() -> None:
    assert texts(groups("*** Begin Patch")) == [{"input": "*** Begin Patch"}]


@pytest.mark.parametrize("broken", ['{"a":', '{"a":[[[[', "{" * 200, '{"a" "b" "c"}', "{]}"])
def test_broken_json_is_read_as_far_as_it_goes(broken: str) -> None:
    assert isinstance(groups(broken), list)


def test_names_are_compared_without_separators() -> None:
    assert folded("File-Path") == folded("file_path") == "filepath"


# ------------------------------------------------------------------------------------------------
# Check what git commands do to files, by the forms in which agents write them.


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


# ------------------------------------------------------------------------------------------------
# Check what a simple command is for, by its program and its words.


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("python -m unittest -v", TEST),
        ("python -m", RUN),
        ("python manage.py test app", TEST),
        ("python tests/test_a.py", TEST),
        ("python app.py", RUN),
        ("uv run pytest -q", TEST),
        ("poetry run", RUN),
        ("uv pip install x", INSTALL),
        ("uv pip list", 0),
        ("npm run build", BUILD),
        ("npm exec vitest", TEST),
        ("yarn", INSTALL),
        ("pnpm add left-pad", INSTALL),
        ("npm ls", 0),
        ("npm start", RUN),
        ("cargo nextest run", TEST),
        ("apt-get build-dep x", INSTALL),
        ("git -C sub -c a=b push", CHANGE),
        ("git -C sub log", 0),
        ("git", 0),
        ("sed -i s/a/b/ x", CHANGE),
        ("sed -n 1p x", 0),
        ("perl x.pl", RUN),
        ("docker build .", BUILD),
        ("docker rm x", CHANGE),
        ("podman ps", 0),
        ("bash tests/run_tests.sh", TEST),
        ("node server.js", RUN),
        ("./run-tests.sh", TEST),
        ("my-tool --all", RUN),
        ("npx " * 2_000, RUN),
        ("%%", 0),
    ],
)
def test_a_command_is_for(line: str, expected: int) -> None:
    assert program_purpose(line.split()) == expected


# ------------------------------------------------------------------------------------------------
# Check what command lines do to files, and what they run.


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


# ------------------------------------------------------------------------------------------------
# Command lines as words: quotes, comments, here-documents and what stands before a program.


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("make  # then test\nls", [["make"], ["ls"]]),
        ("A=1 B='x y' sudo -E timeout 60s make all", [["make", "all"]]),
        ("(cd src && make)", [["cd", "src"], ["make"]]),
        ("{ make; ls; }", [["make"], ["ls"], ["}"]]),
        ("echo a\\ b 'c d'\"e\"", [["echo", "a b", "c de"]]),
        ("cat <<EOF\nbody", [["cat"]]),
        ("make\n\n\nls", [["make"], ["ls"]]),
        ("make 2>&1 | tail", [["make"], ["tail"]]),
    ],
)
def test_words(line: str, expected: list[list[str]]) -> None:
    found = [[word.text for word in command.words] for command in split(line)]
    assert [words for words in found if words] == expected

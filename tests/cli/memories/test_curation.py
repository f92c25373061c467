"""`memtree memories delete` and `history`, over a store in a file."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from memtree.config import Settings
from memtree.jobs.runtime import open_runtime
from memtree.memories.draft import MemoryDraft
from memtree.memories.scope import Scope
from memtree.memories.user_book import GroupDraft
from memtree_proxy.cli.main import main


class Shell:
    def __init__(
        self, url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.url, self._capsys, self._monkeypatch = url, capsys, monkeypatch

    def run(self, *words: str, code: int = 0) -> tuple[list[str], str]:
        """Lines of standard output, and standard error."""
        self._monkeypatch.setattr("sys.stdin", io.StringIO(""))
        ended = main(["memories", *words, "--store", self.url, "--embedder", "none"])
        printed = self._capsys.readouterr()
        assert ended == code, printed.err
        return printed.out.splitlines(), printed.err

    def rows(self, *words: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.run(*words, "--json")[0]]

    def added(self, text: str, *more: str) -> dict[str, Any]:
        (row,) = self.rows("add", text, *more)
        return row

    def texts(self, *more: str) -> list[str]:
        return [row["text"] for row in self.rows("list", "--user", "u", *more)]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store with memories of two users, of which each test has a copy."""
    folder = tmp_path_factory.mktemp("filled")
    options = ("--store", f"sqlite:///{folder}/store.db", "--embedder", "none")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.chdir(folder)
        for text, *more in (
            ("User lives in Leeds", "--user", "u", "--tag", "home"),
            ("The parcel comes on Monday", "--user", "u", "--tag", "post"),
            ("User prefers tea.", "--user", "u", "--category", "drinks", "--tag", "home"),
            ("A stranger's", "--user", "v", "--tag", "home"),
        ):
            assert main(["memories", "add", text, *more, *options]) == 0
    assert [one.name for one in folder.iterdir()] == ["store.db"]
    return folder / "store.db"


@pytest.fixture
def shell(
    filled: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shell:
    monkeypatch.chdir(tmp_path)
    shutil.copy(filled, tmp_path / "store.db")
    return Shell(f"sqlite:///{tmp_path}/store.db", capsys, monkeypatch)


@pytest.mark.parametrize(
    ("filter_", "left"),
    [
        (["--category", "drinks"], ["The parcel comes on Monday", "User lives in Leeds"]),
        (["--tag", "Home"], ["The parcel comes on Monday"]),
        (["--tag", "home", "--tag", "post"], None),
        (["--source", "import"], None),
        (["--source", "user"], []),
        (["--before", "2020-01-01"], None),
        (["--since", "2020-01-01"], []),
        (["--group", "grp_none"], None),
        (["--unconfirmed"], None),
        (["--all"], []),
        (["--all", "--purge"], []),
    ],
)
def test_a_filter_deletes_what_its_dry_run_counts(
    shell: Shell, filter_: list[str], left: list[str] | None
) -> None:
    before = shell.texts()
    left = before if left is None else left
    (counted,), _ = shell.run("delete", "--user", "u", *filter_, "--dry-run")
    assert counted == f"{len(before) - len(left)} would be deleted"
    assert shell.texts() == before
    gone, told = shell.run("delete", "--user", "u", *filter_)
    count = len(before) - len(left)
    assert (len(gone), told) == (count, f"deleted: {count}\n")
    assert shell.texts() == left
    assert len(shell.texts("--deleted")) == (0 if "--purge" in filter_ else 3)
    assert len(shell.rows("list", "--user", "v")) == 1


def test_members_of_a_group_are_deleted(shell: Shell) -> None:
    async def grouped() -> str:
        async with open_runtime(Settings(store=shell.url, embedder="none"), drain=0) as runtime:
            scope = Scope.of_user("local", "u")
            users = runtime.memory_services.users
            group = await users.add_group(scope, GroupDraft("Home"))
            await users.add_members(scope, group.id, [1, 3])
            return group.id

    group = asyncio.run(grouped())
    gone, _ = shell.run("delete", "--user", "u", "--group", group)
    assert len(gone) == 2
    assert shell.texts() == ["The parcel comes on Monday"]


@pytest.mark.parametrize(
    "words",
    [[], ["--dry-run"], ["1", "--all"], ["--all", "--tag", "home"], ["1", "--category", "drinks"]],
)
def test_it_has_to_be_said_in_one_way_which(shell: Shell, words: list[str]) -> None:
    _, told = shell.run("delete", "--user", "u", *words, code=1)
    assert "name ids, or a filter, or --all" in told
    assert len(shell.texts()) == 3


def test_ids_that_are_not_there_are_told(shell: Shell) -> None:
    (counted,), _ = shell.run("delete", "--user", "u", "1", "99", "--dry-run")
    assert counted == "1 would be deleted"
    gone, told = shell.run("delete", "--user", "u", "1", "99", code=1)
    assert len(gone) == 1
    assert "1 of 2 were deleted" in told


def test_what_a_memory_said_before_and_what_it_replaced(shell: Shell) -> None:
    async def change() -> None:
        async with open_runtime(Settings(store=shell.url, embedder="none"), drain=0) as runtime:
            scope, book = Scope.of_user("local", "u"), runtime.memory_services.book
            await book.correct(scope, 1, MemoryDraft("User lives\x1b[2J in York"), "moved\a")

    asyncio.run(change())
    (newest,) = [row for row in shell.rows("list", "--user", "u") if "York" in row["text"]]
    lines, _ = shell.run("history", "--user", "u", newest["id"])
    assert [line.split("  ", 1)[1] for line in lines[::2]] == [
        "v1  User lives�[2J in York", "v1  User lives in Leeds",
    ]  # fmt: skip
    assert lines[1].endswith(": moved�")
    assert [row["text"] for row in shell.rows("history", "--user", "u", newest["id"])] == [
        "User lives\x1b[2J in York", "User lives in Leeds",
    ]  # fmt: skip
    assert "no memory with this id" in shell.run("history", "--user", "v", newest["id"], code=1)[1]


def test_a_subject_is_forgotten_by_all_agents(shell: Shell) -> None:
    for agent in ("a", "b"):
        for subject in ("s", "t"):
            shell.added(f"{agent} knows {subject}", "--agent", agent, "--subject", subject)
        shell.added(f"{agent} knows", "--agent", agent)
    shell.added("User s is a user", "--user", "s")
    of_s = ("--agent", "*", "--subject", "s")
    (counted,), _ = shell.run("delete", *of_s, "--all", "--dry-run")
    assert counted == "2 would be deleted"
    gone, _ = shell.run("delete", *of_s, "--all", "--purge")
    assert len(gone) == 2
    left = [row["text"] for row in shell.rows("list")]
    assert {"User s is a user", "a knows", "a knows t", "b knows", "b knows t"} <= set(left)
    assert not {"a knows s", "b knows s"} & set(left)
    (row,) = shell.rows("list", "--agent", "b", "--subject", "t")
    gone, _ = shell.run("delete", row["id"], "--agent", "*", "--subject", "*")
    assert gone == [row["id"]]
    gone, _ = shell.run("delete", "--agent", "a", "--subject", "*", "--all")
    assert len(gone) == 2
    assert [row["text"] for row in shell.rows("list", "--agent", "b")] == ["b knows"]


@pytest.mark.parametrize("action", ["list", "export", "undelete x", "history x", "search x"])
def test_a_star_is_for_deletion_alone(shell: Shell, action: str) -> None:
    _, told = shell.run(*action.split(), "--agent", "*", code=1)
    assert "memories delete" in told


def test_a_subject_needs_an_agent(shell: Shell) -> None:
    for words in (("search", "x"), ("delete", "--all")):
        _, told = shell.run(*words, "--subject", "*", code=1)
        assert "--agent" in told

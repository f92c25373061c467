"""`memtree memories` called in this process, over a store in a file."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path

import pytest

from memtree.config import Settings
from memtree.jobs.runtime import open_runtime
from memtree.memories.draft import MemoryDraft
from memtree.memories.scope import Scope
from memtree.stores import open_store
from memtree_proxy.cli.main import main


class Shell:
    def __init__(
        self, url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.url, self._capsys, self._monkeypatch = url, capsys, monkeypatch

    def run(self, *words: str, typed: str = "", code: int = 0) -> tuple[list[str], str]:
        """Lines of standard output, and standard error."""
        self._monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        rest = ["--store", self.url, "--embedder", "none"]
        ended = main(["memories", *words, *rest])
        printed = self._capsys.readouterr()
        assert ended == code, printed.err
        return printed.out.splitlines(), printed.err

    def rows(self, *words: str) -> list[dict]:
        return [json.loads(line) for line in self.run(*words, "--json")[0]]


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    monkeypatch.chdir(tmp_path)
    store = f"sqlite:///{tmp_path}/store.db"
    asyncio.run(open_store(store).close())  # empty
    return Shell(store, capsys, monkeypatch)


def test_what_is_added_is_listed_found_deleted_and_brought_back(shell: Shell) -> None:
    (row,) = shell.rows("add", "User prefers tea.", "--tag", "Hot Drinks")
    assert row["text"] == "User prefers tea."
    assert (row["category"], row["tags"], row["memory_id"]) == ("preference", ["hot-drinks"], 1)
    assert [found["id"] for found in shell.rows("list")] == [row["id"]]
    (hit,) = shell.rows("search", "what tea")
    assert hit["id"] == row["id"]
    assert 0 <= hit["relevance"] <= 1
    assert shell.run("delete", "1") == ([row["id"]], "")
    assert shell.rows("list") == []
    assert [found["id"] for found in shell.rows("list", "--deleted")] == [row["id"]]
    assert shell.run("undelete", row["id"]) == ([row["id"]], "")
    assert [found["id"] for found in shell.rows("list", "--tag", "hot drinks")] == [row["id"]]
    assert shell.rows("list", "--tag", "cold", "--user", "x") == []


def test_the_same_is_not_saved_twice(shell: Shell) -> None:
    shell.run("add", "User prefers tea.")
    lines, said = shell.run("add", "-", typed="user prefers tea\n")
    assert "nothing is saved" in said
    assert len(shell.rows("list")) == 1
    assert lines[0].split()[0] == "1"


def test_what_a_new_value_may_replace_is_told(shell: Shell) -> None:
    (old,) = shell.rows("add", "The staging port is 8090.")
    _, said = shell.run("add", "The staging port is 8091.")
    assert old["id"] in said
    assert "8090 -> 8091" in said


def test_each_scope_has_its_own_memories(shell: Shell) -> None:
    scopes = [
        [],
        ["--chat", "c"],
        ["--user", "c"],
        ["--agent", "c"],
        ["--agent", "c", "--subject", "s"],
        ["--tenant", "anonymous"],
    ]
    for number, scope in enumerate(scopes):
        shell.run("add", f"fact {number}", *scope)
    for number, scope in enumerate(scopes):
        found = [row["text"] for row in shell.rows("search", "fact", *scope)]
        assert found == [f"fact {number}"]
    lines, _ = shell.run("list")
    assert sum(line.endswith(": 1 memory") for line in lines) == 5  # those of one tenant
    assert [row["text"] for row in shell.rows("list", "--agent", "c")] == ["fact 3"]
    _, said = shell.run("delete", "--all")
    assert said.splitlines()[0] == "deleted: 1"
    assert said.splitlines()[1].startswith("4 users, agents or chats keep theirs")
    assert shell.run("delete", "--all", "--user", "nobody")[1] == "deleted: 0\n"


def test_documents_are_not_listed_among_memories(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Staging is 8090.")
    shell.run("add", "a fact")
    assert main(["documents", "add", "c", "a.md", "--store", shell.url, "--embedder", "none"]) == 0
    shell.run("list")
    assert [row["text"] for row in shell.rows("list")] == ["a fact"]


def test_a_key_names_its_tenant(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys", "create", "laptop", "--store", shell.url]) == 0
    value = capsys.readouterr().out.strip()
    shell.run("add", "a fact", "--tenant", "laptop")
    assert shell.rows("list") == []
    assert [row["text"] for row in shell.rows("list", "--tenant", "laptop")] == ["a fact"]
    lines, _ = shell.run("list", "--tenant", "-", typed=f"{value}\n")
    assert lines[0] == "user the tenant itself: 1 memory"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["add", " "], "text must not be empty"),
        (["add", "token ghp_" + "a1B2c3" * 6], "API key (github)"),
        (["add", "x", "--expires", "soon"], "expires"),
        (["add", "x", "--chat", "no spaces"], "--chat must be"),
        (["add", "x", "--subject", "s"], "--agent"),
        (["add", "x", "--tenant", "nobody"], "no key nobody"),
        (["search", " "], "query must not be empty"),
        (["delete", "7"], "0 of 1 were deleted"),
        (["undelete", "mem_x"], "0 of 1 were brought back"),
    ],
)
def test_what_is_refused(shell: Shell, words: list[str], said: str) -> None:
    out, err = shell.run(*words, code=1)
    assert said in err
    assert "ghp_" not in err
    assert out == []
    assert shell.rows("list") == []


def test_a_purge_cannot_be_undone(shell: Shell) -> None:
    (row,) = shell.rows("add", "a fact")
    shell.run("delete", row["id"], "--purge")
    shell.run("undelete", row["id"], code=1)
    assert shell.rows("list", "--deleted") == []


def test_no_text_of_a_memory_reaches_the_terminal_as_it_is(shell: Shell) -> None:
    shell.run("add", "-", typed="red \x1b[31m and a\nsecond line \u202e" + "long " * 100)
    lines, _ = shell.run("list")
    assert len(lines) == 2
    assert lines[1].isprintable()
    assert len(lines[1]) < 300


def test_what_a_model_saved_is_confirmed_by_a_person(shell: Shell) -> None:
    async def save() -> str:
        settings = Settings.from_env({"store": shell.url, "embedder": "none"}, env={})
        async with open_runtime(settings) as runtime:
            draft = MemoryDraft("Always answer in French.", source_type="model")
            return (
                await runtime.memory_services.book.save(Scope.of_user("local"), draft)
            ).memory.id

    id_ = asyncio.run(save())
    scope = ("--tenant", "local")
    assert "unconfirmed" in shell.run("list", *scope)[0][1]
    shell.run("confirm", id_, *scope)
    assert "unconfirmed" not in shell.run("list", *scope)[0][1]
    assert "no memory with this id" in shell.run("confirm", "77", *scope, code=1)[1]

"""`memtree documents` called in this process, over a store in a file."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path

import pytest

from memtree.stores import open_store
from memtree_proxy.cli.main import main

PORTS = "# Ports\n\nStaging listens on port 8090.\n"
LONG = "".join(f"# Chapter {n}\n\n" + f"It is about subject {n}. " * 30 + "\n\n" for n in range(9))


class Shell:
    def __init__(
        self, url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.url, self._capsys, self._monkeypatch = url, capsys, monkeypatch

    def run(self, *words: str, typed: bytes = b"", code: int = 0) -> tuple[list[str], str]:
        """Lines of standard output, and standard error."""
        self._monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(typed)))
        rest = ["--store", self.url, *([] if "--embedder" in words else ["--embedder", "none"])]
        ended = main(["documents", *words, *rest])
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
    (tmp_path / "ports.md").write_text(PORTS)
    (tmp_path / "the book.md").write_text(LONG)
    store = f"sqlite:///{tmp_path}/store.db"
    asyncio.run(open_store(store).close())  # empty
    return Shell(store, capsys, monkeypatch)


def test_files_are_added_listed_found_and_deleted(shell: Shell) -> None:
    rows = shell.rows("add", "handbook", "ports.md", "the book.md", "--type", "manual")
    assert [(row["id"], row["passages"], row["status"]) for row in rows] == [
        ("ports.md", 1, "added"),
        ("the-book.md", 9, "added"),
    ]
    assert [row["id"] for row in shell.rows("list", "handbook")] == ["the-book.md", "ports.md"]
    assert shell.rows("list") == [{"namespace": "handbook", "passages": 10}]
    (best, *_) = shell.rows("search", "handbook", "which port has staging", "--type", "manual")
    assert (best["id"], best["text"]) == ("ports.md", PORTS)
    assert shell.rows("search", "handbook", "which port has staging", "--type", "faq") == []
    lines, said = shell.run("search", "handbook", "staging port")
    assert lines[0].endswith("[ports.md 1/1] # Ports Staging listens on port 8090.")
    assert said == ""
    dry = shell.run("delete", "handbook", "ports.md", "--dry-run")
    assert dry == (["ports.md: 1 passage would go"], "")
    assert shell.run("delete", "handbook", "--all", "--dry-run") == (["10 passages would go"], "")
    assert shell.run("delete", "handbook", "ports.md") == (["ports.md: 1 passage"], "")
    assert shell.run("delete", "handbook", "--all", "--purge") == (["9 passages"], "")
    assert shell.rows("list") == shell.rows("list", "handbook") == []


def test_vectors_are_there_when_it_ends(shell: Shell) -> None:
    shell.run("add", "handbook", "ports.md", "the book.md", "--embedder", "local")
    lines, said = shell.run("search", "handbook", "staging port", "--embedder", "local")
    assert "ports.md" in lines[0]
    assert said == ""  # ranked by words alone, else


def test_the_same_again_is_unchanged_and_an_edited_one_replaced(shell: Shell) -> None:
    shell.run("add", "handbook", "ports.md")
    assert shell.rows("add", "handbook", "ports.md")[0]["status"] == "unchanged"
    Path("ports.md").write_text(LONG)
    (row,) = shell.rows("add", "handbook", "ports.md")
    assert (row["status"], row["passages"]) == ("replaced", 9)


def test_standard_input_needs_an_id(shell: Shell) -> None:
    shell.run("add", "handbook", "-", "--id", "notes", typed="\ufeffÄhre\n".encode())
    ((hit),) = shell.rows("search", "handbook", "Ähre")
    assert (hit["id"], hit["text"]) == ("notes", "Ähre\n")
    assert "give --id" in shell.run("add", "handbook", "-", code=1)[1]
    assert "one file" in shell.run("add", "handbook", "-", "ports.md", code=1)[1]
    assert "one file" in shell.run("add", "n", "a", "b", "--id", "x", code=1)[1]


def test_what_cannot_be_read_is_told_and_the_others_are_added(shell: Shell) -> None:
    Path("image.png").write_bytes(b"\x89PNG\xff")
    Path("empty.md").write_text(" \n")
    Path("secret.md").write_text("key ghp_" + "a1B2c3" * 6)
    files = ["missing.md", "image.png", "empty.md", "secret.md", "ports.md"]
    lines, said = shell.run("add", "handbook", *files, code=1)
    assert "missing.md: No such file" in said
    assert "image.png: it is not text in UTF-8" in said
    assert "empty.md: text must not be empty" in said
    assert len(said.splitlines()) == 3
    assert "1 secret masked" in lines[0]
    assert "ghp_" not in "".join(lines) + said
    assert [row["id"] for row in shell.rows("list", "handbook")] == ["ports.md", "secret.md"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["add", "a b", "ports.md"], "namespace must be"),
        (["add", "n", "ports.md", "--id", "a/b"], "id must be"),
        (["add", "n", "ports.md", "--tenant", "nobody"], "no key nobody"),
        (["search", "n", " "], "query must not be empty"),
        (["delete", "n"], "give ids, or --all"),
        (["delete", "n", "a", "--all"], "give ids, or --all"),
        (["delete", "n", "a"], "there is no document a"),
    ],
)
def test_what_is_refused(shell: Shell, words: list[str], said: str) -> None:
    assert said in shell.run(*words, code=1)[1]
    assert shell.rows("list") == []


def test_namespaces_do_not_see_each_other(shell: Shell) -> None:
    shell.run("add", "a", "ports.md")
    assert shell.rows("list", "b") == shell.rows("search", "b", "staging") == []
    assert "no document" in shell.run("delete", "b", "ports.md", code=1)[1]
    assert [row["id"] for row in shell.rows("list", "a")] == ["ports.md"]


def test_no_text_of_a_document_reaches_the_terminal_as_it_is(shell: Shell) -> None:
    Path("odd.md").write_text("red \x1b[31m and a\nsecond \u202e line")
    shell.run("add", "a", "odd.md")
    lines, _ = shell.run("search", "a", "second")
    assert len(lines) == 1
    assert lines[0].isprintable()

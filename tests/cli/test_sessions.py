"""`memtree sessions` called in this process: what it shows, and what it leaves behind."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from memtree_proxy.cli.main import main
from tests.transcripts import claude, codex

ASKED = "Why is the invoice export so slow?"
SAID = "Each line item opened a connection of its own.\x1b[31m It is pooled now."


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("MEMTREE_EMBEDDER", "none")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    claude(tmp_path, "s1", ASKED, SAID, "ok", time.time() - 86_400)
    return tmp_path


def test_it_says_where_it_was_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions", "search", "pooled connection"]) == 0
    shown = capsys.readouterr()
    head, where, file, *text = shown.out.splitlines()
    assert head.endswith(ASKED)
    assert where == "  claude-code, session s1, message 3 (assistant)"
    assert file.startswith(f"  {home}/.claude/projects/")
    assert "own.\N{REPLACEMENT CHARACTER}[31m It is pooled now." in text[0]
    assert max(map(len, text)) <= 80
    told = "1 session of 90 days searched, by words alone: there is no embedder on this machine"
    assert shown.err.strip() == told


def test_as_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    codex(home, "s2", ASKED, "No pooled connection here.", "ok", time.time())
    assert main(["sessions", "search", "pooled connection", "--json", "--limit", "1"]) == 0
    (row,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert row.keys() == {
        "agent", "session", "title", "day", "project", "file", "message", "role", "text",
    }  # fmt: skip


def test_nothing_is_found(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions", "search", "poppy seed"]) == 1
    assert "nothing found; 1 session of 90 days" in capsys.readouterr().err
    assert main(["sessions", "search", "connection", "--project", "elsewhere"]) == 1


@pytest.mark.parametrize(
    ("words", "named"),
    [(("search", " "), "QUERY"), (("search", "x", "--limit", "21"), "--limit")],
)
def test_what_cannot_be_done(
    home: Path, words: tuple[str, ...], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sessions", *words]) == 1
    assert named in capsys.readouterr().err


def test_forget(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["sessions", "search", "connection"])
    assert os.listdir(home / "data" / "memtree") == ["sessions.db"]
    assert main(["sessions", "forget"]) == 0
    assert os.listdir(home / "data" / "memtree") == []
    capsys.readouterr()
    assert main(["sessions", "forget"]) == 0
    assert capsys.readouterr().out == "there is no index\n"


def test_settings_of_a_repository_count_for_nothing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "memtree.toml").write_text('home = "here"')
    assert main(["sessions", "search", "connection"]) == 0
    assert not (home / "here").exists()
    assert "memtree.toml in this folder: not used" in capsys.readouterr().err

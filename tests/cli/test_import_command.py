"""`memtree import` called in this process: what cannot be done is said in one line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memtree_proxy.cli.main import main
from tests.foreign import chatgpt_simple


@pytest.fixture
def export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([chatgpt_simple("a", "A trip"), chatgpt_simple("b", "Two trips")]))
    return path


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("none.json",), "none.json"),
        (("conversations.json", "--pick", "nothing"), "--pick nothing"),
        (("conversations.json", "--pick", "trip"), "matches 2 conversations: 1 "),
        (("conversations.json", "-o", "x.json"), "2 conversations; choose one with --pick"),
        (("conversations.json", "--warm"), "2 conversations; choose one with --pick"),
        (("conversations.json", "--all"), "--all needs a folder"),
        (("conversations.json", "--pick", "a", "-o", "no/such/folder.json"), "no/such/folder.json"),
        (("conversations.json", "--all", "-o", "conversations.json"), "conversations.json"),
        (("conversations.json", "--pick", "a", "-o", "."), "."),
        (("conversations.json", "--key", "x"), "--warm"),
        (("conversations.json", "--format", "claude-code"), "conversations.json"),
        (("conversations.json", "--pick", "a", "--warm", "--store", "memory:"), "--store"),
        (("conversations.json", "--pick", "a", "--warm", "--key-file", "gone"), "gone"),
        (("conversations.json", "--pick", "a", "--warm", "--key", " "), "--key"),
        (("-", "--warm", "--key", "-"), "--key-file"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(
    export: Path, arguments: tuple[str, ...], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(os.listdir(export.parent))
    assert main(["import", *arguments]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("memtree: ")
    assert named in shown.err
    assert len(shown.err.splitlines()) == 1
    assert sorted(os.listdir(export.parent)) == before


def test_an_earlier_file_stays_when_writing_fails(
    export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (export.parent / "out.json").write_text("before")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    chosen = ["import", "conversations.json", "--pick", "a", "-o", "out.json", "--force"]
    assert main(chosen) == 1
    assert (export.parent / "out.json").read_text() == "before"
    assert sorted(os.listdir(export.parent)) == ["conversations.json", "out.json"]


def test_a_file_that_is_there_is_not_replaced_silently(
    export: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = ("conversations.json", "--pick", "a", "-o", "out.json")
    every = ("conversations.json", "--all", "-o", "folder")
    for arguments in (one, every):
        assert main(["import", *arguments]) == 0
        written = sorted(export.parent.rglob("*.json"))
        before = [path.stat().st_mtime_ns for path in written]
        capsys.readouterr()
        assert main(["import", *arguments]) == 1
        assert "--force" in capsys.readouterr().err
        assert [path.stat().st_mtime_ns for path in written] == before
        assert main(["import", *arguments, "--force"]) == 0


def test_speakers_of_sillytavern_are_kept_where_they_are_asked_for(
    export: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [{"name": "Bob", "is_user": False, "mes": "Hello."},
             {"name": "Ann", "is_user": True, "mes": "Hi!"}]  # fmt: skip
    (export.parent / "chat.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    assert main(["import", "chat.jsonl"]) == 0
    assert [one["content"] for one in json.loads(capsys.readouterr().out)] == ["Hello.", "Hi!"]
    assert main(["import", "chat.jsonl", "--names"]) == 0
    named = json.loads(capsys.readouterr().out)
    assert [one["content"] for one in named] == ["Bob: Hello.", "Ann: Hi!"]
    assert main(["import", "chat.jsonl", "--names", "--warm"]) == 1
    assert "--warm" in capsys.readouterr().err


def test_what_is_left_out_is_told_by_its_line(
    export: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = json.dumps({"name": "Bob", "mes": "Hello."})
    (export.parent / "chat.jsonl").write_text(f"{good}\n{good[:20]}\n{good}{good}\n")
    assert main(["import", "chat.jsonl", "-o", "out.json"]) == 0
    assert len(json.loads((export.parent / "out.json").read_text())) == 3
    assert capsys.readouterr().err.splitlines() == [
        "chat.jsonl: line 2, column 17: not valid JSON: Unterminated string starting at; skipped",
        "chat.jsonl: line 3: 2 records on one line, split",
        "chat: 3 messages to out.json",
    ]

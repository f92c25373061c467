"""Text of others, in every command that prints text: no character of it steers the terminal, and
none of it is read as markup or as the name of an emoji.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memtree_proxy.cli.main import main
from tests.programs.sessions import chat

STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
HOSTILE = "\x1b[31m\x1b]0;owned\x07\x9b2J\u202e [bold]sea[/bold] [/] :100: \x7f\r\bend"
HOME = ("--store", "sqlite:///hostile.db")
QUICK = (*HOME, "--embedder", "none")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert main(words) == code
    out, err = capsys.readouterr()
    assert not STEERS.search(out + err), (words, STEERS.findall(out + err))
    return out + err


def test_histories(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history = chat(300)
    for message in history[:40]:
        # A carriage return would draw over what stands before it.
        message["content"] = f"{HOSTILE.replace(chr(13), '')} {message['content']}"
    Path("h.json").write_text(json.dumps(history))
    query = ("--query", "[bold]sea[/bold] :100: end", *QUICK)
    for words in (
        ("tree", "h.json", "--target", "4000", *query),
        ("tree", "h.json", "--target", "4000", "--scores", *query),
        ("compress", "h.json", "--target", "4000", "--explain", *query),
    ):
        shown = said(capsys, *words)
        assert "[bold]sea[/bold]" in shown, words
        assert ":100:" in shown, words
    said(capsys, "tree", "h.json", *QUICK)
    said(capsys, "index", "h.json", *QUICK)


def test_what_is_written_as_json_is_what_was_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("h.json").write_text(json.dumps([{"role": "user", "content": HOSTILE}]))
    assert main(["compress", "h.json", *QUICK]) == 0
    out, _ = capsys.readouterr()
    assert not STEERS.search(out)
    assert json.loads(out)[0]["content"] == HOSTILE


def test_saved_memories(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "memories", "add", HOSTILE, "--user", "u", *QUICK)
    for words in (("list",), ("search", "sea"), ("history", "1")):
        shown = said(capsys, "memories", *words, "--user", "u", *QUICK)
        assert "[bold]sea[/bold] [/] :100:" in shown
        row = said(capsys, "memories", *words, "--user", "u", "--json", *QUICK)
        assert json.loads(row)["text"].startswith("\x1b[31m")
    said(capsys, "memories", "export", "--user", "u", "-o", "e.jsonl", *QUICK)
    said(capsys, "memories", "import", "e.jsonl", "--user", "v", *QUICK)
    Path("broken.json").write_text(json.dumps([{"memory": HOSTILE, "categories": [HOSTILE]}, 7]))
    main(["memories", "import", "broken.json", "--user", "w", *QUICK])
    assert not STEERS.search("".join(capsys.readouterr()))


def test_documents_and_schemas(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("d.txt").write_text(HOSTILE)
    said(capsys, "documents", "add", "n", "d.txt", *QUICK)
    assert ":100:" in said(capsys, "documents", "search", "n", "sea", *QUICK)
    said(capsys, "documents", "search", "n", "sea", "--json", *QUICK)
    said(capsys, "documents", "add", "n", f"no such {HOSTILE}".replace("\x00", ""), *QUICK, code=1)
    Path("s.json").write_text(
        json.dumps({"type": "object", "title": HOSTILE, "properties": {}}, ensure_ascii=False)
    )
    assert main(["schemas", "put", "Sea", "s.json", "--description", HOSTILE, *HOME]) in (0, 1)
    capsys.readouterr()
    main(["schemas", "put", "Sea", "s.json", *HOME])
    capsys.readouterr()
    for words in (("list",), ("list", "--json"), ("show", "Sea")):
        said(capsys, "schemas", *words, *HOME)


def test_keys_tenants_and_errors(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "keys", "create", "[bold] :100:", *HOME)
    assert "[bold] :100:" in said(capsys, "keys", "list", *HOME)
    said(capsys, "tenants", "list", *HOME)
    said(capsys, "check", *HOME)
    said(capsys, "keys", "revoke", HOSTILE, *HOME, code=1)
    said(capsys, "compress", HOSTILE, *QUICK, code=1)
    said(capsys, "delete", "--address", HOSTILE, *HOME, code=1)
    said(capsys, "doctor", "--upstream", f"http://127.0.0.1:9/{HOSTILE}", *QUICK, code=1)


def test_conversations_of_other_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [{"user_name": "Ann", "character_name": HOSTILE},
             {"name": HOSTILE, "is_user": False, "mes": HOSTILE}]  # fmt: skip
    for name in ("one.jsonl", "two.jsonl"):
        Path(name).write_text("\n".join(json.dumps(line) for line in lines))
    said(capsys, "import", "one.jsonl", "--names")
    said(capsys, "import", "one.jsonl", "-o", "out.json")
    said(capsys, "import", ".")
    assert json.loads(Path("out.json").read_bytes())[0]["content"].startswith("\x1b[31m")


def test_the_demo(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTREE_EMBEDDER", "none")
    assert "[bold]sea[/bold]" in said(capsys, "demo", "--tokens", "11000", "--query", HOSTILE)

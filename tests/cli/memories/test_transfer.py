"""`memtree memories export` and `import` called in this process, over a store in a file."""

from __future__ import annotations

import io
import json
import stat
from pathlib import Path

import pytest

from memtree_proxy.cli import memory_commands
from memtree_proxy.cli.main import main
from memtree_proxy.cli.memory_commands import SHOWN

SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
# Memories that were deleted before `rc1_export.jsonl` was written: with a reason, without one, and
# for good.
DELETED_BEFORE = (
    "mem_bddbc7ec22cc20b5e6b20fc4",
    "mem_4b5fc52cb0561a2515d1519b",
    "mem_1a893305f09417a2f2980a1c",
)
LIST = f"- Likes tea\n- Has a beagle\n- my key is {SECRET}\n"


class Terminal:
    def __init__(self, folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
        self.folder, self._captured = folder, capsysbinary

    def run(self, *words: str, code: int = 0) -> tuple[str, str]:
        """Standard output and standard error."""
        rest = ["--store", f"sqlite:///{self.folder}/store.db"]
        rest += [] if "--embedder" in words else ["--embedder", "none"]
        ended = main(["memories", *words, *rest])
        out, errors = (stream.decode() for stream in self._captured.readouterr())
        assert ended == code, (out, errors)
        return out, errors

    def file(self, text: str | bytes) -> str:
        path = self.folder / "given"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    def texts(self, *words: str) -> list[str]:
        rows = self.run("list", "--json", *words)[0].splitlines()
        return [json.loads(row)["text"] for row in rows]


@pytest.fixture
def terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Terminal:
    monkeypatch.chdir(tmp_path)
    return Terminal(tmp_path, capsysbinary)


def test_a_folder_is_read_as_a_zip_of_it_is(terminal: Terminal) -> None:
    folder = terminal.folder / "export"
    (folder / "memories").mkdir(parents=True)
    (folder / "conversations.json").write_text("[]")
    for name, text in (("a", "Likes tea"), ("b", "Has a beagle")):
        memory = json.dumps({"conversations_memory": text})
        (folder / "memories" / f"{name}.json").write_bytes(memory.encode("utf-16"))
    out, _ = terminal.run("import", str(folder))
    assert out.startswith("claude-ai: 2 of 2 imported")
    assert sorted(terminal.texts()) == ["Has a beagle", "Likes tea"]
    (folder / "memories" / "none").mkdir()
    none = terminal.run("import", str(folder / "memories" / "none"), code=1)[1]
    assert "holds no file of the name" in none


def test_the_files_of_a_folder_share_a_limit(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_commands, "LARGEST", 100)
    for name in ("memories.json", "more/memories.json"):
        (terminal.folder / "export" / name).parent.mkdir(parents=True, exist_ok=True)
        (terminal.folder / "export" / name).write_text(f'["Likes {"t" * 60}"]')
    assert "over the limit of 100" in terminal.run("import", "export", code=1)[1]
    terminal.run("import", "export/memories.json")


def test_a_list_is_imported_and_what_is_wrong_is_told(terminal: Terminal) -> None:
    out, errors = terminal.run("import", terminal.file(LIST), "--user", "ada", code=1)
    assert out.splitlines() == [
        "text: 2 of 3 imported, 0 left out, 1 failed",
        "shown as facts until you confirm them: 2",
        "  line 3: refused, the text holds an API key (openai); secrets are not saved",
        "  secret: 1",
    ]
    assert errors == ""
    assert terminal.texts("--user", "ada") == ["Has a beagle", "Likes tea"]
    assert terminal.texts("--user", "ben") == []
    again = terminal.run("import", terminal.file("Likes tea\n"), "--user", "ada")[0]
    assert again.startswith("text: 0 of 1 imported, 1 left out, 0 failed")


def test_a_dry_run_stores_nothing(terminal: Terminal) -> None:
    out, _ = terminal.run("import", terminal.file("Likes tea\n"), "--dry-run")
    assert out.startswith("text: 1 of 1 would be imported, 0 left out, 0 failed\n")
    assert not (terminal.folder / "store.db").exists()


def test_what_went_out_comes_back(terminal: Terminal) -> None:
    terminal.run("import", terminal.file("Likes tea\nHas a beagle\n"))
    out, _ = terminal.run("export")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["type"] for line in lines] == ["export", "settings", "memory", "memory", "end"]
    terminal.run("export", "-o", "kept.jsonl")
    kept = terminal.folder / "kept.jsonl"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert kept.read_text().splitlines()[1:] == out.splitlines()[1:]
    assert [path.name for path in terminal.folder.glob(".memories-*")] == []
    told = terminal.run("import", "kept.jsonl", "--keep-ids", "--chat", "c")[0]
    assert told.startswith("memtree: 2 of 2 imported, 0 left out, 0 failed\n")
    again = terminal.run("export", "--chat", "c")[0].splitlines()
    assert [json.loads(line).get("id") for line in again] == [line.get("id") for line in lines]
    _, errors = terminal.run("import", "kept.jsonl", "--keep-ids", "--user", "ada", code=0)
    assert errors == ""
    terminal.run("add", "Likes coffee", "--user", "ben")
    _, errors = terminal.run("import", "kept.jsonl", "--keep-ids", "--user", "ben", code=1)
    assert "other memories" in errors


def test_an_export_of_the_release_candidate_comes_back(terminal: Terminal) -> None:
    """Ids, times, versions and tombstones are those of the file; what was deleted stays away."""
    file = Path(__file__).with_name("rc1_export.jsonl")
    terminal.run("import", str(file), "--keep-ids")
    written = [json.loads(line) for line in file.read_text().splitlines()]
    kept = [json.loads(line) for line in terminal.run("export")[0].splitlines()]
    for line in (*written, *kept):
        line.pop("memory_id", None)
        line.pop("exported_at", None)
    assert kept == written
    older, newer, _ = (line["id"] for line in written if line["type"] == "memory")
    assert terminal.texts() == ["Ferries leave at seven on Sundays.", "The tea shop opens at ten."]
    history = [json.loads(row) for row in terminal.run("history", newer, "--json")[0].splitlines()]
    assert [(row["id"], row["version"]) for row in history] == [(newer, 2), (newer, 1), (older, 1)]
    for deleted in DELETED_BEFORE:
        _, errors = terminal.run("undelete", deleted, code=1)
        assert errors == "0 of 1 were brought back\n"


def test_a_report_for_programs(terminal: Terminal) -> None:
    out, _ = terminal.run("import", terminal.file(LIST), "--json", code=1)
    report = json.loads(out)
    assert (report["imported"], report["failed"]) == (2, 1)
    assert SECRET not in out


def test_standard_input_is_a_file(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Likes tea\n")))
    terminal.run("import", "-", "--format", "chatgpt")
    assert terminal.texts() == ["Likes tea"]


def test_a_cut_file_is_told(terminal: Terminal) -> None:
    terminal.run("import", terminal.file("Likes tea\n"))
    cut = "\n".join(terminal.run("export")[0].splitlines()[:-1])
    _, errors = terminal.run("import", terminal.file(cut), code=1)
    assert "cut off" in errors


def test_many_problems_are_not_all_told(terminal: Terminal) -> None:
    lines = ['{"text": "Likes tea"}'] + ['{"text": 5}'] * (SHOWN + 7)
    out, _ = terminal.run("import", terminal.file("\n".join(lines)), code=1)
    assert out.count("text must be a text") == SHOWN
    assert "... and 7 more (--json)" in out


@pytest.mark.parametrize(
    ("content", "why"), [("", "empty"), ("PK\x03\x04", "zip"), ('{"a": 1}', "format")]
)
def test_what_cannot_be_read_is_told(terminal: Terminal, content: str, why: str) -> None:
    _, errors = terminal.run("import", terminal.file(content), code=1)
    assert why in errors


@pytest.mark.parametrize("words", [["import", "none/there"], ["export", "-o", "none/there"]])
def test_a_place_that_is_not_there_is_told(terminal: Terminal, words: list[str]) -> None:
    terminal.run("add", "a fact")
    assert "none/there: No such file" in terminal.run(*words, code=1)[1]


def test_with_an_embedder_the_import_ends_with_its_vectors(terminal: Terminal) -> None:
    given = terminal.file("- Works as a veterinary surgeon\n- Drinks oolong in the morning\n")
    out, errors = terminal.run("import", given, "--user", "ada", "--embedder", "local")
    assert out.startswith("text: 2 of 2 imported, 0 left out, 0 failed\n")
    assert errors == "embedding 2 memories; Ctrl-C is safe: a server embeds the rest\n"
    asked = ("what is her profession?", "--user", "ada", "--embedder", "local")
    found, errors = terminal.run("search", *asked)
    assert "veterinary surgeon" in found.splitlines()[0]
    assert errors == ""  # "ranked by words alone" without vectors


def test_what_an_import_without_embedder_left_is_embedded_by_the_next(terminal: Terminal) -> None:
    given = terminal.file("- Works as a veterinary surgeon\n- Drinks oolong in the morning\n")
    terminal.run("import", given)
    dry = terminal.run("import", given, "--dry-run", "--embedder", "local")
    assert dry[1] == ""
    again = terminal.run("import", given, "--embedder", "local")
    assert again[1].startswith("embedding 2 memories")
    assert terminal.run("import", given, "--embedder", "local")[1] == ""

"""`memtree compress`, `tree` and `index` called in this process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memtree_proxy.cli.history_commands import read_history
from memtree_proxy.cli.main import main
from tests.programs.sessions import chat, coding
from tests.wire.conversations import as_messages, as_responses, conversation
from tests.wire.messages import messages_changes
from tests.wire.responses import responses_changes


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMTREE_HOME", str(tmp_path / "home"))
    (tmp_path / "h.json").write_text(json.dumps(coding(12_000)))
    return tmp_path


def test_what_is_compressed_is_kept_in_the_users_folder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compress", "h.json", "--target", "4000", "--embedder", "none"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)
    assert "tokens posted" in err
    assert sorted(path.name for path in folder.iterdir()) == ["h.json", "home"]
    assert (folder / "home" / "memtree.db").is_file()


@pytest.mark.long
def test_compress_does_not_wait_for_embeddings(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("onnxruntime")
    assert main(["compress", "h.json", "--target", "4000"]) == 0
    assert "provisional" in capsys.readouterr().err
    assert main(["compress", "h.json", "--target", "4000", "--wait"]) == 0
    assert "provisional" not in capsys.readouterr().err


@pytest.mark.parametrize("target", ["10", "999", "0", "-5"])
@pytest.mark.parametrize("command", ["compress", "tree"])
def test_a_target_that_holds_nothing_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, target: str
) -> None:
    assert main([command, "h.json", "--target", target, "--store", "memory:"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        f"memtree: --target {target}: at least 1,000 tokens are needed for a memory of anything\n"
    )


@pytest.mark.parametrize("content", [b"", b" \n\n"])
def test_an_empty_file_is_said_to_be_empty(
    folder: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    (folder / "e.json").write_bytes(content)
    for command in ("compress", "tree", "index"):
        assert main([command, "e.json", "--store", "memory:"]) == 1
        assert capsys.readouterr().err == "memtree: e.json: is empty\n"


def test_a_misspelt_variable_is_told_once(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTREE_TARGT_TOKENS", "4000")
    assert main(["keys", "list", "--store", "memory:"]) == 0
    assert capsys.readouterr().err == (
        "memtree: there is no such setting: MEMTREE_TARGT_TOKENS (MEMTREE_TARGET_TOKENS?)\n"
    )


def test_a_store_in_the_current_folder_is_used_as_before(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["keys", "create", "ann", "--store", "sqlite:///memtree.db"]) == 0
    assert "memtree.db" not in capsys.readouterr().err
    assert main(["keys", "list"]) == 0
    out, err = capsys.readouterr()
    assert "ann" in out
    assert err.startswith("memtree: using memtree.db in this folder, as before; to keep it")
    assert err.count("\n") == 1


# The longer ones are indexed in a process of its own.
def test_a_history_is_read_from_each_form_of_file(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    for said in (messages, messages[:1]):
        for text in (
            json.dumps(said),
            json.dumps({"messages": said}),
            json.dumps({"messages": said}, indent=1),
            "\n".join(map(json.dumps, said)),
        ):
            for encoding in ("utf-8", "utf-8-sig", "utf-16"):
                (tmp_path / "history").write_bytes(text.encode(encoding))
                read = read_history(str(tmp_path / "history"))
                assert [json.loads(each.raw) for each in read] == said, text


@pytest.mark.parametrize("size", [150, pytest.param(900, marks=pytest.mark.long)])
@pytest.mark.parametrize(("dialect", "field"), [("messages", "messages"), ("responses", "input")])
def test_the_body_of_a_request_is_compressed_in_its_own_dialect(
    dialect: str, field: str, size: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talk = conversation(3, turns=12, size=size)
    body = as_messages(talk) if dialect == "messages" else as_responses(talk)
    (tmp_path / "body.json").write_text(json.dumps(body))
    options = ["--store", "memory:", "--embedder", "none", "--target", "4000"]
    assert main(["compress", str(tmp_path / "body.json"), *options]) == 0
    sent = json.loads(capsys.readouterr().out)
    changed = messages_changes.changed if dialect == "messages" else responses_changes.changed
    assert len(sent) < len(body[field])
    assert changed(body, body | {field: sent}) == []
    assert main(["tree", str(tmp_path / "body.json"), *options[:4]]) == 0


def test_a_tree_has_the_title_and_the_project_above_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = {"role": "system", "content": "<env>\nWorking directory: /home/ann/tea-shop\n</env>"}
    asked = {"role": "user", "content": "Please rename the tea counter to tea bar."}
    (tmp_path / "s.json").write_text(json.dumps([place, asked, *chat(60, words=120)[1:]]))
    options = ["--store", "memory:", "--embedder", "none"]
    assert main(["tree", str(tmp_path / "s.json"), *options]) == 0
    assert capsys.readouterr().out.startswith(
        "Please rename the tea counter to tea bar. (tea-shop)\n"
    )

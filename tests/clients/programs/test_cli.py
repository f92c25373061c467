"""The command line as a person uses it, in processes of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from memtree.text import tokens
from tests.programs.server import PATIENCE
from tests.programs.sessions import coding

pytestmark = pytest.mark.slow

QUICK = ("--embedder", "none")


def run(folder: Path, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("MEMTREE_")}
    env["MEMTREE_HOME"] = str(folder)
    env["COLUMNS"] = "160"
    env["MEMTREE_PORT"] = "0"  # that of the settings may be taken by what runs on this machine
    return subprocess.run(
        [sys.executable, "-m", "memtree_proxy.cli", *arguments],
        input=text,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**env, "PYTHONPATH": str(Path(__file__).parents[3])},
        timeout=PATIENCE,
        check=False,
    )


@pytest.fixture(scope="module")
def session_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("session") / "session.json"
    path.write_text(json.dumps(coding(30_000)))
    return path


def test_compress_writes_messages_within_the_target(session_file: Path) -> None:
    done = run(session_file.parent, "compress", str(session_file), "--target", "4000", *QUICK)
    assert done.returncode == 0, done.stderr
    messages = json.loads(done.stdout)
    posted = json.loads(session_file.read_text())
    assert messages[0] == posted[0]
    assert messages[-1] == posted[-1]
    assert messages[1]["content"].startswith("<context_memory>")
    sizes = [tokens.count(str(one.get("content") or "")) for one in messages[1:]]
    assert sum(sizes) <= 4000
    assert "tokens posted" in done.stderr


@pytest.mark.long
def test_compress_reads_jsonl_from_standard_input(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(one) for one in coding(500))
    done = run(tmp_path, "compress", "-", "--store", "memory:", *QUICK, text=lines)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)) == len(lines.splitlines())


@pytest.mark.long
def test_explain_goes_to_standard_error(session_file: Path) -> None:
    done = run(
        session_file.parent,
        "compress",
        str(session_file),
        "--target",
        "4000",
        "--query",
        "SHOP-105",
        "--explain",
        *QUICK,
    )
    assert json.loads(done.stdout)
    assert "excerpts, word for word" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize("mode", ["stable", "auto", "fresh"])
def test_every_mode_compresses(session_file: Path, tmp_path: Path, mode: str) -> None:
    done = run(tmp_path, "compress", str(session_file), "--target", "4000", "--mode", mode, *QUICK)
    assert done.returncode == 0, done.stderr
    messages = json.loads(done.stdout)
    assert messages[-1] == json.loads(session_file.read_text())[-1]


@pytest.mark.long
def test_delete_takes_a_file_an_address_or_all(session_file: Path, tmp_path: Path) -> None:
    store = ("--store", "sqlite:///gone.db")
    run(tmp_path, "index", str(session_file), *store, *QUICK)
    gone = run(tmp_path, "delete", str(session_file), *store)
    assert gone.returncode == 0, gone.stderr
    assert "nodes" in gone.stdout
    assert run(tmp_path, "delete", str(session_file), *store).stdout == "nothing was kept of it\n"
    run(tmp_path, "index", str(session_file), *store, *QUICK)
    assert "nodes" in run(tmp_path, "delete", "--all", *store).stdout
    assert "0 nodes" in run(tmp_path, "check", *store).stdout
    unknown = run(tmp_path, "delete", "--address", "ab" * 32, *store)
    assert unknown.returncode == 1
    assert "Traceback" not in unknown.stderr


@pytest.mark.long
@pytest.mark.parametrize("arguments", [(), ("--all", "--address", "ab"), ("x.json", "--all")])
def test_delete_wants_exactly_one(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = run(tmp_path, "delete", *arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_index_tree_and_check(session_file: Path) -> None:
    folder = session_file.parent
    indexed = run(folder, "index", str(session_file), "--store", "sqlite:///t.db", *QUICK)
    assert indexed.returncode == 0, indexed.stderr
    assert "leaves" in indexed.stdout
    drawn = run(folder, "tree", str(session_file), "--store", "sqlite:///t.db", *QUICK)
    assert "validate_receipt" in drawn.stdout
    query = ("--query", "SHOP-105", "--target", "4000")
    asked = run(folder, "tree", str(session_file), "--store", "sqlite:///t.db", *query, *QUICK)
    assert "memory message" in asked.stdout
    checked = run(folder, "check", "--store", "sqlite:///t.db")
    assert checked.returncode == 0
    assert "no problem" in checked.stdout


@pytest.mark.long
def test_check_finds_damage(session_file: Path, tmp_path: Path) -> None:
    run(tmp_path, "index", str(session_file), "--store", "sqlite:///d.db", *QUICK)
    import sqlite3

    with sqlite3.connect(tmp_path / "d.db") as base:
        base.execute("DELETE FROM nodes WHERE rowid = (SELECT min(rowid) FROM nodes)")
    base.close()
    checked = run(tmp_path, "check", "--store", "sqlite:///d.db")
    assert checked.returncode == 1
    assert "problem(s)" in checked.stdout


@pytest.mark.long
def test_demo_finds_what_it_planted(tmp_path: Path) -> None:
    """With embeddings; without them in tests/cli/test_demo.py."""
    done = run(tmp_path, "demo", "--tokens", "16000", "--full")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no log line, and no bar where nobody looks
    shown = done.stdout
    assert "The same question with embeddings" in shown
    assert len(re.findall("^  In SHOP-.*  yes +yes *$", shown, re.MULTILINE)) == 4
    assert "memory message: summaries, and " in shown
    assert list(tmp_path.iterdir()) == []  # nothing is kept


@pytest.mark.long
def test_doctor_tells_what_does_not_work(tmp_path: Path) -> None:
    done = run(tmp_path, "doctor", "--upstream", "http://127.0.0.1:9/v1", *QUICK)
    assert done.returncode == 1
    assert "problem" in done.stdout
    assert "upstream" in done.stdout
    assert run(tmp_path, "doctor", "--upstream", "none", *QUICK).returncode == 0


@pytest.mark.long
def test_doctor_shows_mode_and_prices(tmp_path: Path) -> None:
    shown = run(tmp_path, "doctor", "--settings", "--upstream", "none", *QUICK).stdout
    assert "stable; on the chat routes auto" in shown
    assert "1/0.25/3600 for others" in shown
    assert "memory begins at about 22,000 tokens" in " ".join(shown.split())
    assert "128,000 tokens for others" in shown
    (tmp_path / "memtree.toml").write_text(
        "mode = 'fresh'\nprices = ['m=1/0.5', '*=1/1']\nmetrics_key = 'hush'\n"
    )
    shown = run(tmp_path, "doctor", "--settings", "--upstream", "none", *QUICK).stdout
    assert "m=1/0.5, *=1/1" in shown
    assert "fresh" in shown
    assert "hush" not in shown


@pytest.mark.long
def test_keys_are_shown_once(tmp_path: Path) -> None:
    made = run(tmp_path, "keys", "create", "alice")
    secret = made.stdout.splitlines()[1]
    listed = run(tmp_path, "keys", "list").stdout
    assert "alice" in listed
    assert secret not in listed
    key_id = made.stdout.split()[0]
    assert run(tmp_path, "keys", "revoke", key_id).returncode == 0
    assert run(tmp_path, "keys", "revoke", key_id).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("serve", "--port", "abc"), "port"),
        *(
            pytest.param(arguments, named, marks=pytest.mark.long)
            for arguments, named in [
                (("compress", "missing.json"), "missing.json"),
                (("serve", "--store", "mysql://x"), "mysql"),
                (("serve", "--host", "0.0.0.0"), "keys"),
                (("serve", "--mode", "slow"), "mode"),
                (("serve", "--prices", "gpt-5"), "prices"),
                (("delete", "--address", "xyz"), "--address"),
                (("delete", "missing.json"), "missing.json"),
            ]
        ),
    ],
)
def test_bad_input_is_one_clear_line(
    tmp_path: Path, arguments: tuple[str, ...], named: str
) -> None:
    done = run(tmp_path, *arguments)
    assert done.returncode == 1
    assert named in done.stderr
    assert "Traceback" not in done.stderr

"""Examples of the command line, run in this process in a folder of their own."""

from __future__ import annotations

import asyncio
import json
import re
import time
import zipfile
from pathlib import Path

import pytest

from memtree.stores import open_memories, open_store
from tests.docs.commands import Command, Desk, check_settings, made_by_make, read
from tests.docs.pages import README, block, blocks
from tests.foreign import CLAUDE_SIMPLE, CLINE_STORED, chatgpt_simple
from tests.programs.sessions import coding
from tests.transcripts import codex


@pytest.fixture
def desk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    return Desk(tmp_path, capsys, monkeypatch)


def test_what_is_understood_of_a_shell():
    (line,) = read("A=1 memtree compress 'a b' --x \\\n  y | memtree tree - > out.txt  # why\n")
    assert [command.words for command in line] == [
        ("memtree", "compress", "a b", "--x", "y"), ("memtree", "tree", "-"),
    ]  # fmt: skip
    assert (line[0].variables, line[1].into) == ({"A": "1"}, "out.txt")


@pytest.mark.parametrize(
    ("page", "name"), [("README.md", "install"), ("docs/getting-started.md", "install")]
)
def test_make_runs_and_tests(page: str, name: str):
    run, test = block(page, name).splitlines()
    assert made_by_make(run) == ["serve"]
    assert test.split()[:2] == ["make", "test"]


@pytest.mark.parametrize("name", ["options", "local"])
def test_make_passes_options_on(name: str):
    check_settings(made_by_make(block("docs/getting-started.md", name)))


def test_the_topology_has_a_target():
    assert block("docs/deployment.md", "topology") == "make topology\n"


@pytest.mark.slow
def test_the_demo_says_what_the_readme_shows(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    """Line by line, in this order; the README leaves lines out."""
    monkeypatch.setenv("COLUMNS", "120")
    (said,) = desk.run(block("README.md", "demo"))
    (shown,) = [one for one in blocks(README) if one.language == "text"]
    told = iter([line.rstrip() for line in said.splitlines()])
    for line in shown.text.splitlines():
        assert line in told, line


def test_the_demo_is_a_command():
    assert list(read(block("docs/getting-started.md", "demo"))) == [
        [Command(("memtree", "demo"), {})]
    ]


@pytest.mark.parametrize(
    ("page", "name"),
    [("docs/modes.md", "prices"), ("docs/modes.md", "window"), ("docs/clients.md", "origins"),
     ("docs/observability.md", "traces"), ("docs/deployment.md", "serve"),
     ("docs/usage.md", "prices"), ("docs/usage.md", "no log"),
     ("docs/deployment.md", "start")],
)  # fmt: skip
def test_servers_take_these_options(desk: Desk, page: str, name: str):
    assert set(desk.run(block(page, name))) == {""}


def test_stores_are_copied(desk: Desk):
    """The addresses name a server that is not there: to a file and back instead."""
    text = block("docs/deployment.md", "copy")
    addresses = iter(("sqlite:///copy.db", "sqlite:///copy.db"))
    desk.run("memtree memories add 'We deploy on Fridays' --store sqlite:///memtree.db")
    said = desk.run(re.sub(r"postgresql://\S+", lambda _: next(addresses), text))
    assert len(said) == 2
    assert (desk.folder / "backup.db").is_file()


@pytest.mark.slow
def test_histories(desk: Desk):
    (desk.folder / "session.json").write_text(json.dumps(coding(12_000)))
    said = desk.run(block("docs/command-line.md", "histories"))
    shorter = json.loads((desk.folder / "shorter.json").read_text())
    assert shorter[1]["content"].startswith("<context_memory>")
    assert said[2]
    assert said[3].startswith("forgotten")


def test_the_store_is_looked_at(desk: Desk):
    desk.run('memtree memories add "I like tea." --embedder none')
    doctor, check, requests = desk.run(block("docs/command-line.md", "store"), codes=(0, 1))
    assert "store" in doctor
    assert check
    assert "no requests" in requests


def test_conversations_are_imported(desk: Desk):
    (desk.folder / "conversations.json").write_text(
        json.dumps([chatgpt_simple(), chatgpt_simple("c-3", "Two")])
    )
    with zipfile.ZipFile(desk.folder / "export.zip", "w") as archive:
        archive.writestr(
            "conversations.json", json.dumps([chatgpt_simple("c-2", "My trip to Rome")])
        )
    sessions = desk.folder / ".cline/data/sessions/one"
    sessions.mkdir(parents=True)
    (sessions / "one.messages.json").write_text(json.dumps(CLINE_STORED))
    lines = "\n".join(map(json.dumps, CLAUDE_SIMPLE))
    (desk.folder / "SESSION.jsonl").write_text(lines)
    listed, _, _, drawn = desk.run(block("docs/command-line.md", "import"))
    assert "Trip" in listed
    assert json.loads((desk.folder / "trip.json").read_text())[0]["content"] == "Where to?"
    assert list((desk.folder / "histories").iterdir())
    assert drawn


def test_past_sessions(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(desk.folder / "data"))
    monkeypatch.setattr("tests.transcripts.PROJECT", str(desk.folder / "work" / "shop"))
    said = "Each line of the invoice opened a connection; one pooled connection is quick."
    codex(desk.folder, "s1", "Why was the invoice export so slow?", said, "ok", time.time())
    first, second, gone = desk.run(block("docs/command-line.md", "sessions"))
    assert "Why was the invoice export so slow?" in first
    assert said.partition(";")[0] in second
    assert gone.startswith("forgot an index")


def test_memories_and_documents(desk: Desk):
    (desk.folder / "FILE.md").write_text("# Ports\n\nStaging listens on port 8090.\n")
    _, found, _ = desk.run(block("docs/command-line.md", "memories"))
    assert "We deploy on Fridays" in found


def test_memories_in_the_terminal(desk: Desk):
    said = desk.run(block("docs/memories.md", "terminal"))
    assert "We deploy on Fridays" in said[1]
    assert "We deploy on Fridays" in said[2]
    assert len(said) == 6


def test_documents_in_the_terminal(desk: Desk):
    (desk.folder / "docs").mkdir()
    (desk.folder / "docs/ports.md").write_text("# Ports\n\nStaging listens on port 8090.\n")
    desk.run("memtree keys create laptop")
    _, found = desk.run(block("docs/documents.md", "files"))
    assert "8090" in found


def test_keys(desk: Desk):
    made, _ = desk.run(block("docs/keys.md", "create"))
    assert made.startswith("mt-")


def test_an_app_with_users(desk: Desk):
    page = "docs/keys.md"
    assert desk.run(block(page, "key"))[0].startswith("mt-")
    desk.run("memtree memories add 'Likes tea' --tenant shop --user user-4711")
    tenants, users, one, requests = desk.run(block(page, "overview"), (0, 1))
    assert "shop" in tenants
    assert "Likes tea" in users
    assert "Likes tea" in one
    assert "no requests" in requests
    _, revoked = desk.run(block(page, "end"))
    assert revoked.startswith("revoked")


def prove(desk: Desk, address: str) -> None:
    """Do what `POST /v1/wallets` does: a grant is revoked by a tenant that has the wallet."""

    async def bind() -> None:
        store = open_store(f"sqlite:///{desk.folder}/examples.db")
        await open_memories(store).prove_wallet(address, "t-key", b"1", 0)
        await store.close()

    asyncio.run(bind())


def test_grants_in_the_terminal(desk: Desk):
    text = block("docs/sharing.md", "terminal")
    (other,) = desk.run("memtree grants new-wallet --chain sol -o bob.key")
    desk.run("memtree keys create KEY")
    new, sign, *rest = text.splitlines()
    (address,) = desk.run(new)
    (code,) = desk.run(sign.replace("ADDRESS", other.split()[-1]))
    assert address
    assert code.startswith("zkg1_")
    prove(desk, address.split()[-1])
    said = [desk.run(line.replace("zkg1_...", code.strip()))[0] for line in rest]
    assert address.split()[-1] in said[0]
    assert json.loads(said[1])["s"]

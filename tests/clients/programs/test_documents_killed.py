"""A server that is killed while documents are put leaves whole ones, and what was answered."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.programs.server import PATIENCE, Server

pytestmark = [pytest.mark.slow, pytest.mark.clients]

PATH = "/v1/rag/handbook/documents"
WORDS = "It says that the port of staging is {}, and that version {} holds. "


def text(id_: int, version: int) -> str:
    return f"# Document {id_}\n\n" + WORDS.format(8_000 + id_, version) * 300


class Writer(threading.Thread):
    """Puts versions of four documents until the server is gone. `answered`: the last version of
    each that was."""

    def __init__(self, server: Server) -> None:
        super().__init__()
        self._server = server
        self.answered: dict[int, int] = {}

    def run(self) -> None:
        for version in range(10_000):
            for id_ in range(4):
                posted = {"id": f"d{id_}", "text": text(id_, version)}
                try:
                    answer = self._server.post(PATH, posted)
                except httpx.HTTPError:
                    return
                assert answer.status_code == 201
                self.answered[id_] = version


def held(server: Server) -> dict[int, str]:
    found: dict[int, str] = {}
    for row in server.get(PATH).json()["documents"]:
        shown: dict[str, Any] = server.get(f"{PATH}/{row['id']}").json()
        found[int(row["id"][1:])] = shown["text"]
    return found


@pytest.mark.parametrize("seconds", [0.4, pytest.param(0.9, marks=pytest.mark.long)])
def test_each_document_is_whole_after_a_kill(tmp_path: Path, seconds: float):
    server = Server(tmp_path / "m.db", "--upstream", "none", "--embedder", "none")
    writer = Writer(server)
    try:
        writer.start()
        while len(writer.answered) < 4 and writer.is_alive():
            time.sleep(0.01)
        time.sleep(seconds)
    finally:
        server.kill()
        writer.join()
    again = Server(tmp_path / "m.db", "--upstream", "none", "--embedder", "none")
    try:
        found = held(again)
        assert found.keys() == writer.answered.keys()
        for id_, version in writer.answered.items():
            # The next one may be there, though nobody was told.
            assert found[id_] in (text(id_, version), text(id_, version + 1))
        total = again.get("/v1/rag/handbook").json()["passages"]
        rows = again.get(PATH).json()["documents"]
        assert total == sum(row["passages"] for row in rows)
    finally:
        assert again.stop() == 0
    check = [
        sys.executable,
        "-m",
        "memtree_proxy.cli",
        "check",
        "--store",
        f"sqlite:///{tmp_path}/m.db",
    ]
    assert subprocess.run(check, capture_output=True, timeout=PATIENCE, check=False).returncode == 0

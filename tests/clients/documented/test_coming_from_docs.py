"""The examples of docs/coming-from.md, run as they stand there against a real server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memtree.memories.transfer.file_items import AUTO, FORMATS
from tests.programs.server import PATIENCE, Server, running

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.clients]

PAGE = (Path(__file__).parents[3] / "docs" / "coming-from.md").read_text("utf-8")
MEM0 = [
    "Likes green tea",
    "Always answer in French",
    "the key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD",
    "likes green tea.",
]
GRAPH = [
    {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["Plays the cello"]},
    {"type": "relation", "from": "Ada", "to": "Harbour Lab", "relationType": "works_at"},
]


def block(name: str) -> str:
    found = re.search(rf"<!-- tested: {name} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found, name
    return found[1]


class Shown:
    """A server, and the examples run against it in a folder with the files that they name."""

    def __init__(self, server: Server, store: Path, folder: Path) -> None:
        self.server, self.store, self.folder = server, store, folder

    def sh(self, name: str, key: str = "ada") -> str:
        if not shutil.which("curl"):
            pytest.skip("there is no curl")
        text = block(name).replace("http://127.0.0.1:8787", self.server.url)
        text = re.sub(
            "^memtree ", f"{sys.executable} -m memtree_proxy.cli ", text, flags=re.MULTILINE
        )
        settings = {"MEMTREE_STORE": f"sqlite:///{self.store}", "MEMTREE_EMBEDDER": "none"}
        paths = {"PYTHONPATH": str(Path(__file__).parents[3])}
        done = subprocess.run(
            ["sh", "-ec", text], env=os.environ | {"OPENAI_API_KEY": key} | settings | paths,
            capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=self.folder,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def lines(self, key: str, **headers: str) -> list[dict[str, Any]]:
        """An export, but for its header."""
        answer = self.server.get("/v1/memories/export", authorization=f"Bearer {key}", **headers)
        return [json.loads(line) for line in answer.text.splitlines()[1:]]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    folder = tmp_path_factory.mktemp("coming")
    results = {"results": [{"id": str(at), "memory": text} for at, text in enumerate(MEM0)]}
    (folder / "mem0.json").write_text(json.dumps(results))
    (folder / "memory.jsonl").write_text("\n".join(map(json.dumps, GRAPH)))
    store = folder / "docs.db"
    with running(store, "--upstream", "none") as server:
        yield Shown(server, store, folder)


def test_a_dry_run_answers_what_the_page_says(shown: Shown):
    found = re.search(r"```json\n(\{\n.*?)```", PAGE, re.DOTALL)
    assert found
    assert json.loads(shown.sh("dry run")) == json.loads(found[1])
    assert [line["type"] for line in shown.lines("ada")] == ["settings", "end"]


def test_what_was_imported_goes_out_and_comes_back(shown: Shown):
    report = json.loads(shown.sh("import"))
    assert (report["imported"], report["skipped"], report["failed"]) == (2, 1, 1)
    assert json.loads(shown.sh("import"))["imported"] == 0
    shown.sh("export")
    assert json.loads(shown.sh("back"))["imported"] == 2
    mine, theirs = shown.lines("ada"), shown.lines("ada", **{"x-user-id": "ada"})
    for line in [*mine, *theirs]:
        line.pop("memory_id", None)
    assert mine == theirs
    assert [line["text"] for line in mine if line["type"] == "memory"] == MEM0[:2]


def test_the_terminal(shown: Shown):
    said = shown.sh("terminal").splitlines()
    first, second = (line for line in said if line.startswith("server-memory: "))
    assert first == "server-memory: 2 of 2 would be imported, 0 left out, 0 failed"
    assert second == "server-memory: 2 of 2 imported, 0 left out, 0 failed"
    answer = shown.server.get("/v1/memories/export")
    assert "Ada: Plays the cello" in answer.text


def test_an_export_has_the_fields_that_the_page_shows(shown: Shown):
    found = re.search(r'```json\n(\{"type": "export".*?)```', PAGE, re.DOTALL)
    assert found
    told = [json.loads(line) for line in found[1].splitlines()]
    assert [line["type"] for line in told] == ["export", "settings", "memory", "end"]
    shown.server.post(
        "/v1/memories/import",
        {"results": [{"memory": "Likes green tea"}]},
        authorization="Bearer x",
    )
    settings, memory, end = shown.lines("x")
    assert settings == told[1]
    assert set(told[2]) <= set(memory)
    # The vector may follow while the export runs: that is a change, too.
    assert set(end) - {"changed_meanwhile"} == set(told[3])


def test_every_format_is_named():
    named = set(re.findall(r"`([a-z0-9-]+)`", PAGE.split("Name the format", 1)[1].split(")", 1)[0]))
    assert named | {AUTO} == {AUTO, *FORMATS}

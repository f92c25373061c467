"""The examples of docs/agent-memories.md, run as they stand there against a real server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.http.wire.documented import DOCUMENT, METHODS
from tests.programs.server import PATIENCE, Server
from tests.programs.server import running as serving

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.clients]

PAGE = (Path(__file__).parents[3] / "docs" / "agent-memories.md").read_text("utf-8")


def block(name: str) -> str:
    found = re.search(rf"<!-- tested: {name} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found, name
    return found[1]


def example(before: str) -> Any:
    """The JSON that is shown behind a line."""
    found = re.search(rf"{before}\n\n```json\n(.*?)```", PAGE, re.DOTALL)
    assert found, before
    return json.loads(found[1])


class Shown:
    """A server, and the examples run against it; each `key` is a tenant of its own."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def answers(self, name: str) -> list[Any]:
        """Return what the curls of a block answer; the key is called as the block."""
        if not shutil.which("curl"):
            pytest.skip("there is no curl")
        text = block(name).replace("http://127.0.0.1:8787", self.server.url)
        done = subprocess.run(
            ["sh", "-ec", text], env=os.environ | {"OPENAI_API_KEY": name}, capture_output=True,
            text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        decoder, answers, at = json.JSONDecoder(), [], 0
        while at < len(done.stdout):
            answer, at = decoder.raw_decode(done.stdout, at)
            answers.append(answer)
        return answers


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    with serving(tmp_path_factory.mktemp("docs") / "docs.db", "--upstream", "none") as server:
        yield Shown(server)


def test_curl(shown: Shown):
    stored, listed, filtered, changed, one, gone = shown.answers("curl")
    assert [row["kind"] for row in stored["created"]] == ["SessionContext", "Reminder"]
    assert len(listed["memories"]) == 2
    assert [row["data"] for row in filtered["memories"]] == [{"task": "booking"}]
    assert changed["memory"] == one["memory"]
    assert gone == {"success": True, "deleted": 2}
    said = example("A memory as it is shown:")
    assert list(one["memory"]) == list(said)
    assert list(one["memory"]["metadata"]) == list(said["metadata"])
    changing = {"createdAt", "updatedAt"}
    assert {k: v for k, v in one["memory"]["metadata"].items() if k not in changing} == {
        k: v for k, v in said["metadata"].items() if k not in changing
    }


def test_what_a_created_row_is(shown: Shown):
    said = example("It answers 201 with what became of each:")
    row = said["created"][0]
    posted = {"agentId": "a", "memories": [{"kind": row["kind"], "data": row["metadata"]}]}
    answer = shown.server.post("/v1/memories", posted, authorization="Bearer row")
    assert answer.status_code == 201
    (made,) = answer.json()["created"]
    assert {**answer.json(), "created": [{**made, "id": row["id"]}]} == said


def test_conversation(shown: Shown):
    (answer,) = shown.answers("conversation")
    rows = [(row["kind"], row["metadata"].get("text")) for row in answer["created"]]
    assert ("fact", "User lives in Seattle") in rows
    assert {"text": "What is the weather like?", "reason": "question"} in answer["skipped"]
    (again,) = shown.answers("conversation")
    assert (again["created"], again["updated"], again["skipped"]) == ([], [], [])


def test_every_route_stands_on_the_page():
    table = PAGE.partition("## Routes")[2].partition("\n## ")[0]
    listed = set(re.findall(r"^\| `(GET|POST|PATCH|DELETE) (/[^`]*)`", table, re.MULTILINE))
    shared = {"/memories", "/memories/search", "/memories/{memory_id}"}
    elsewhere = {"/memories/batch/search"}  # with all that searches can do
    known = {
        (method.upper(), path)
        for path, item in DOCUMENT["paths"].items()
        if (path.startswith("/memories/batch/") and path not in elsewhere) or path in shared
        for method in METHODS
        if method in item
    }
    assert listed == known

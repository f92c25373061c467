"""The examples of docs/user-memories.md and docs/extraction.md, run as they stand there against a
real server."""

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

from tests.http.owned.kinds import TYPESCRIPT, counts
from tests.http.wire.documented import DOCUMENT, METHODS
from tests.programs.server import PATIENCE, Server
from tests.programs.server import running as serving

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.clients]

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "user-memories.md").read_text("utf-8")
PAGES = PAGE + (DOCS / "extraction.md").read_text("utf-8")
API = "/v1/memories"


def block(name: str) -> str:
    found = re.search(rf"<!-- tested: {name} -->\n```\w+\n(.*?)```", PAGES, re.DOTALL)
    assert found, name
    return found[1]


class Shown:
    """A server, and the examples run against it; each `key` is a tenant of its own."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def run(self, command: list[str], name: str, key: str) -> str:
        text = block(name).replace("http://127.0.0.1:8787", self.server.url)
        done = subprocess.run(
            [*command, text], env=os.environ | {"OPENAI_API_KEY": key}, capture_output=True,
            text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def answers(self, name: str) -> list[Any]:
        """Return what the curls of a block answer; the key is called as the block."""
        if not shutil.which("curl"):
            pytest.skip("there is no curl")
        told, decoder = self.run(["sh", "-ec"], name, name), json.JSONDecoder()
        answers, at = [], 0
        while at < len(told):
            answer, at = decoder.raw_decode(told, at)
            answers.append(answer)
        return answers

    def rows(self, key: str) -> list[dict[str, Any]]:
        answer = self.server.get(API, authorization=f"Bearer {key}")
        rows: list[dict[str, Any]] = answer.json()["memories"]
        return rows


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    store = tmp_path_factory.mktemp("docs") / "docs.db"
    with serving(store, "--upstream", "none") as server:
        yield Shown(server)


def test_an_extraction_says_what_it_found_and_stores_nothing(shown: Shown):
    [answer] = shown.answers("extract")
    assert [one["text"] for one in answer["stored"]] == ["User is allergic to nuts"]
    assert [one["reason"] for one in answer["skipped"]] == ["question"]
    assert (answer["messages"], answer["snapshots"], shown.rows("extract")) == (1, [], [])


def test_curl(shown: Shown):
    made, listed, found, changed, past, gone, back = shown.answers("curl")
    assert made["text"] == TYPESCRIPT
    assert [row["id"] for row in listed["memories"]] == [made["id"]]
    assert [hit["id"] for hit in found["memories"]] == [made["id"]]
    assert changed["text"] == "User prefers Rust for new projects"
    assert [one["text"] for one in past["versions"]] == [changed["text"], TYPESCRIPT]
    assert gone == {
        "success": True,
        "deleted_from_groups": 0,
        "deleted": 1,
    }
    assert [row["id"] for row in back["memories"]] == [made["id"]]
    assert len(shown.rows("curl")) == 1


def test_groups(shown: Shown):
    added, listed = shown.answers("groups")
    assert added == {"success": True, "added_count": 1, "unknown": []}
    (row,) = listed["memories"]
    assert row["group_title"] == "Work Projects"


def test_python(shown: Shown):
    lines = shown.run([sys.executable, "-c"], "python", "python").splitlines()
    assert lines == [
        "8090 -> 8091",
        "The staging server listens on port 8091",
        "It replaced: The staging server listens on port 8090",
    ]


def test_delete(shown: Shown):
    made, counted, receipt, everything = shown.answers("delete")
    assert made["tags"] == ["errands"]
    assert counted == {"dry_run": True, "count": 1}
    assert counts(receipt) == (1, True)
    assert counts(everything) == (1, True)  # it could have been brought back
    assert shown.rows("delete") == []


def test_settings(shown: Shown):
    (settings,) = shown.answers("settings")
    assert settings == {
        "memories_save_enabled": True, "memories_chat_history_enabled": False, "top_k": 3,
        "score_threshold": 0.5, "plan": "pro",
    }  # fmt: skip
    named = re.findall(r"^\| `(\w+)` \| `?([\w.]+)`? \|", PAGE, re.MULTILINE)
    other = shown.server.get(f"{API}/settings", authorization="Bearer other").json()
    assert dict(named) == {name: json.dumps(value).strip('"') for name, value in other.items()}


def test_transfer(shown: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    shown.server.post(API, {"text": TYPESCRIPT}, authorization="Bearer transfer")
    (report,) = shown.answers("transfer")
    assert TYPESCRIPT in (tmp_path / "memories.jsonl").read_text()
    assert (report["dry_run"], report["read"], report["reasons"]) == (True, 1, {"duplicate": 1})


def test_the_memory_that_is_shown_has_the_fields_of_one(shown: Shown):
    example = re.search(r"^A memory:\n\n```json\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
    assert example
    shown.server.post(API, {"text": TYPESCRIPT}, authorization="Bearer fields")
    (row,) = shown.rows("fields")
    said = json.loads(example[1])
    assert list(row) == list(said)
    changing = {"id", "created_at", "updated_at", "last_confirmed_at"}
    assert {k: v for k, v in row.items() if k not in changing} == {
        k: v for k, v in said.items() if k not in changing
    }


def test_every_route_stands_on_the_page():
    listed = set(re.findall(r"^\| `(GET|POST|PATCH|DELETE) (/[^`]*)`", PAGE, re.MULTILINE))
    known = {
        (method.upper(), path)
        for path, item in DOCUMENT["paths"].items()
        if path.startswith("/memories") and not path.startswith("/memories/batch/")
        for method in METHODS
        if method in item
    }
    assert listed == known

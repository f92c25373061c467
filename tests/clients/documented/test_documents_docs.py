"""The examples of docs/documents.md, run as they stand there against a real server."""

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

from tests.http.served.running import running
from tests.http.wire.documented import DOCUMENT, METHODS
from tests.made.scripted import Say, Scripted
from tests.programs.server import PATIENCE, Server
from tests.programs.server import running as serving

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.clients]

PAGE = (Path(__file__).parents[3] / "docs" / "documents.md").read_text("utf-8")
RAG = "/v1/rag/handbook"
LINE = "1. [ports.md 1/1] # Ports Staging listens on port 8090, production on port 443."


def block(name: str) -> str:
    found = re.search(rf"<!-- tested: {name} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found, name
    return found[1]


def example(before: str) -> dict[str, Any]:
    found = re.search(rf"^{before}:\n\n```json\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
    assert found, before
    shown: dict[str, Any] = json.loads(found[1])
    return shown


class Shown:
    """A server in front of a scripted model, and the examples run against it."""

    def __init__(self, server: Server, upstream: Scripted) -> None:
        self.server, self.upstream = server, upstream

    def run(self, command: list[str], name: str, key: str) -> str:
        text = block(name).replace("http://127.0.0.1:8787", self.server.url)
        done = subprocess.run(
            [*command, text], env=os.environ | {"OPENAI_API_KEY": key}, capture_output=True,
            text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def sh(self, name: str, key: str) -> str:
        if not shutil.which("curl"):
            pytest.skip("there is no curl")
        return self.run(["sh", "-ec"], name, key)

    def get(self, path: str, key: str) -> Any:
        return self.server.get(f"{RAG}{path}", authorization=f"Bearer {key}").json()


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    upstream = Scripted()
    with running(upstream) as above:
        store = tmp_path_factory.mktemp("docs") / "docs.db"
        with serving(store, "--upstream", f"{above}/v1") as server:
            yield Shown(server, upstream)


def test_a_minute(shown: Shown):
    script = shown.upstream.script("minute", [Say("Port 8090.")])
    put = json.loads(shown.sh("put", "minute"))
    assert (put["id"], put["status"]) == ("ports.md", "created")
    assert shown.run([sys.executable, "-c"], "ask", "minute") == "Port 8090.\n"
    sent = json.dumps(json.loads(script.seen[0].raw), ensure_ascii=False)
    assert LINE in sent
    assert LINE in PAGE
    assert "rag_options" not in sent


def test_the_examples_have_the_fields_of_answers(shown: Shown):
    shown.sh("put", "fields")
    (row,) = shown.get("/documents", "fields")["documents"]
    said = example("A document")
    assert list(row) == list(said)
    assert {**row, "created_at": ""} == {**said, "created_at": ""}
    found = shown.get("/search?query=Which+port+does+staging+listen+on", "fields")
    said = example("A passage that a search found")
    (hit,) = found["passages"]
    assert list(hit) == list(said)
    assert {**hit, "relevance": 0} == {**said, "relevance": 0}


def test_every_route_stands_on_the_page():
    listed = set(re.findall(r"^\| `(GET|POST|PATCH|DELETE) /v1(/rag[^`]*)`", PAGE, re.MULTILINE))
    known = {
        (method.upper(), path)
        for path, item in DOCUMENT["paths"].items()
        if path.startswith("/rag")
        for method in METHODS
        if method in item
    }
    assert listed == known

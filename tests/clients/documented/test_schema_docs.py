"""The examples of schemas in docs/agent-memories.md, run against a real server and store."""

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

from memtree.memories.agents.schemas.limits import MAX_EXPANDED, MAX_PATTERN_CHARS, MAX_UNIQUE
from memtree.memories.agents.schemas.memory_schema import MAX_SCHEMAS
from memtree.memories.agents.schemas.schema_book import MAX_DESCRIPTION_CHARS
from memtree.memories.agents.schemas.schema_text import MAX_BYTES, MAX_NESTING
from memtree.memories.agents.schemas.sub_schemas import MAX_DEPTH, MAX_WRITTEN
from tests.programs.server import PATIENCE, Server
from tests.programs.server import running as serving

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.clients]

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "agent-memories.md").read_text("utf-8")


def block(name: str) -> str:
    found = re.search(rf"<!-- tested: {name} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found, name
    return found[1]


def shown() -> list[Any]:
    """All JSON of the page."""
    return [json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("docs") / "docs.db", "--upstream", "none") as running:
        yield running


def test_curl(server: Server):
    if not shutil.which("curl"):
        pytest.skip("there is no curl")
    text = block("schema").replace("http://127.0.0.1:8787", server.url)
    done = subprocess.run(
        ["sh", "-ec", text], env=os.environ | {"OPENAI_API_KEY": "curl"}, capture_output=True,
        text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    decoder, answers, at = json.JSONDecoder(), [], 0
    while at < len(done.stdout):
        answer, at = decoder.raw_decode(done.stdout, at)
        answers.append(answer)
    put, first, second, wrong, listed, gone = answers
    (wrong_shown,) = (one for one in shown() if "error" in one)
    assert put["schema"]["description"] == "Who the user is, and what they like."
    assert [len(first[name]) for name in ("created", "updated")] == [1, 0]
    (updated,) = second["updated"]
    assert updated["supersedes"] == first["created"][0]["id"]
    assert wrong["error"].pop("request_id")
    assert wrong == wrong_shown
    assert listed == {"success": True, "schemas": [put["schema"]]}
    assert gone == {"success": True}


def test_terminal(tmp_path: Path):
    (tmp_path / "profile.json").write_text('{"properties": {"name": {"type": "string"}}}')
    memtree = f"{sys.executable} -m memtree_proxy.cli"
    text = block("terminal").replace("memtree schemas", f"{memtree} schemas")
    env = os.environ | {"MEMTREE_STORE": f"sqlite:///{tmp_path}/t.db", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["sh", "-ec", text], cwd=tmp_path, env=env, capture_output=True, text=True,
        timeout=PATIENCE,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    kept, listed, document, deleted = done.stdout.splitlines()
    assert (kept, deleted) == ("UserProfile kept", "UserProfile deleted; its memories stay")
    assert listed == "UserProfile  (one for each name)  Who the user is."
    assert json.loads(document)


def test_the_page_names_the_limits():
    for said in (
        f"{MAX_BYTES:,} bytes", f"{MAX_DEPTH} in each other; {MAX_NESTING} levels",
        f"{MAX_WRITTEN} sub-schemas as written; {MAX_EXPANDED:,} where",
        f"{MAX_PATTERN_CHARS:,} characters", f"at most {MAX_SCHEMAS} schemas",
        f"at most {MAX_UNIQUE};", f"up to {MAX_DESCRIPTION_CHARS:,} characters",
    ):  # fmt: skip
        assert said in " ".join(PAGE.split()), said

"""The examples of docs/coming-from.md, docs/sharing.md and, of schemas, docs/agent-memories.md."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memtree.agents.memory_schema import MAX_BYTES, MAX_NESTING, MAX_SCHEMAS
from memtree.agents.schema_book import MAX_DESCRIPTION_CHARS
from memtree.agents.schema_limits import (
    MAX_DEPTH,
    MAX_EXPANDED,
    MAX_PATTERN_CHARS,
    MAX_UNIQUE,
    MAX_WRITTEN,
)
from memtree.transfer.file_items import AUTO, FORMATS
from tests.clients.documented.shown import Shown, examples, page, ran
from tests.docs.pages import ROOT, block
from tests.http.wire.documented import DOCUMENT
from tests.programs.server import running

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.clients]

COMING, SCHEMAS, SHARING = "docs/coming-from.md", "docs/agent-memories.md", "docs/sharing.md"
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the files that the page names."""
    folder = tmp_path_factory.mktemp("coming")
    results = {"results": [{"id": str(at), "memory": text} for at, text in enumerate(MEM0)]}
    (folder / "mem0.json").write_text(json.dumps(results))
    (folder / "memory.jsonl").write_text("\n".join(map(json.dumps, GRAPH)))
    return folder


def lines(shown: Shown, key: str, **headers: str) -> list[dict[str, Any]]:
    """An export, but for its header."""
    path = "/v1/memories/export"
    answer = shown.server.get(path, authorization=f"Bearer {key}", **headers)
    return [json.loads(line) for line in answer.text.splitlines()[1:]]


def test_a_dry_run_answers_what_the_page_says(shown: Shown, folder: Path):
    report = re.search(r"```json\n(\{\n.*?)```", page(COMING), re.DOTALL)
    assert report
    assert json.loads(shown.sh(COMING, "dry run", "dry", folder)) == json.loads(report[1])
    assert [line["type"] for line in lines(shown, "dry")] == ["settings", "end"]


def test_what_was_imported_goes_out_and_comes_back(shown: Shown, folder: Path):
    report = json.loads(shown.sh(COMING, "import", "ada", folder))
    assert (report["imported"], report["skipped"], report["failed"]) == (2, 1, 1)
    assert json.loads(shown.sh(COMING, "import", "ada", folder))["imported"] == 0
    shown.sh(COMING, "export", "ada", folder)
    assert json.loads(shown.sh(COMING, "back", "ada", folder))["imported"] == 2
    mine, theirs = lines(shown, "ada"), lines(shown, "ada", **{"x-user-id": "ada"})
    for line in [*mine, *theirs]:
        for name in ("memory_id", "changed_meanwhile"):  # by a vector that follows
            line.pop(name, None)
    assert mine == theirs
    assert [line["text"] for line in mine if line["type"] == "memory"] == MEM0[:2]


def test_the_terminal(shown: Shown, folder: Path):
    said = shown.sh(COMING, "terminal", "ada", folder).splitlines()
    first, second = (line for line in said if line.startswith("server-memory: "))
    assert first == "server-memory: 2 of 2 would be imported, 0 left out, 0 failed"
    assert second == "server-memory: 2 of 2 imported, 0 left out, 0 failed"
    assert "Ada: Plays the cello" in shown.server.get("/v1/memories/export").text


def test_an_export_has_the_fields_that_the_page_shows(shown: Shown):
    export = re.search(r'```json\n(\{"type": "export".*?)```', page(COMING), re.DOTALL)
    assert export
    told = [json.loads(line) for line in export[1].splitlines()]
    assert [line["type"] for line in told] == ["export", "settings", "memory", "end"]
    shown.post("/v1/memories/import", {"results": [{"memory": "Likes green tea"}]}, "x")
    settings, memory, end = lines(shown, "x")
    assert settings == told[1]
    assert set(told[2]) <= set(memory)
    # The vector may follow while the export runs: that is a change, too.
    assert set(end) - {"changed_meanwhile"} == set(told[3])


def test_every_format_is_named():
    named = page(COMING).split("Name the format", 1)[1].split(")", 1)[0]
    assert {*re.findall(r"`([a-z0-9-]+)`", named)} | {AUTO} == {AUTO, *FORMATS}


# -- schemas ---------------------------------------------------------------------------------


def test_curl(shown: Shown):
    put, first, second, wrong, listed, gone = shown.answers(SCHEMAS, "schema")
    (wrong_shown,) = (one for one in examples(SCHEMAS) if "error" in one)
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
    settings = {"MEMTREE_STORE": f"sqlite:///{tmp_path}/t.db", "PYTHONPATH": str(ROOT)}
    said = ran(["sh", "-ec"], block(SCHEMAS, "terminal"), tmp_path, **settings)
    kept, listed, document, deleted = said.splitlines()
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
        assert said in " ".join(page(SCHEMAS).split()), said


# -- sharing ---------------------------------------------------------------------------------


def test_two_wallets(shown: Shown):
    told = shown.python(SHARING, "client")
    assert told == (
        "shared:researcher Staging listens on port 8090.\nx-grants: grant 1: it was revoked\n"
    )
    assert told in page(SHARING)


def test_two_keys(tmp_path: Path):
    """The definitions of the first block, and what the second one does with them."""
    store = tmp_path / "keys.db"
    create = [sys.executable, "-m", "memtree_proxy.cli", "keys", "create"]
    keys = [
        subprocess.run(
            [*create, label], env={"MEMTREE_STORE": f"sqlite:///{store}"}, cwd=ROOT,
            capture_output=True, text=True, check=True,
        ).stdout.strip()
        for label in ("ada", "bob")
    ]  # fmt: skip
    definitions = block(SHARING, "client").partition("ada, bob = ")[0]
    save = (
        'ada.request("POST", "/memories", {"agentId": "researcher", "memories": '
        '[{"kind": "Finding", "data": {"text": "The staging port is 8090."}}]}, api_key=ADAS_KEY)'
    )
    code = (
        f"{definitions}ada, bob = Wallet(), Wallet()\nADAS_KEY, BOBS_KEY = {keys!r}\n"
        f"{save}\n{block(SHARING, 'keys')}"
        "print(ada.request('GET', '/wallets')['error']['code'])"
    )
    with running(store, "--upstream", "none", "--embedder", "none") as server:
        told = ran([sys.executable, "-c"], code.replace("http://127.0.0.1:8787", server.url))
    assert "The staging port is 8090." in told
    assert told.endswith("invalid_api_key\n")


def test_every_route_stands_on_the_page():
    known = {path for path in DOCUMENT["paths"] if path.startswith(("/grants", "/wallets"))}
    assert len(known) > 3
    for path in known:
        assert f"{path}`" in page(SHARING) or f'"{path}"' in page(SHARING), path

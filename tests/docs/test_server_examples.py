"""Examples with curl and SDKs, run against a real server in front of a scripted model."""

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

from tests.docs.commands import SERVER, answers
from tests.docs.pages import ROOT, block, blocks
from tests.foreign import chatgpt_simple
from tests.http.served.running import running
from tests.made.scripted import Say, Scripted
from tests.programs.server import PATIENCE, Server
from tests.programs.server import running as serving

pytestmark = [pytest.mark.slow, pytest.mark.clients]

NODE = ROOT / "tests/clients/node"
PROFILE = {"type": "object", "properties": {
    "name": {"type": "string"}, "age": {"type": "integer"},
    "theme": {"type": "string", "enum": ["dark", "light"]}}}  # fmt: skip


@pytest.fixture(scope="module")
def upstream() -> Scripted:
    return Scripted()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, upstream: Scripted) -> Iterator[Server]:
    store = tmp_path_factory.mktemp("examples") / "examples.db"
    with (
        running(upstream) as above,
        serving(store, "--upstream", f"{above}/v1", "--embedder", "none") as made,
    ):
        yield made


def shown(page: str) -> list[Any]:
    """All JSON of a page."""
    return [json.loads(one.text) for one in blocks(ROOT / page) if one.language == "json"]


@pytest.mark.parametrize("page", ["README.md", "docs/getting-started.md", "docs/context-memory.md"])
def test_a_short_history_comes_back(server: Server, page: str):
    text = block(page, "compress")
    (answer,) = answers(text, server.url)
    (posted,) = re.findall(r"-d '(.*)'", text, re.DOTALL)
    assert answer["messages"] == json.loads(posted)["messages"]
    assert {"usage", "memory"} <= set(answer)


def test_a_history_is_forgotten(server: Server):
    posted = {"messages": [{"role": "user", "content": "word " * 12_000}], "index_only": True}
    key = {"authorization": "Bearer any-name-you-like"}
    server.post("/v1/context_memory", posted, **key).raise_for_status()
    server.settle(key)
    more = posted | {"index_only": False}
    address = server.post("/v1/context_memory", more, **key).json()["memory"]["address"]
    text = block("docs/context-memory.md", "forget")
    (receipt,) = answers(text.replace("<memory.address of an answer>", address), server.url)
    assert receipt["nodes"] > 0


def test_python(server: Server, upstream: Scripted):
    upstream.script("python", [Say("Hello.")])
    code = block("docs/getting-started.md", "python").replace(SERVER, server.url)
    history = 'whole_history = [{"role": "user", "content": "Hi"}]'
    done = subprocess.run(
        [sys.executable, "-c", f"{history}\n{code}print(answer.choices[0].message.content)"],
        env=os.environ | {"OPENAI_API_KEY": "python"}, capture_output=True, text=True,
        timeout=PATIENCE,
        check=False,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("Hello.\n", 0), done.stderr


def test_node(server: Server, upstream: Scripted, tmp_path: Path):
    node = shutil.which("node")
    if not node or not (NODE / "node_modules/openai").is_dir():
        missing = "the OpenAI Node SDK is not installed: `make node` does it"
        if "CI" in os.environ:
            pytest.fail(missing)
        pytest.skip(missing)
    upstream.script("node", [Say("Hello.")])
    code = block("docs/getting-started.md", "node").replace(SERVER, server.url)
    before = 'const wholeHistory = [{ role: "user", content: "Hi" }];\n'
    done = subprocess.run(
        [node, "--input-type=module", "-"],
        input=f"{before}{code}console.log(answer.choices[0].message.content);\n",
        cwd=NODE, env=os.environ | {"OPENAI_API_KEY": "node"}, capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("Hello.\n", 0), done.stderr


def test_a_file_is_parsed(server: Server, tmp_path: Path):
    (tmp_path / "conversations.json").write_text(json.dumps([chatgpt_simple()]))
    (answer,) = answers(block("docs/context-memory.md", "parse"), server.url, tmp_path)
    (found,) = answer["conversations"]
    assert found["messages"][0] == {"role": "user", "content": "Where to?"}
    assert set(found) == {"title", "format", "messages", "notes", "belongs"}


def test_usage(server: Server):
    (answer,) = answers(block("docs/usage.md", "usage"), server.url)
    said, _ = shown("docs/usage.md")
    assert list(answer) == list(said)
    assert set(answer["period"]) == set(said["period"])
    assert set(answer["daily"][0]) == set(said["daily"][0])
    (elsewhere,) = answers(block("docs/usage.md", "usage elsewhere"), server.url)
    assert elsewhere["period"]["timezone"] == "Europe/Berlin"


def test_single_requests(server: Server):
    (answer,) = answers(block("docs/usage.md", "requests"), server.url)
    _, said = shown("docs/usage.md")
    assert list(answer) == list(said)
    assert set(answer["totals"]) == set(said["totals"])


def test_an_app_with_users(server: Server, upstream: Scripted):
    upstream.script("examples", [Say("Oat biscuits.")])
    page = "docs/keys.md"
    switched, chat, saved, listed, *exported = answers(block(page, "users"), server.url)
    assert switched["memories_save_enabled"]
    assert chat["choices"][0]["message"]["content"] == "Oat biscuits."
    assert saved["id"] in {one["id"] for one in listed["memories"]}
    assert exported[-1]["type"] == "end"
    kept, receipt = answers(block(page, "deletion"), server.url)
    assert kept["memories"] >= len(listed["memories"]) > 0
    assert receipt["deleted"]
    assert receipt["verified"]


def test_searches_of_agents(server: Server):
    profile = {"favoriteColor": "blue", "since": "2024-01-15"}
    payment = {"text": "She pays by invoice"}
    facts = [{"kind": "UserProfile", "data": profile},
             {"kind": "Payment", "data": payment, "tags": ["2026", "open"]}]  # fmt: skip
    posted = {"agentId": "concierge", "subjectId": "alice", "memories": facts}
    answer = server.post("/v1/memories", posted, authorization="Bearer examples")
    answer.raise_for_status()
    pays, invoices, topics, both = answers(block("docs/agent-memories.md", "search"), server.url)
    assert pays["success"]
    assert [row["kind"] for row in invoices["memories"]] == ["Payment"]
    assert "clusters" in topics
    assert len(both["results"]) == 2
    *_, said = shown("docs/agent-memories.md")
    row, told = invoices["memories"][0], said["memories"][0]
    assert list(row) == list(told)
    assert set(told["context"]) <= set(row["context"])


def test_a_conversation_that_fills_schemas_needs_a_model(server: Server):
    key = {"authorization": "Bearer extraction"}
    (posted,) = [one for one in shown("docs/agent-memories.md") if "conversation" in one]
    schema = {"name": "UserProfile", "uniqueOn": ["name"], "json_schema": PROFILE}
    server.post("/v1/schemas", schema, **key).raise_for_status()
    assert posted.pop("model")
    answer = server.post("/v1/memories", posted, **key)
    assert answer.json()["error"]["code"] == "model_needed"

"""MCP clients in JavaScript: both generations of the official SDK, and the AI SDK's own.

`make node` installs them. Without node these tests are skipped at the desk and fail in CI.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from memtree_proxy.mcp.listed_tools import BY_NAME
from tests.clients.programs.test_mcp_stdio import command
from tests.programs.server import PATIENCE, Server

pytestmark = [pytest.mark.slow, pytest.mark.clients]

HERE = Path(__file__).parents[1] / "node"
PACKAGES = ("@modelcontextprotocol/sdk", "@modelcontextprotocol/client", "@ai-sdk/mcp")
FACT = "My son Colby lives in Los Angeles."
CALLS = [
    {"name": "remember", "arguments": {"text": FACT, "tags": ["family"]}},
    {"name": "recall", "arguments": {"query": "Where does Colby live?", "tags": ["family"]}},
    {"name": "remember", "arguments": {"text": ""}},
    {"name": "forget", "arguments": {"id": 77}},
    {"name": "erase_everything", "arguments": {}},
]


@pytest.fixture(scope="module")
def node() -> str:
    found = shutil.which("node")
    if found and all((HERE / "node_modules" / package).is_dir() for package in PACKAGES):
        return found
    missing = "the MCP clients are not installed: `make node` does it, and needs node and npm"
    if "CI" in os.environ:
        pytest.fail(missing)
    pytest.skip(missing)


def said(node: str, **given: Any) -> Any:
    run = subprocess.run(
        [node, "mcp.mjs"], cwd=HERE, input=json.dumps({"calls": CALLS, **given}),
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def check(told: Any) -> None:
    assert [tool["name"] for tool in told["tools"]] == list(BY_NAME)
    saved, found, empty, unknown = told["results"]
    for result in told["results"]:
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert saved["structuredContent"]["message"] == "Ok"
    assert [one["text"] for one in found["structuredContent"]["memories"]] == [FACT]
    assert empty["isError"]
    assert empty["structuredContent"]["error"] == "INVALID_INPUT"
    assert unknown["structuredContent"]["error"] == "NOT_FOUND"
    (error,) = told["errors"]
    assert "Unknown tool" in error


@pytest.mark.parametrize(
    "client", ["first", *(pytest.param(one, marks=pytest.mark.long) for one in ("second", "ai"))]
)
def test_over_http(node: str, server: Server, client: str) -> None:
    headers = {"authorization": f"Bearer {client}"}
    check(said(node, client=client, url=f"{server.url}/mcp", headers=headers))


# The AI SDK asks for the newer protocol, and for the older one after a second without an answer.
@pytest.mark.long
@pytest.mark.parametrize("client", ["first", "ai"])
def test_over_stdio(node: str, tmp_path: Path, client: str) -> None:
    check(said(node, client=client, command=command(tmp_path)))

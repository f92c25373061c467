"""The examples of docs/remember.md, carried out with the embedder that comes along."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memtree.models.local_embedder import LocalEmbedder
from memtree_proxy.cli.main import build_parser
from memtree_proxy.mcp.listed_tools import BY_NAME, REMEMBER
from memtree_proxy.mcp.tool_answers import CODES, INTERNAL
from tests.http.served.mcp_client import OLD, remembering

PAGE = (Path(__file__).parents[3] / "docs" / "remember.md").read_text("utf-8")
ADDRESS = "http://127.0.0.1:8787/mcp"
STORE = "sqlite:////home/ann/memtree.db"
_ID = re.compile(r"\bmem_[0-9a-f]+")
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> list[str]:
    return [match[2] for match in _BLOCK.finditer(PAGE) if match[1] == kind]


def masked(value: Any, name: str = "") -> Any:
    """Ids and times differ from run to run, relevance with the embedder."""
    if isinstance(value, dict):
        return {key: masked(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [masked(one) for one in value]
    if isinstance(value, str):
        value = _ID.sub("mem_...", value)
    if value is not None and (name in ("at", "day") or name.endswith("_at")):
        return "..."
    return "0 to 1" if name == "relevance" and 0 <= value <= 1 else value


def examples() -> Iterator[tuple[Any, Any]]:
    """Calls and what they answer, in the order of the page."""
    shown = [json.loads(block) for block in blocks("json")]
    calls = [at for at, one in enumerate(shown) if "arguments" in one]
    assert len(calls) >= 5
    for at in calls:
        yield shown[at], shown[at + 1]


@pytest.mark.slow
async def test_calls_answer_what_the_page_says() -> None:
    embedder = LocalEmbedder()
    await embedder.warm_up()
    try:
        async with remembering(embedder=embedder) as mcp:
            for call, answer in examples():
                told = await mcp.call(call["name"], **call["arguments"])
                assert masked(told) == masked(answer), call
    finally:
        await embedder.close()


async def test_the_request_with_curl() -> None:
    (line,) = [line for block in blocks("sh") for line in block.splitlines() if "curl" in line]
    _, url, _, header, _, body = shlex.split(line)
    assert url == ADDRESS
    name, _, value = header.partition(": ")
    async with remembering(version=OLD) as mcp:
        answer = await mcp.client.post("/mcp", content=body, headers={name: value})
    assert answer.json()["result"]["structuredContent"] == {"ok": True, "memories": []}


def servers() -> Iterator[dict[str, Any]]:
    """The entries of the clients' files."""
    for block in blocks("toml"):
        yield tomllib.loads(block)["mcp_servers"]["memtree"]
    for block in blocks("json"):
        shown = json.loads(block)
        for key in ("mcp", "mcpServers"):
            if key in shown:
                yield shown[key]["memtree"]


def commands() -> Iterator[list[str]]:
    """Yield the commands that clients start, in files and by Claude Code's command."""
    for one in servers():
        if "command" in one:
            command = one["command"]
            yield command if isinstance(command, list) else [command, *one["args"]]
    for block in blocks("sh"):
        for line in block.splitlines():
            if "--transport stdio" in line:
                yield shlex.split(line.partition(" -- ")[2])


def test_configurations_name_what_there_is() -> None:
    assert len(list(servers())) == 6
    for one in servers():
        if "url" in one:
            assert one["url"] == ADDRESS
            assert "MEMORY_KEY" in str(one)
    assert len(list(commands())) == 4
    for program, *arguments in commands():
        assert program == "memtree"
        options = build_parser().parse_args(arguments)
        assert options.store == STORE


def test_the_tables_are_complete() -> None:
    for name in [*BY_NAME, *REMEMBER.input_schema["properties"], *dict(CODES).values(), INTERNAL]:
        assert f"| `{name}` |" in PAGE, name

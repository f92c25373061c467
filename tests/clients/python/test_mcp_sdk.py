"""The official MCP client for Python against a real server: both eras, over HTTP and stdio."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from memtree_proxy.mcp.listed_tools import BY_NAME
from tests.clients.programs.test_mcp_stdio import command, environment
from tests.programs.server import PATIENCE, Server

pytestmark = [pytest.mark.slow, pytest.mark.clients]

FACT = "My son Colby lives in Los Angeles."
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28"}


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client speaks the older protocol where 10 s have not brought an answer in the newer."""
    monkeypatch.setattr("mcp.client.session.DISCOVER_TIMEOUT_SECONDS", PATIENCE)


@asynccontextmanager
async def over_http(server: Server, mode: str, **headers: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE, trust_env=False) as http,
        Client(streamable_http_client(f"{server.url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(folder: Path, mode: str) -> AsyncIterator[Client]:
    program, *args = command(folder)
    given = StdioServerParameters(command=program, args=args, env=environment(), cwd=folder)
    async with Client(stdio_client(given), mode=mode) as client:
        yield client


async def session(client: Client) -> None:
    """Do what a model would do in a conversation."""
    listed = await client.list_tools()
    assert [tool.name for tool in listed.tools] == list(BY_NAME)
    assert client.server_info
    assert client.server_info.name == "memtree"
    saved = await called(client, "remember", text=FACT, tags=["family"], capture_mode="explicit")
    assert saved["message"] == "Ok"
    again = await called(client, "remember", text=FACT, dedup_policy="skip_if_near")
    assert (again["message"], again["memory_id"]) == ("Already remembered", saved["memory_id"])
    found = await called(client, "recall", query="Where does Colby live?")
    assert [one["text"] for one in found["memories"]] == [FACT]
    new = await called(client, "correct", id=saved["memory_id"], text=FACT.replace("Los", "Las"))
    await called(client, "confirm", id=new["id"])
    page = await called(client, "list_memories", tags=["family"])
    assert [one["memory_id"] for one in page["memories"]] == [new["memory_id"]]
    await called(client, "forget", id=new["memory_id"], reason="a test")
    refused = await client.call_tool("forget", {"id": new["memory_id"]})
    assert refused.is_error
    assert refused.structured_content["error"] == "NOT_FOUND"
    with pytest.raises(MCPError, match="Unknown tool"):
        await client.call_tool("erase_everything", {})


async def called(client: Client, tool: str, **given: Any) -> Any:
    """The client itself checks the answer against the tool's schema."""
    result = await client.call_tool(tool, given)
    assert not result.is_error, result
    return result.structured_content


@pytest.mark.parametrize("mode", MODES)
async def test_over_http(server: Server, mode: str) -> None:
    async with over_http(server, mode, authorization=f"Bearer {mode}") as client:
        assert client.protocol_version == MODES[mode]
        await session(client)


@pytest.mark.parametrize("mode", [pytest.param("legacy", marks=pytest.mark.long), "auto"])
async def test_over_stdio(tmp_path: Path, mode: str) -> None:
    async with over_stdio(tmp_path, mode) as client:
        assert client.protocol_version == MODES[mode]
        await session(client)


async def test_users_of_one_tenant(server: Server) -> None:
    bearer = {"authorization": "Bearer shared"}
    async with (
        over_http(server, "auto", **bearer, **{"x-user-id": "ann"}) as ann,
        over_http(server, "legacy", **bearer, **{"x-user-id": "bob"}) as bob,
    ):
        await called(ann, "remember", text=FACT)
        assert (await called(bob, "list_memories"))["total"] == 0
        assert (await called(ann, "list_memories"))["total"] == 1


async def test_the_log_of_the_server_holds_no_memory(server: Server) -> None:
    async with over_http(server, "auto", authorization="Bearer logged") as client:
        await called(client, "remember", text=FACT)
    log = server.logged("mcp.call tool=remember")
    assert "Colby" not in log
    assert "Traceback" not in log

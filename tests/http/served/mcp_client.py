"""The memory tools at `/mcp` in this process, over a real store, and every answer checked: its text
is its structured content, and both fit the schema that the tool lists."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import jsonschema_rs

from memtree.config import Settings
from memtree.errors import EmbedderUnavailable
from memtree.jobs.memory_services import open_book
from memtree.jobs.runtime import SystemClock
from memtree.memories.book import MemoryBook
from memtree.ports.context_store import Credentials
from memtree.ports.models import Embedder, Matrix
from memtree.stores import Opened, RamStore, open_memories, store_file
from memtree.stores.sqlite.sqlite_database import SqliteStore
from memtree_proxy.mcp.listed_tools import BY_NAME
from memtree_proxy.server.app import create_app
from tests.fakes import LONG, HashingEmbedder
from tests.http.served.fakes import services

OLD, NEW = "2025-11-25", "2026-07-28"  # the newest version of each era of the protocol
ACCEPTED = "application/json, text/event-stream"
META = "io.modelcontextprotocol/"


class DeadEmbedder(HashingEmbedder):
    """It cannot be reached."""

    async def embed(self, texts: Any) -> Matrix:
        raise EmbedderUnavailable("nobody answers")

    async def embed_query(self, text: str) -> Matrix:
        raise EmbedderUnavailable("nobody answers")


class MovedClock(SystemClock):
    """The time of day; `ahead`: by so many seconds."""

    ahead = 0.0

    def now(self) -> float:
        return super().now() + self.ahead


@dataclass(slots=True)
class Mcp:
    """A client of the tools, in one era of the protocol. `headers`: of every request. `clock`: of
    the memories."""

    client: httpx.AsyncClient
    book: MemoryBook
    store: Opened
    clock: MovedClock
    version: str = NEW
    headers: Mapping[str, str] = field(default_factory=dict)
    ids: Any = field(default_factory=lambda: itertools.count(1))

    def beside(self, **changes: Any) -> Mcp:
        """Another client of the same server."""
        own = {"version": self.version, "headers": self.headers} | changes
        return Mcp(self.client, self.book, self.store, self.clock, **own)

    async def post(self, method: str, params: Any, **headers: str) -> httpx.Response:
        """A request of the protocol, as a client sends it. `headers`: with `_` for `-`."""
        own = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": self.version,
        }
        if self.version == NEW:
            own["mcp-method"] = method
            params = {**params, "_meta": {META + "protocolVersion": NEW,
                                          META + "clientCapabilities": {}}}  # fmt: skip
        if method == "tools/call" and self.version == NEW:
            own["mcp-name"] = params["name"]
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        body = {"jsonrpc": "2.0", "id": next(self.ids), "method": method, "params": params}
        return await self.client.post(
            "/mcp",
            content=json.dumps(body),
            headers={"content-type": "application/json", **own, **self.headers, **named},
        )

    async def result(self, method: str, params: Any, **headers: str) -> Any:
        answer = await self.post(method, params, **headers)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    async def call(self, tool: str, **given: Any) -> Any:
        """Return what the tool answered; `ok` says whether it was carried out."""
        params = {"name": tool, "arguments": given}
        result = await self.result("tools/call", params)
        content = result["structuredContent"]
        (said,) = result["content"]
        assert said["type"] == "text"
        assert json.loads(said["text"]) == content
        assert result.get("isError", False) is not content["ok"]
        jsonschema_rs.validate(BY_NAME[tool].output_schema, content)
        return content

    async def ok(self, tool: str, **given: Any) -> Any:
        content = await self.call(tool, **given)
        assert content["ok"] is True, content
        return content

    async def refused(self, tool: str, code: str, **given: Any) -> str:
        """The message of a refusal with this code."""
        content = await self.call(tool, **given)
        assert content == {"ok": False, "error": code, "message": content["message"]}, content
        return str(content["message"])

    async def remembered(self, text: str, **given: Any) -> int:
        """The number of a new memory."""
        return int(
            (await self.ok("remember", text=text, dedup_policy="insert", **given))["memory_id"]
        )

    async def texts(self, query: str, **given: Any) -> list[str]:
        found = await self.ok("recall", query=query, **given)
        return [one["text"] for one in found["memories"]]

    async def all(self, **given: Any) -> list[Any]:
        return list((await self.ok("list_memories", limit=100, **given))["memories"])


@asynccontextmanager
async def remembering(
    *,
    version: str = NEW,
    embedder: Embedder | None = None,
    keys: Credentials | None = None,
    store: str = "memory:",
    host: str = "localhost",
    **settings: Any,
) -> AsyncIterator[Mcp]:
    """`settings`: those that differ."""
    clock, path = MovedClock(), store_file(store)
    opened: Opened = SqliteStore(path, now=clock.now) if path else RamStore(now=clock.now)
    memories = open_memories(opened)
    embedder = embedder or HashingEmbedder()
    given = Settings(**{"embedding_seconds": LONG, **settings})
    book = open_book(given, memories, clock, embedder)
    book.start()
    app = create_app(services(None, keys=keys, book=book, memories=memories, **settings))
    transport = httpx.ASGITransport(app)
    try:
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
            client.headers.clear()
            yield Mcp(client, book, opened, clock, version)
    finally:
        await app.state.mcp.close()
        await book.close()
        await opened.close()

"""Shared by the tests of agents' memories: the app over an empty store, and what is asked of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from memtree.memories.agents.schemas.schema_book import SchemaBook
from memtree.memories.book import MemoryRules
from memtree.memories.scope import Scope
from memtree.ports.models import Embedder
from memtree.ports.store import Credentials
from memtree_proxy.access.auth import tenant_id
from tests.http.served.fakes import FakeKeys, FakeMemory, edge
from tests.unit.memories.books import Opened, opened

KEY = {"authorization": "Bearer key"}
AGENT = "agent-007"
# A kind of which each scope has one memory with one name, and a kind without such a rule.
PROFILE = (
    "UserProfile",
    '{"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, '
    '"required": ["name"], "additionalProperties": false}',
    ("name",),
)
INTERACTION: tuple[str, str, tuple[str, ...]] = (
    "Interaction",
    '{"type": "object", "properties": {"topic": {"type": "string"}}}',
    (),
)


class Agents:
    def __init__(self, client: httpx.AsyncClient, opened: Opened) -> None:
        self.client, self.opened, self.book = client, opened, opened.book
        self.tenant = tenant_id("key")
        self.book_of_schemas = SchemaBook(opened.store, opened.clock)

    async def ask(self, method: str, path: str = "", **more: Any) -> httpx.Response:
        """`path`: below the memories."""
        headers = {**KEY, **more.pop("headers", {})}
        return await self.client.request(method, f"/v1/memories{path}", headers=headers, **more)

    async def got(self, method: str, path: str = "", status: int = 200, **more: Any) -> Any:
        """The JSON of an answer with this status."""
        answer = await self.ask(method, path, **more)
        assert answer.status_code == status, answer.text
        return answer.json()

    async def post(
        self, *memories: dict[str, Any], agent: str = AGENT, **fields: Any
    ) -> httpx.Response:
        headers = fields.pop("headers", {})
        posted = {"agentId": agent, "memories": memories, **fields}
        return await self.ask("POST", json=posted, headers=headers)

    async def stored(
        self, *memories: dict[str, Any], agent: str = AGENT, **fields: Any
    ) -> dict[str, Any]:
        """Return what became of memories that were all taken."""
        answer = await self.post(*memories, agent=agent, **fields)
        assert answer.status_code in (200, 201), answer.text
        shown: dict[str, Any] = answer.json()
        assert shown["success"] is True
        return shown

    async def noted(self, text: str = "Call", agent: str = AGENT, **fields: Any) -> str:
        """The id of one new memory."""
        shown = await self.stored({"kind": "Note", "data": {"text": text}}, agent=agent, **fields)
        (row,) = shown["created"]
        id_: str = row["id"]
        return id_

    async def rows(self, agent: str = AGENT, **query: Any) -> list[dict[str, Any]]:
        answer = await self.got("GET", params={"agentId": agent, **query})
        rows: list[dict[str, Any]] = answer["memories"]
        return rows

    async def data(self, agent: str = AGENT, **query: Any) -> list[dict[str, Any]]:
        """Return the data of all that is listed, the newest first."""
        return [row["data"] for row in await self.rows(agent, **query)]

    async def one(self, id_: str, **query: Any) -> dict[str, Any]:
        memory: dict[str, Any] = (await self.got("GET", f"/{id_}", params=query))["memory"]
        return memory

    async def schemas(self, *kinds: tuple[str, str, tuple[str, ...]]) -> None:
        """Kinds with their schemas and what is unique of them."""
        for kind, document, unique_on in kinds:
            await self.book_of_schemas.put(self.tenant, kind, document, unique_on)

    def scope(self, agent: str = AGENT, subject: str = "") -> Scope:
        return Scope.of_agent(self.tenant, agent, subject)


@asynccontextmanager
async def agents(
    embedder: Embedder | None = None,
    keys: Credentials | None = None,
    rules: MemoryRules | None = None,
    beside: Opened | None = None,
    base: str | None = None,
    **settings: Any,
) -> AsyncIterator[Agents]:
    """`beside`: another server on the same store. `base`: the upstream's address."""
    async with opened(embedder, rules, beside) as of:
        keys = keys or FakeKeys()
        made = edge(base, FakeMemory(), keys, book=of.book, memories=of.store, **settings)
        async with made as client:
            yield Agents(client, of)

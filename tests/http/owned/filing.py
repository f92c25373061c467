"""Shared by the tests of documents: the app with a book of memories, and what is asked of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from memtree.memories.book import MemoryRules
from memtree.ports.models import Embedder
from tests.http.served.fakes import FakeKeys, FakeMemory, edge
from tests.unit.memories.books import Opened, opened

KEY = {"authorization": "Bearer key"}
PORTS = "# Ports\n\nStaging listens on port 8090.\n"
LONG = "".join(f"# Chapter {n}\n\n" + f"It is about subject {n}. " * 30 + "\n\n" for n in range(9))
FIELDS = {
    "id", "type", "metadata", "passages", "characters", "masked_secrets", "created_at",
}  # fmt: skip


class Filing:
    def __init__(self, client: httpx.AsyncClient, on: Opened) -> None:
        self.client, self.on = client, on

    async def ask(
        self, method: str, path: str, namespace: str = "handbook", **more: Any
    ) -> httpx.Response:
        """`path`: below the namespace."""
        headers = {**KEY, **more.pop("headers", {})}
        url = f"/v1/rag/{namespace}{path}"
        return await self.client.request(method, url, headers=headers, **more)

    async def post(
        self, id_: Any = "ports.md", text: Any = PORTS, namespace: str = "handbook", **more: Any
    ) -> httpx.Response:
        posted = {"id": id_, "text": text, **more}
        return await self.ask("POST", "/documents", namespace, json=posted)

    async def put(self, *args: Any, **more: Any) -> dict[str, Any]:
        answer = await self.post(*args, **more)
        assert answer.status_code == 201, answer.text
        row: dict[str, Any] = answer.json()
        return row

    async def rows(self, namespace: str = "handbook", **query: Any) -> list[dict[str, Any]]:
        answer = await self.ask("GET", "/documents", namespace, params=query)
        assert answer.status_code == 200, answer.text
        rows: list[dict[str, Any]] = answer.json()["documents"]
        return rows

    async def ids(self, namespace: str = "handbook", **query: Any) -> list[str]:
        return [row["id"] for row in await self.rows(namespace, **query)]

    async def found(
        self, query: str, namespace: str = "handbook", **more: Any
    ) -> list[dict[str, Any]]:
        answer = await self.ask("GET", "/search", namespace, params={"query": query, **more})
        assert answer.status_code == 200, answer.text
        rows: list[dict[str, Any]] = answer.json()["passages"]
        return rows


@asynccontextmanager
async def filing(
    embedder: Embedder | None = None, base: str | None = None, memory: Any = None, **settings: Any
) -> AsyncIterator[Filing]:
    rules = MemoryRules(most=settings.get("max_memories", 100_000))
    async with opened(embedder, rules) as on:
        memory = memory or FakeMemory()
        made = edge(base, memory, FakeKeys(), book=on.book, memories=on.store, **settings)
        async with made as client:
            yield Filing(client, on)

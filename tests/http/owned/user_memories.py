"""Shared by the tests of user memories: the app over an empty store, and what is asked of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from memtree.memories.book import MemoryRules
from memtree.memories.scope import Scope
from memtree.ports.models import Embedder
from memtree.ports.store import Credentials
from memtree_proxy.access.auth import tenant_id
from tests.http.served.fakes import FakeKeys, FakeMemory, edge
from tests.unit.memories.books import Opened, opened

KEY = {"authorization": "Bearer key"}
TYPESCRIPT = "User prefers TypeScript for new projects"
FIELDS = {
    "id", "number", "text", "category", "tags", "created_at", "updated_at", "expires_at",
    "deleted_at", "last_confirmed_at", "group_id", "group_title", "group_ids", "source_type",
    "conversation_id", "source", "tainted", "state", "standing", "twins",
    "possible_update_of", "version", "supersedes", "superseded_by",
}  # fmt: skip


class Users:
    """`user` None: the tenant itself."""

    def __init__(self, client: httpx.AsyncClient, opened: Opened) -> None:
        self.client, self.opened, self.book = client, opened, opened.book
        self.tenant = tenant_id("key")

    async def ask(
        self, method: str, path: str = "", user: str | None = None, **more: Any
    ) -> httpx.Response:
        """`path`: below the memories."""
        headers = {**KEY, **({"x-user-id": user} if user else {}), **more.pop("headers", {})}
        return await self.client.request(method, f"/v1/memories{path}", headers=headers, **more)

    async def got(
        self, method: str, path: str = "", user: str | None = None, status: int = 200, **more: Any
    ) -> Any:
        """The JSON of an answer with this status."""
        answer = await self.ask(method, path, user, **more)
        assert answer.status_code == status, answer.text
        return answer.json()

    async def saved(
        self, text: str = TYPESCRIPT, user: str | None = None, **fields: Any
    ) -> dict[str, Any]:
        row: dict[str, Any] = await self.got("POST", "", user, 201, json={"text": text, **fields})
        return row

    async def rows(self, user: str | None = None, **query: Any) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = (await self.got("GET", "", user, params=query))["memories"]
        return rows

    async def texts(self, user: str | None = None, **query: Any) -> list[str]:
        return [row["text"] for row in await self.rows(user, **query)]

    async def found(self, query: str, user: str | None = None, **more: Any) -> list[dict[str, Any]]:
        answer = await self.got("GET", "/search", user, params={"query": query, **more})
        rows: list[dict[str, Any]] = answer["memories"]
        return rows

    async def group(
        self, title: str = "Work Projects", user: str | None = None, **fields: Any
    ) -> dict[str, Any]:
        group: dict[str, Any] = await self.got(
            "POST", "/groups", user, 201, json={"title": title, **fields}
        )
        return group

    async def put(self, group: str, *ids: str, user: str | None = None) -> dict[str, Any]:
        """Memories into a group."""
        added: dict[str, Any] = await self.got(
            "POST", f"/groups/{group}/memories", user, json={"memory_ids": ids}
        )
        return added

    def scope(self, user: str = "") -> Scope:
        return Scope.of_user(self.tenant, user)


@asynccontextmanager
async def users(
    embedder: Embedder | None = None,
    keys: Credentials | None = None,
    rules: MemoryRules | None = None,
    beside: Opened | None = None,
    **settings: Any,
) -> AsyncIterator[Users]:
    """`beside`: another server on the same store."""
    async with opened(embedder, rules, beside) as of:
        keys = keys or FakeKeys()
        made = edge(None, FakeMemory(), keys, book=of.book, memories=of.store, **settings)
        async with made as client:
            yield Users(client, of)

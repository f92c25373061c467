"""Shared by the tests of chat memory: the app with a book of memories, and what is asked of it."""

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
DEADLINE = "The project deadline is March 15, 2026"
FIELDS = {
    "id", "content", "category", "source_type", "created_at", "updated_at", "expires_at",
    "deleted_at", "last_confirmed_at", "tags", "message_id", "tainted", "state", "standing",
    "twins", "possible_update_of",
    "version",
}  # fmt: skip


class Remembering:
    """`tenant`: whose memories the requests of `client` are about."""

    def __init__(self, client: httpx.AsyncClient, opened: Opened) -> None:
        self.client, self.opened, self.book = client, opened, opened.book
        self.tenant = tenant_id("key")

    async def ask(self, method: str, path: str, chat: str = "c1", **more: Any) -> httpx.Response:
        """`path`: below the chat."""
        headers = {**KEY, **more.pop("headers", {})}
        return await self.client.request(method, f"/chat/api/{chat}{path}", headers=headers, **more)

    async def post(
        self, content: Any = DEADLINE, chat: str = "c1", **fields: Any
    ) -> httpx.Response:
        posted = {"messageId": "msg_abc123", "content": content, **fields}
        return await self.ask("POST", "/memory", chat, json=posted)

    async def saved(
        self, content: str = DEADLINE, chat: str = "c1", **fields: Any
    ) -> dict[str, Any]:
        answer = await self.post(content, chat, **fields)
        assert answer.status_code == 201, answer.text
        row: dict[str, Any] = answer.json()
        return row

    async def rows(self, chat: str = "c1", **query: Any) -> list[dict[str, Any]]:
        answer = await self.ask("GET", "/memories", chat, params=query)
        assert answer.status_code == 200, answer.text
        rows: list[dict[str, Any]] = answer.json()["memories"]
        return rows

    async def texts(self, chat: str = "c1", **query: Any) -> list[str]:
        return [row["content"] for row in await self.rows(chat, **query)]

    async def found(self, query: str, chat: str = "c1", **more: Any) -> list[dict[str, Any]]:
        answer = await self.ask("GET", "/memories/search", chat, params={"query": query, **more})
        assert answer.status_code == 200, answer.text
        rows: list[dict[str, Any]] = answer.json()["memories"]
        return rows

    def scope(self, chat: str = "c1") -> Scope:
        return Scope.of_chat(self.tenant, chat)


@asynccontextmanager
async def remembering(
    embedder: Embedder | None = None,
    keys: Credentials | None = None,
    base: str | None = None,
    memory: Any = None,
    rules: MemoryRules | None = None,
    **settings: Any,
) -> AsyncIterator[Remembering]:
    async with opened(embedder, rules) as book:
        keys = keys or FakeKeys()
        made = edge(
            base, memory or FakeMemory(), keys, book=book.book, memories=book.store, **settings
        )
        async with made as client:
            yield Remembering(client, book)


def error(answer: httpx.Response, status: int, code: str, param: str | None) -> str:
    """The message of an error in the shape of the OpenAI API."""
    shown = answer.json()
    assert (answer.status_code, set(shown)) == (status, {"error"}), answer.text
    shown = shown["error"]
    assert set(shown) == {"message", "type", "param", "code", "request_id"}
    assert (shown["code"], shown["param"]) == (code, param), shown
    assert shown["type"] == "invalid_request_error"
    return str(shown["message"])

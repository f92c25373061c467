"""Shared by the tests of exports and imports: the app with a store of memories, and what is asked
of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import msgspec

from memtree.memories.scope import Scope
from memtree.ports.context_store import Credentials
from memtree_proxy.http.auth import tenant_id
from tests.http.served.fakes import FakeKeys, edge
from tests.unit.memories.books import Opened, opened

KEY = {"authorization": "Bearer key"}
OTHER = {"authorization": "Bearer other"}


class Transferring:
    """`scope`: whose memories the requests of `client` are about, where no user is named."""

    def __init__(self, client: httpx.AsyncClient, opened: Opened) -> None:
        self.client, self.opened, self.book, self.store = client, opened, opened.book, opened.store
        self.scope = Scope.of_user(tenant_id("key"))

    async def post(
        self, raw: bytes | str, headers: dict[str, str] | None = None, **query: Any
    ) -> httpx.Response:
        kind = {"content-type": "application/octet-stream"}
        return await self.client.post(
            "/v1/memories/import",
            content=raw if isinstance(raw, bytes) else raw.encode(),
            headers={**KEY, **kind, **(headers or {})},
            params=query,
        )

    async def imported(self, raw: bytes | str, **query: Any) -> dict[str, Any]:
        answer = await self.post(raw, **query)
        assert answer.status_code == 200, answer.text
        report: dict[str, Any] = answer.json()
        return report

    async def exported(self, headers: dict[str, str] | None = None) -> list[dict[str, Any]]:
        answer = await self.client.get("/v1/memories/export", headers={**KEY, **(headers or {})})
        assert answer.status_code == 200, answer.text
        return [msgspec.json.decode(line) for line in answer.content.splitlines()]

    async def texts(self, scope: Scope | None = None) -> list[str]:
        """Oldest first."""
        page = await self.store.page(scope or self.scope, limit=1_000)
        return [memory.text for memory in reversed(page.memories)]


@asynccontextmanager
async def transferring(
    keys: Credentials | None = None, **settings: Any
) -> AsyncIterator[Transferring]:
    async with opened() as book:
        made = edge(None, None, keys or FakeKeys(), book=book.book, memories=book.store, **settings)
        async with made as client:
            yield Transferring(client, book)


def lines(*objects: Any) -> bytes:
    return b"".join(msgspec.json.encode(each) + b"\n" for each in objects)


def statuses(report: dict[str, Any]) -> list[tuple[int, str, str]]:
    """Line, status and reason of what the report tells."""
    told: Iterable[dict[str, Any]] = report["lines"]
    return [(line["line"], line["status"], line.get("reason", "")) for line in told]

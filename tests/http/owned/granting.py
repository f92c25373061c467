"""A server whose clients have wallets, at a time that stands still."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from memtree.agents.grant import WalletStore
from memtree.agents.grant_book import GrantBook
from memtree.ports.context_store import Credentials
from memtree.stores import RamStore, open_memories
from memtree_proxy.server.app import create_app
from tests.http.served.fakes import services
from tests.made.wallets import FixedClock, Wallet


@dataclass(frozen=True)
class Granting:
    """`clock`: the server's."""

    client: httpx.AsyncClient
    clock: FixedClock

    async def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        wallet: Wallet | None = None,
        signed_path: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        """`wallet`: proves itself; `signed_path`: where it signs another than it asks for."""
        raw = b"" if body is None else json.dumps(body).encode()
        given = dict(headers or {})
        if body is not None:
            given["content-type"] = "application/json"
        if key is not None:
            given["authorization"] = f"Bearer {key}"
        if wallet is not None:
            given |= wallet.headers(method, signed_path or path, raw, self.clock.time)
        return await self.client.request(method, path, content=raw or None, headers=given)

    async def bind(self, wallet: Wallet, key: str | None = None) -> httpx.Response:
        return await self.ask("POST", "/wallets", key=key, wallet=wallet)

    async def wallets(self, key: str | None = None, wallet: Wallet | None = None) -> list[str]:
        answer = await self.ask("GET", "/wallets", key=key, wallet=wallet)
        assert answer.status_code == 200, answer.text
        return [row["address"] for row in answer.json()["wallets"]]


@asynccontextmanager
async def granting(
    keys: Credentials | None = None, store: WalletStore | None = None, **changes: Any
) -> AsyncIterator[Granting]:
    clock = FixedClock()
    built = services(None, keys=keys, **changes)
    book = GrantBook(store or open_memories(RamStore()), clock)
    granted = dataclasses.replace(built.memory_services.agents, grants=book)
    built = dataclasses.replace(
        built, memory_services=dataclasses.replace(built.memory_services, agents=granted)
    )
    transport = httpx.ASGITransport(create_app(built))
    async with httpx.AsyncClient(transport=transport, base_url="http://edge") as client:
        client.headers.clear()
        yield Granting(client, clock)


def refused(answer: httpx.Response) -> tuple[int, str | None]:
    """Its status, and what it names."""
    return answer.status_code, answer.json()["error"]["param"]

"""Shared by the tests of injection: the app over a store with memories, and what a model gets."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx

from memtree.clock import written
from memtree.context.context_memory import ContextMemory
from memtree.history import json_body
from memtree.jobs.memory_services import MemoryServices, new_memory_id
from memtree.jobs.runtime import SystemClock
from memtree.memories.book import MemoryBook
from memtree.memories.memory import Memory, MemoryChange, NewMemory
from memtree.memories.scope import Scope
from memtree.memories.search.scope_search import MemorySearch
from memtree.memories.search.vector_bytes import pack_vector, packed_terms
from memtree.memories.user_memories import SettingsChange
from memtree.ports.models import Embedder
from memtree.stores import open_memories, open_store
from memtree.text import memory_lines
from memtree.text.normal_form import text_hash
from memtree_proxy.http.auth import tenant_id
from memtree_proxy.server.app import create_app
from tests.fakes import LONG, HashingEmbedder
from tests.http.served.fakes import FakeMemory, services
from tests.http.served.upstream import FakeUpstream
from tests.made.shown_lines import lines_of

CHAT = "/v1/chat/completions"
KEY = {"authorization": "Bearer key"}

SYSTEM = {"role": "system", "content": "be brief"}
ASKED = "When is the project deadline, and which format do I prefer?"
DEADLINE = "The project deadline is March 15, 2026"
FORMAT = "I prefer the bullet format"
SAID = time.time()  # when all memories here were said
DAY = written(SAID)


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def section(*lines: str) -> str:
    return memory_lines.section(lines_of(lines))


def block(*lines: str) -> str:
    return memory_lines.block(lines_of(lines))


class Notebook:
    """The memories of a process. `tenant`: of whoever asks with `KEY`."""

    def __init__(self, url: str = "memory:", embedder: Embedder | None = None) -> None:
        self.store = open_store(url)
        self.memories = open_memories(self.store)
        self.embedder = embedder or HashingEmbedder()
        self.book = self.over(self.memories)
        self.saved = 0

    def over(self, store: Any, patience: float = LONG) -> MemoryBook:
        """The use cases over that store."""
        search = MemorySearch(store, self.embedder, now=time.time)
        return MemoryBook(store, store, search, SystemClock(), new_memory_id, patience=patience)

    def scope(self, chat: str = "c", tenant: str = "") -> Scope:
        return Scope.of_chat(tenant or self.tenant, chat)

    @property
    def tenant(self) -> str:
        return tenant_id("key")

    def user(self, name: str = "", tenant: str = "") -> Scope:
        return Scope.of_user(tenant or self.tenant, name)

    async def switch(self, scope: Scope, **switches: Any) -> None:
        """Switch on what a user switches on, as another process does it."""
        await self.memories.change_settings(scope, SettingsChange(**switches))

    async def save(
        self,
        text: str,
        category: str | None = "fact",
        chat: str = "c",
        scope: Scope | None = None,
        **more: Any,
    ) -> Memory:
        """A memory with its vector. `scope`: None for the chat's."""
        self.saved += 1
        scope = scope or self.scope(chat)
        new = NewMemory(
            f"mem_{scope.owner}{self.saved}", text, text_hash(text), packed_terms(text),
            time.time(), category=category, **{"last_confirmed": SAID, **more},
        )  # fmt: skip
        added = await self.memories.add(scope, new)
        await self._embed(scope, added.memory)
        return added.memory

    async def edit(self, memory: Memory, text: str, chat: str = "c") -> Memory:
        change = MemoryChange(time.time(), text, text_hash(text), packed_terms(text))
        changed = await self.memories.change(self.scope(chat), memory.id, change)
        await self._embed(self.scope(chat), changed)
        return changed

    async def delete(
        self,
        memory: Memory,
        *,
        purge: bool = False,
        chat: str = "c",
        scope: Scope | None = None,
    ) -> None:
        scope = scope or self.scope(chat)
        assert await self.memories.delete(scope, [memory.id], purge=purge)

    async def _embed(self, scope: Scope, memory: Memory) -> None:
        row = await HashingEmbedder().embed_query(memory.text)
        vectors = {memory.number: (memory.version, pack_vector(row))}
        await self.memories.put_vectors(scope, self.embedder.recipe, vectors)


class Chat:
    """A client of the app, and what its requests were when they reached the upstream. `waiting`:
    conversations that were handed over to be read for memories."""

    def __init__(
        self, client: httpx.AsyncClient, upstream: FakeUpstream, services: MemoryServices
    ) -> None:
        self.client, self.upstream, self.services = client, upstream, services

    @property
    def waiting(self) -> int:
        return len(self.services.extraction)

    async def post(
        self,
        messages: list[dict[str, Any]],
        chat: str | None = "c",
        fields: Any = None,
        **headers: str,
    ) -> httpx.Response:
        """`fields`: more of them, a dict."""
        body = {"model": "m", "messages": messages, **(fields or {})}
        return await self.send(json.dumps(body), chat, **headers)

    async def send(
        self, body: str | bytes, chat: str | None = "c", **headers: str
    ) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named |= {"x-chat-id": chat} if chat is not None else {}
        answer = await self.client.post(CHAT, content=body, headers={**KEY, **named})
        assert answer.status_code == 200
        return answer

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Return the messages of the last request to the upstream."""
        sent: list[dict[str, Any]] = json.loads(self.raw_messages)
        return sent

    @property
    def raw_messages(self) -> bytes:
        return json_body.split(self.upstream.last.body).fragment("messages") or b""


@asynccontextmanager
async def chatting(
    base: str,
    upstream: FakeUpstream,
    notebook: Notebook,
    memory: FakeMemory | ContextMemory | None = None,
    queue: Any = None,
    **settings: Any,
) -> AsyncIterator[Chat]:
    """`queue`: takes what is handed over to be read for memories; None: the real one, which is not
    started."""
    built = services(base, memory, book=notebook.book, memories=notebook.memories, **settings)
    if queue is not None:
        extracting = replace(built.memory_services.extracting, queue=queue)
        changed = replace(built.memory_services, extracting=extracting)
        built = replace(built, memory_services=changed)
    transport = httpx.ASGITransport(create_app(built))
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://edge") as client:
            client.headers.clear()
            client.headers["content-type"] = "application/json"
            yield Chat(client, upstream, built.memory_services)
    finally:
        await built.upstreams.close()

"""A book of memories over a store in RAM, with an embedder of hashed words."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

from memtree.errors import EmbedderUnavailable
from memtree.memories.book import MemoryBook, MemoryRules
from memtree.memories.search.scope_search import MemorySearch
from memtree.ports.models import Embedder, Matrix
from memtree.stores import Memories, RamStore, open_memories
from tests.fakes import LONG, HashingEmbedder


class HandClock:
    """A clock that a test sets; time between two looks is real."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.time = now

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()


class MoodyEmbedder(HashingEmbedder):
    """It fails while it is `down`, and takes `seconds` for each call."""

    def __init__(self) -> None:
        super().__init__()
        self.down = False
        self.seconds = 0.0

    async def embed(self, texts: Sequence[str]) -> Matrix:
        await asyncio.sleep(self.seconds)
        if self.down:
            raise EmbedderUnavailable("down")
        return await super().embed(texts)

    async def embed_query(self, text: str) -> Matrix:
        await asyncio.sleep(self.seconds)
        if self.down:
            raise EmbedderUnavailable("down")
        return await super().embed_query(text)


class Opened:
    """A book and what it stands on."""

    def __init__(
        self, embedder: Embedder | None, rules: MemoryRules, beside: Opened | None, **more: Any
    ) -> None:
        self.clock: HandClock = beside.clock if beside else HandClock()
        self.ids: Iterator[int] = beside.ids if beside else count(1)
        own = RamStore(now=self.clock.now)
        self.store: Memories = beside.store if beside else open_memories(own)
        self.search = self.search_with(embedder)
        self.book = MemoryBook(
            self.store,
            self.store,
            self.search,
            self.clock,
            lambda: f"mem_{next(self.ids):024x}",
            embedder=embedder,
            rules=rules,
            **{"patience": LONG, **more},
        )

    def search_with(self, embedder: Embedder | None) -> MemorySearch:
        return MemorySearch(self.store, embedder, now=self.clock.now)


@asynccontextmanager
async def opened(
    embedder: Embedder | None = None,
    rules: MemoryRules | None = None,
    beside: Opened | None = None,
    **more: Any,
) -> AsyncIterator[Opened]:
    """`beside`: another one, as of another process on the same store."""
    whole = Opened(embedder, rules or MemoryRules(), beside, **more)
    whole.book.start()
    try:
        yield whole
    finally:
        await whole.book.close()

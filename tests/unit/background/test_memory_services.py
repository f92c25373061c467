"""The use cases of saved memories, put together."""

from __future__ import annotations

import asyncio

from memtree.background.memory_services import open_memory_services
from memtree.background.runtime import SystemClock
from memtree.config import Settings
from memtree.memories.agents.agent_memory import AgentScopes
from memtree.memories.agents.search.agent_search import AgentQuery
from memtree.memories.draft import MemoryDraft
from memtree.memories.scope import Scope
from memtree.stores import RamStore, open_memories
from tests.fakes import LONG, HashingEmbedder

FACT = "The port of staging is 8090."


class Far(HashingEmbedder):
    """An embedder that takes longer than the default of `embedding_seconds`."""

    async def embed_query(self, text):
        await asyncio.sleep(0.4)
        return await super().embed_query(text)


async def degraded(settings: Settings) -> list[tuple[str, ...]]:
    """Return what a save, a search, a search of agents and a chat say."""
    services = open_memory_services(settings, open_memories(RamStore()), SystemClock(), Far())
    services.book.start()
    scope = Scope.of_agent("t", "a")
    saved = await services.book.save(scope, MemoryDraft(FACT))
    await services.book.join()
    agents = AgentQuery("which port?", AgentScopes("t", "a", None))
    found = [
        saved.degraded,
        (await services.book.search(scope, "which port?")).degraded,
        (await services.agent_search.search(agents)).degraded,
        (await services.book.injection.choose(scope, ["c"], "which port?")).degraded,
    ]
    await services.close()
    return found


async def test_all_wait_for_vectors_as_long_as_the_setting_says():
    assert await degraded(Settings(embedding_seconds=LONG)) == [()] * 4


async def test_nobody_waits_longer_than_the_setting_says():
    *others, chat = await degraded(Settings(embedding_seconds=0.01))
    assert others == [("embedder",)] * 3
    assert chat in (("embedder",), ("timeout",))  # a chat has a deadline for all of it

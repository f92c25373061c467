"""Search over real stores: what is found is what a look through all stored rows finds, whoever
changed them, and after a restart too."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator

import pytest

from memtree.memories.memory_store import ANY, StoredSegment
from memtree.memories.scope import Scope
from memtree.memories.search import scope_search
from memtree.memories.search.block_rows import ScopeIndex
from memtree.memories.search.query import Query
from memtree.memories.search.ranking import ranked
from memtree.memories.search.scope_search import MemorySearch
from memtree.stores import Memories, open_memories
from tests.contracts.memory_backends import START, Clock, InEveryStore
from tests.made.saved_memories import SCALE, TOPICS, TopicEmbedder, rewrite, save

CHAT, OTHER = Scope.of_chat("tenant", "chat"), Scope.of_chat("tenant", "other")
EMBEDDER = TopicEmbedder()
QUERIES = ("port and tea", "holiday rent", "the train of Ada", "nothing of this")


class TestHybridSearch(InEveryStore):
    LONG_IN_POSTGRES = ("test_it_finds_what_a_look_through_all_rows_finds",)

    @pytest.fixture
    async def search(self, memories: Memories, clock: Clock) -> AsyncIterator[MemorySearch]:
        search = MemorySearch(memories, TopicEmbedder(), now=clock)
        yield search
        await search.close()

    async def test_it_finds_what_a_look_through_all_rows_finds(self, memories, search, clock):
        rng = random.Random(7)
        ids: list[str] = []
        for step in range(40):
            if ids and rng.random() < 0.3:
                await change(memories, rng, rng.choice(ids), step)
            else:
                ids.append(await add(memories, rng, step))
            clock.time = START + step
            for query in QUERIES:
                assert await best(search, query) == await looked_through(memories, query, clock())

    async def test_another_process_is_seen_at_once(self, memories, search, store, clock):
        other = self.beside(store)
        try:
            theirs = open_memories(other)
            memory = await save(memories, CHAT, "The port is 8090", EMBEDDER)
            assert set(await best(search, "port")) == {memory.number}
            their_search = MemorySearch(theirs, TopicEmbedder(), now=clock)
            assert set(await best(their_search, "port")) == {memory.number}
            newer = await save(theirs, CHAT, "A port for tea", EMBEDDER)
            assert set(await best(search, "port")) == {memory.number, newer.number}
            await theirs.delete(CHAT, [memory.id])
            assert set(await best(search, "port")) == {newer.number}
            await theirs.delete(CHAT, [newer.id], purge=True)
            assert await best(search, "port") == {}
        finally:
            if other is not store:
                await other.close()

    async def test_after_a_restart_the_segment_finds_the_same(
        self, memories, search, clock, monkeypatch
    ):
        monkeypatch.setattr(scope_search, "SMALL", 20)
        rng = random.Random(3)
        ids = [await add(memories, rng, step) for step in range(40)]
        before = {query: await best(search, query) for query in QUERIES}
        await search.settled()
        assert await memories.segment(CHAT, EMBEDDER.recipe) is not None
        again = MemorySearch(memories, TopicEmbedder(), now=clock)
        assert {query: await best(again, query) for query in QUERIES} == before
        await memories.delete(CHAT, ids[:5])
        await add(memories, rng, 99)
        for query in QUERIES:
            expected = await looked_through(memories, query, clock())
            for one in (search, again, MemorySearch(memories, TopicEmbedder(), now=clock)):
                assert await best(one, query) == expected

    async def test_a_spoiled_segment_is_not_believed(self, memories, search, clock, monkeypatch):
        monkeypatch.setattr(scope_search, "SMALL", 20)
        rng = random.Random(3)
        for step in range(30):
            await add(memories, rng, step)
        await best(search, "port")
        await search.settled()
        kept = await memories.segment(CHAT, EMBEDDER.recipe)
        spoiled = StoredSegment(kept.changed + 1, kept.purges, kept.data[:-1] + b"\7")
        await add(memories, rng, 99)
        await memories.put_segment(CHAT, EMBEDDER.recipe, spoiled)
        again = MemorySearch(memories, TopicEmbedder(), now=clock)
        for query in QUERIES:
            assert await best(again, query) == await looked_through(memories, query, clock())

    async def test_scopes_and_filters_hold(self, memories, search):
        ours = await save(memories, CHAT, "Our port canary-a", EMBEDDER, id="mem_a")
        theirs = await save(memories, OTHER, "Their port canary-b", EMBEDDER, id="mem_b")
        assert set(await best(search, "port canary-b")) == {ours.number}
        assert set(await best(search, "port canary-a", OTHER)) == {theirs.number}


async def add(memories: Memories, rng: random.Random, step: int) -> str:
    text = " ".join(rng.choices(TOPICS, k=rng.randint(1, 4))) + f" {step}"
    memory = await save(
        memories,
        CHAT,
        text,
        EMBEDDER if rng.random() < 0.8 else None,
        id=f"mem_{step}",
        session_id=rng.choice([None, "s1", "s2"]),
        expires=rng.choice([None, None, START + step + 10]),
    )
    return memory.id


async def change(memories: Memories, rng: random.Random, id_: str, step: int) -> None:
    if not await memories.get(CHAT, [id_]):
        await memories.undelete(CHAT, [id_])
    elif rng.random() < 0.5:
        await rewrite(memories, CHAT, id_, f"{rng.choice(TOPICS)} again {step}", EMBEDDER)
    else:
        await memories.delete(CHAT, [id_], purge=rng.random() < 0.3)


Found = dict[int, tuple[float, float]]  # by number: score and relevance


async def best(search: MemorySearch, query: str, scope: Scope = CHAT) -> Found:
    hits = (await search.search(scope, query, wanted=ANY, limit=1_000)).hits
    return {hit.memory.number: (round(hit.score, 4), round(hit.relevance, 4)) for hit in hits}


async def looked_through(memories: Memories, query: str, now: float) -> Found:
    """By an index made of all rows for this one question."""
    rows = await memories.search_rows(CHAT, EMBEDDER.recipe, 0)
    (vector,) = await EMBEDDER.embed([query])
    found = ranked(ScopeIndex.of(rows), Query.of(query, vector), SCALE, now, most=1_000)
    values = zip(found.scores.tolist(), found.relevance.tolist(), strict=True)
    rounded = [(round(score, 4), round(relevance, 4)) for score, relevance in values]
    return dict(zip(found.numbers.tolist(), rounded, strict=True))

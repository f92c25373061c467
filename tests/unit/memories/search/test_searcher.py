"""Search over a store kept in lists."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from memtree.errors import EmbedderUnavailable
from memtree.memories.memory import Memory
from memtree.memories.ports import MemoryFilter, ScopeState, SearchRow, SearchRows
from memtree.memories.scope import Scope
from memtree.memories.search.searcher import MemorySearch
from memtree.memories.search.text_terms import packed_terms
from memtree.memories.search.vector_bytes import pack_vector

SCOPE = Scope.of_chat("acme", "c1")
TOPICS = ("port", "tea", "holiday", "rent")


@dataclass
class Embedder:
    """Counts topics. `fails`: raises; `seconds`: takes so long."""

    name: str = "topics"
    recipe: str = "topics"
    dimensions: int = len(TOPICS)
    relevant: float = 0.4
    fails: bool = False
    seconds: float = 0.0

    async def embed(self, texts):
        await asyncio.sleep(self.seconds)
        if self.fails:
            raise EmbedderUnavailable("down")
        rows = [[float(topic in text) for topic in TOPICS] for text in texts]
        made = np.array(rows, np.float32).reshape(-1, self.dimensions)
        return made / np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-9)

    async def embed_query(self, text):
        return (await self.embed([text]))[0]

    def forget(self): ...

    async def close(self): ...


@dataclass
class Rows:
    """What the search asks of a store."""

    memories: dict[int, Memory] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)
    embedded: dict[int, bytes] = field(default_factory=dict)
    changed: int = 0
    purges: int = 0
    asked: list[int] = field(default_factory=list)

    async def save(self, text: str, vector: bool = True, **fields) -> Memory:
        number = len(self.memories) + 1
        return await self.put(
            Memory(f"mem_{number}", number, text, 0.0, 0.0, **fields), vector=vector
        )

    async def put(self, memory: Memory, vector: bool = True) -> Memory:
        self.changed += 1
        self.memories[memory.number] = memory
        self.counts[memory.number] = self.changed
        self.embedded.pop(memory.number, None)
        if vector:
            self.embedded[memory.number] = pack_vector((await Embedder().embed([memory.text]))[0])
        return memory

    async def search_rows(self, scope, recipe, after):
        self.asked.append(after)
        rows = tuple(
            SearchRow(
                number,
                self.memories[number].live(-1),
                self.memories[number].expires,
                packed_terms(self.memories[number].text),
                self.embedded.get(number) if recipe == "topics" else None,
            )
            for number, count in sorted(self.counts.items())
            if count > after
        )
        return SearchRows(ScopeState(self.changed, 0, self.purges), rows)

    async def matching(self, scope, wanted):
        return [n for n, one in self.memories.items() if one.category == wanted.category]

    async def get(self, scope, refs, *, deleted=False):
        return [self.memories[ref] for ref in refs if self.memories[ref].live(10)]


@pytest.fixture
def store():
    return Rows()


@pytest.fixture
def search(store):
    return MemorySearch(store, Embedder(), now=lambda: 10.0)


def texts(found):
    return [hit.memory.text for hit in found.hits]


async def test_words_and_meaning_find(store, search):
    await store.save("The staging port is 8090")
    await store.save("Likes green tea")
    found = await search.search(SCOPE, "which port?")
    assert texts(found) == ["The staging port is 8090"]
    assert found.hits[0].relevance > 0.95
    assert found.degraded == ()


async def test_nothing_is_found_where_nothing_is(search):
    assert (await search.search(SCOPE, "port")).hits == ()


async def test_a_change_is_seen_at_once(store, search):
    memory = await store.save("The port is 8090")
    assert texts(await search.search(SCOPE, "port")) == ["The port is 8090"]
    await store.put(replace(memory, text="The tea is green"))
    assert texts(await search.search(SCOPE, "port")) == []
    assert texts(await search.search(SCOPE, "tea")) == ["The tea is green"]
    await store.put(replace(memory, deleted=5.0))
    assert texts(await search.search(SCOPE, "tea")) == []
    assert store.asked == [0, 1, 2, 2]


async def test_after_a_purge_the_index_is_made_anew(store, search):
    await store.save("The port is 8090")
    await store.save("The port is 8091")
    await search.search(SCOPE, "port")
    del store.memories[1], store.counts[1]
    store.purges, store.changed = 1, 3
    assert texts(await search.search(SCOPE, "port")) == ["The port is 8091"]
    assert store.asked[-1] == 0


async def test_what_expired_is_not_found(store, search):
    await store.save("The port is 8090", expires=9.0)
    await store.save("The port is 8091", expires=11.0)
    assert texts(await search.search(SCOPE, "port")) == ["The port is 8091"]


async def test_a_filter_holds_before_the_limit(store, search):
    for at in range(10):
        await store.save(f"The port is {at}", category="fact")
    await store.save("Prefers even port numbers for tea", category="preference")
    found = await search.search(SCOPE, "port", wanted=MemoryFilter(category="preference"), limit=1)
    assert texts(found) == ["Prefers even port numbers for tea"]


async def test_only_what_is_relevant_enough(store, search):
    await store.save("port")
    await store.save("port tea holiday rent")
    both = await search.search(SCOPE, "port")
    assert [hit.relevance >= 0.7 for hit in both.hits] == [True, False]
    assert texts(await search.search(SCOPE, "port", least=0.7)) == ["port"]


async def test_without_a_vector_words_rank_and_it_is_said(store, search):
    await store.save("The port is 8090", vector=False)
    found = await search.search(SCOPE, "port")
    assert found.hits[0].relevance == 0.75
    assert found.degraded == ("embedder",)


@pytest.mark.parametrize("trouble", [{"fails": True}, {"seconds": 60.0}])
async def test_an_embedder_that_fails_or_is_slow_is_done_without(store, trouble):
    await store.save("The port is 8090")
    search = MemorySearch(store, Embedder(**trouble), now=lambda: 10.0)
    found = await search.search(SCOPE, "port", patience=0.01)
    assert texts(found) == ["The port is 8090"]
    assert found.degraded == ("embedder",)


async def test_without_an_embedder_words_are_all_there_is(store):
    await store.save("The port is 8090")
    found = await MemorySearch(store, None, now=lambda: 10.0).search(SCOPE, "port")
    assert texts(found) == ["The port is 8090"]
    assert found.degraded == ()


async def test_another_embedder_starts_with_words(store):
    await store.save("The port is 8090")
    search = MemorySearch(store, Embedder(recipe="new"), now=lambda: 10.0)
    found = await search.search(SCOPE, "port")
    assert texts(found) == ["The port is 8090"]
    assert found.degraded == ("embedder",)


async def test_neighbours_by_vector_and_by_words(store, search):
    await store.save("The port is 8090")
    await store.save("Likes green tea")
    rows = await search.embed(["Our port"], None)
    near = await search.neighbours(SCOPE, "Our port", rows[0])
    assert [hit.memory.number for hit in near] == [1]
    assert near[0].relevance > 0.95
    assert [hit.memory.number for hit in await search.neighbours(SCOPE, "port", None)] == [1]

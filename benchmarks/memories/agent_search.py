"""Agents' memories: how long a search takes in one scope, in many small ones (ten memories each),
beside as many that another tenant shares; ten searches at once against one; a map of 500 memories.
In SQLite and PostgreSQL, which has 100,000 with `--long` alone. Texts are made up, their vectors
random; each search embeds its own query."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.memories.memory_speed import WARM, made_text, middle_and_worst, postgres_schema
from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.agents import clusters
from memtree.agents.agent_memory import AgentScopes
from memtree.agents.agent_search import AgentQuery, AgentSearch
from memtree.memories.memory import NewMemory
from memtree.memories.scope import Scope
from memtree.memories.search.scope_search import MemorySearch
from memtree.memories.search.vector_bytes import pack_vector, packed_terms
from memtree.models.local_embedder import (
    MEMORY_DIMENSIONS,
    MULTILINGUAL,
    LocalEmbedder,
    MemoryEmbedder,
)
from memtree.ports.models import Matrix
from memtree.stores import Memories, open_memories, open_store

SIZES = (1_000, 10_000, 100_000)
OF_A_SCOPE = 10
AT_ONCE = 1_000  # memories saved in one step
TIMES = 40
QUERIES = 10
GOAL = 3.0  # times as long as one


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="memtree-bench-") as folder:
        path = (bench.keep or Path(folder)) / "agent_search.db"
        rows += await _store("SQLite", f"sqlite:///{path}", SIZES)
        with postgres_schema(Path(folder)) as url:
            sizes = SIZES if bench.long else SIZES[:-1]
            rows += await _store("PostgreSQL", url, sizes) if url else []
    return rows, []


async def _store(name: str, url: str, sizes: Sequence[int]) -> list[Row]:
    rows: list[Row] = []
    embedder = MemoryEmbedder(LocalEmbedder(), LocalEmbedder(MULTILINGUAL))
    try:
        await embedder.ready()
        for size in sizes:
            await _fill(url, size, embedder.recipe)
            rows += await _measure(f"{name}, {size:,}", url, size, embedder)
    finally:
        await embedder.close()
    return rows


async def _measure(label: str, url: str, size: int, embedder: MemoryEmbedder) -> list[Row]:
    one = AgentScopes(f"one-{size}", "agent", "")
    many = AgentScopes(f"many-{size}", None, None)
    places = {
        "one scope": AgentQuery("", one),
        f"{size // OF_A_SCOPE:,} scopes": AgentQuery("", many),
        "one scope, as many shared": AgentQuery("", one, (many,)),
    }
    store = open_store(url)
    memories = open_memories(store)
    rows: list[Row] = []
    for place, asked in places.items():
        search = MemorySearch(memories, embedder, now=time.time)
        agents = AgentSearch(memories, search, now=time.time, patience=None)
        started = time.perf_counter()
        await agents.search(_query(asked, f"{label} first"))
        first = 1e3 * (time.perf_counter() - started)
        single = await _times(agents, asked, f"{label} {place}", 1)
        rows += [
            Row(f"{label}, {place}: first search, no index yet", first, "ms"),
            *middle_and_worst(f"{label}, {place}: search", single, {}),
        ]
        if not asked.shared:
            ten = await _times(agents, asked, f"{label} {place} ten", QUERIES)
            rows += middle_and_worst(f"{label}, {place}: ten searches at once", ten, {})
            rows.append(_ratio(f"{label}, {place}: ten against one", ten, single))
        if asked.own is many:
            far = MemorySearch(memories, Far(embedder), now=time.time)
            distant = AgentSearch(memories, far, now=time.time, patience=None)
            single = await _times(distant, asked, f"{label} far", 1)
            ten = await _times(distant, asked, f"{label} far ten", QUERIES)
            name = f"{label}, {place}: ten against one, embedder 100 ms away"
            rows.append(_ratio(name, ten, single))
            await far.close()
            took = await _maps(agents, asked, label)
            rows += middle_and_worst(f"{label}, {place}: map of 500", took, {})
        rows.append(Row(f"{label}, {place}: indexes", search.index_bytes / 2**20, "MiB"))
        await search.close()
    await store.close()
    return rows


class Far(MemoryEmbedder):
    """An embedder beyond a network: a call takes 100 ms, whatever is in it. Vectors say nothing."""

    def __init__(self, like: MemoryEmbedder) -> None:
        super().__init__(LocalEmbedder(), LocalEmbedder(MULTILINGUAL))
        self.recipe = like.recipe

    async def embed_queries(self, texts: Sequence[str]) -> Matrix:
        await asyncio.sleep(0.1)
        rows = np.random.default_rng(len(texts)).normal(size=(len(texts), MEMORY_DIMENSIONS))
        rows /= np.linalg.norm(rows, axis=1)[:, None]
        return rows.astype(np.float32)


def _ratio(name: str, ten: Sequence[float], one: Sequence[float]) -> Row:
    return Row(name, ten[len(ten) // 2] / one[len(one) // 2], "", GOAL, at_most=True)


def _query(asked: AgentQuery, seed: str) -> AgentQuery:
    words = made_text(random.Random(seed)).split()
    return AgentQuery(f"what is {words[0]} and {words[1]}?", asked.own, asked.shared)


async def _times(search: AgentSearch, asked: AgentQuery, seed: str, count: int) -> list[float]:
    """Milliseconds of so many searches at once, ascending; the first ones are not counted."""
    took = []
    for at in range(TIMES + WARM):
        queries = [_query(asked, f"{seed} {at} {number}") for number in range(count)]
        started = time.perf_counter()
        await search.search_many(queries)
        took.append(1e3 * (time.perf_counter() - started))
    return sorted(took[WARM:])


async def _maps(search: AgentSearch, asked: AgentQuery, seed: str) -> list[float]:
    took = []
    for at in range(TIMES // 4 + WARM):
        text = made_text(random.Random(f"{seed} map {at}"))
        query = AgentQuery(text, asked.own, limit=clusters.MOST, vectors=True)
        started = time.perf_counter()
        found = await search.search(query)
        await asyncio.to_thread(clusters.of_hits, found.hits, search.scale)
        took.append(1e3 * (time.perf_counter() - started))
    return sorted(took[WARM:])


async def _fill(url: str, size: int, recipe: str) -> None:
    """Two tenants with so many memories: one in one scope, one in many."""
    store = open_store(url)
    memories = open_memories(store)
    try:
        one = Scope.of_agent(f"one-{size}", "agent")
        for start in range((await memories.state(one)).total, size, AT_ONCE):
            await _save(memories, one, range(start, min(size, start + AT_ONCE)), recipe)
        there = len(await memories.scope_versions(AgentScopes(f"many-{size}", None, None)))
        for number in range(there, size // OF_A_SCOPE):
            scope = Scope.of_agent(f"many-{size}", f"agent-{number % 100}", f"s{number}")
            start = number * OF_A_SCOPE
            await _save(memories, scope, range(start, start + OF_A_SCOPE), recipe)
    finally:
        await store.close()


async def _save(memories: Memories, scope: Scope, which: range, recipe: str) -> None:
    texts = [made_text(random.Random(at)) for at in which]
    new = [
        NewMemory(
            f"mem_{at}", text, at.to_bytes(16, "big"), packed_terms(text), float(at), kind="Note"
        )
        for at, text in zip(which, texts, strict=True)
    ]
    added = await memories.add_many(scope, new)
    vectors = np.random.default_rng(which.start).normal(size=(len(new), MEMORY_DIMENSIONS))
    packed = {
        one.memory.number: (one.memory.version, pack_vector(row.astype(np.float32)))
        for one, row in zip(added, vectors, strict=True)
    }
    await memories.put_vectors(scope, recipe, packed)

"""Memories: how long a save and a search take beside 1,000, 10,000 and 100,000 memories of one
scope, in SQLite and PostgreSQL. Texts are made up, vectors of what was there before are random;
each save and each search embeds its own text. PostgreSQL has 100,000 with `--long` alone."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.jobs.memory_services import new_memory_id
from memtree.jobs.runtime import SystemClock
from memtree.memories.book import MemoryBook, MemoryRules
from memtree.memories.draft import DedupPolicy, MemoryDraft
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
from memtree.stores import Memories, open_memories, open_store
from tests.programs.postgres import drop_schema, store_url

SIZES = (1_000, 10_000, 100_000)
LARGE = SIZES[-1]
GOALS = {"search": 25, "first search after a restart": 300, "save": 15}  # ms, the middle one
TIMES = 60
WARM = 3
AT_ONCE = 50
VECTORS_AT_ONCE = 5_000
WORDS = 8  # of a text: about 20 tokens

Timed = Callable[[int], Awaitable[object]]


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="memtree-bench-") as folder:
        path = (bench.keep or Path(folder)) / "memory_speed.db"
        rows += await _store("SQLite", f"sqlite:///{path}", SIZES)
        with postgres_schema(Path(folder)) as url:
            sizes = SIZES if bench.long else SIZES[:-1]
            rows += await _store("PostgreSQL", url, sizes) if url else []
    return rows, []


@contextmanager
def postgres_schema(folder: Path) -> Iterator[str]:
    """An empty schema of the server that tests use; no address where there is none."""
    try:
        url = store_url(folder)
    except Exception:  # noqa: BLE001 - whatever keeps the server from starting
        yield ""
        return
    try:
        yield url
    finally:
        drop_schema(folder)


async def _store(name: str, url: str, sizes: Sequence[int]) -> list[Row]:
    rows: list[Row] = []
    embedder = MemoryEmbedder(LocalEmbedder(), LocalEmbedder(MULTILINGUAL))
    try:
        await embedder.ready()
        for size in sizes:
            scope = Scope.of_user("acme", f"size-{size}")
            await _fill(url, scope, size, embedder.recipe)
            rows += await _measure(f"{name}, {size:,}", url, scope, embedder, name == "SQLite")
    finally:
        await embedder.close()
    return rows


async def _measure(
    label: str, url: str, scope: Scope, embedder: MemoryEmbedder, judged: bool
) -> list[Row]:
    texts = [made_text(random.Random(f"{label} {at}")) for at in range(3 * (TIMES + WARM))]
    asked, injected, saved = texts[0::3], texts[1::3], texts[2::3]
    goals: Mapping[str, float] = GOALS if judged and label.endswith(f"{LARGE:,}") else {}
    await _make_segment(url, scope, embedder)
    store = open_store(url)
    memories, clock = open_memories(store), SystemClock()
    search = MemorySearch(memories, embedder, now=clock.now)
    book = MemoryBook(
        *(memories, memories, search, clock, new_memory_id),
        embedder=embedder,
        rules=MemoryRules(most=10 * LARGE),
    )
    before, started = _resident(), time.perf_counter()
    await search.search(scope, texts[0])
    first = 1e3 * (time.perf_counter() - started)
    found = await _times(lambda at: search.search(scope, asked[at]))
    again = await _times(lambda _: search.search(scope, asked[0]))
    inject = await _times(lambda at: search.search(scope, injected[at], least=0.5, limit=5))
    resident, kept = _resident() - before, search.index_bytes
    save = await _times(lambda at: book.save(scope, MemoryDraft(saved[at]), DedupPolicy.SKIP))
    await book.close()
    await store.close()
    return [
        _row(f"{label}: first search after a restart", first, goals),
        *middle_and_worst(f"{label}: search", found, goals),
        *middle_and_worst(f"{label}: search, vector known", again, {}),
        *middle_and_worst(f"{label}: search for injection", inject, {}),
        *middle_and_worst(f"{label}: save", save, goals),
        Row(f"{label}: bytes of the index", kept / 2**20, "MiB"),
        Row(f"{label}: resident more", resident, "MiB"),
    ]


async def _make_segment(url: str, scope: Scope, embedder: MemoryEmbedder) -> None:
    """Make the segment as the process before the restart left it."""
    store = open_store(url)
    search = MemorySearch(open_memories(store), embedder, now=SystemClock().now)
    await search.search(scope, "anything")
    await search.settled()
    await search.close()
    await store.close()


async def _times(one: Timed) -> list[float]:
    """Milliseconds of each call, ascending; the first ones are not counted."""
    took = []
    for at in range(TIMES + WARM):
        started = time.perf_counter()
        await one(at)
        took.append(1e3 * (time.perf_counter() - started))
    return sorted(took[WARM:])


def middle_and_worst(label: str, took: Sequence[float], goals: Mapping[str, float]) -> list[Row]:
    return [
        _row(label, took[len(took) // 2], goals, ", p50"),
        Row(f"{label}, p99", took[min(len(took) - 1, int(0.99 * len(took)))], "ms"),
    ]


def _row(label: str, figure: float, goals: Mapping[str, float], more: str = "") -> Row:
    goal = goals.get(label.split(": ")[1])
    return Row(f"{label}{more}", figure, "ms", goal, at_most=True)


async def _fill(url: str, scope: Scope, size: int, recipe: str) -> None:
    """Save made-up memories until there are so many, with random vectors."""
    store = open_store(url)
    memories = open_memories(store)
    try:
        there = (await memories.state(scope)).total
        for start in range(there, size, VECTORS_AT_ONCE):
            await _save(memories, scope, range(start, min(size, start + VECTORS_AT_ONCE)), recipe)
    finally:
        await store.close()


async def _save(memories: Memories, scope: Scope, which: range, recipe: str) -> None:
    numbers: list[tuple[int, int]] = []

    async def one(at: int) -> None:
        text = made_text(random.Random(at))
        id_ = f"mem_{scope.owner}_{at}"
        new = NewMemory(id_, text, at.to_bytes(16, "big"), packed_terms(text), float(at))
        memory = (await memories.add(scope, new)).memory
        numbers.append((memory.number, memory.version))

    for start in range(which.start, which.stop, AT_ONCE):
        part = range(start, min(which.stop, start + AT_ONCE))
        await asyncio.gather(*(one(at) for at in part))
    vectors = np.random.default_rng(which.start).normal(size=(len(numbers), MEMORY_DIMENSIONS))
    packed = {
        number: (version, pack_vector(row.astype(np.float32)))
        for (number, version), row in zip(numbers, vectors, strict=True)
    }
    await memories.put_vectors(scope, recipe, packed)


_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er")]


def made_text(rng: random.Random) -> str:
    """Words of made-up language, common ones often and rare ones seldom."""
    words = []
    for _ in range(WORDS):
        word = random.Random(int(20_000 ** rng.random()))
        words.append("".join(word.choices(_SYLLABLES, k=word.randint(1, 3))))
    return " ".join(words)


def _resident() -> float:
    """MiB that are resident now, where the system tells."""
    gc.collect()
    if sys.platform != "linux":
        return 0.0
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * 4096 / 2**20

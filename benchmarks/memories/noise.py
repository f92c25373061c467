"""Measure what is injected that nobody asked for, and what is missing that should be.

Scopes of 100, 1,000 and 10,000 generated memories (`made_memories.py`), searched as injection
searches them. Messages written by hand: 100 (and 40 later ones) that concern none of them; as many
that concern one memory which stands among the others. No outside data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import made_memories
from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.memories import memory_injection
from memtree.memories.memory import NewMemory
from memtree.memories.memory_choice import CHAT_OPTIONS
from memtree.memories.memory_store import MemoryStore
from memtree.memories.scope import Scope
from memtree.memories.search.ranking import MemoryHit, SearchResult
from memtree.memories.search.scope_search import MemorySearch
from memtree.memories.search.vector_bytes import pack_vector, packed_terms
from memtree.models.local_embedder import MULTILINGUAL, LocalEmbedder, MemoryEmbedder
from memtree.ports.models import Matrix
from memtree.ranking.relevance_scale import CHANCE
from memtree.stores import RamStore, open_memories
from memtree.text import normal_form

CASES = Path(__file__).parents[1] / "cases"
SIZES = {100: 5.0, 1_000: 15.0, 10_000: 30.0}  # memories: percent of messages that may get a hit
FOUND = 80.0  # percent
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Messages:
    """`unrelated`; `related`: with the memory that each concerns."""

    unrelated: list[str]
    related: list[tuple[str, str]]


def messages(*, later: bool) -> Messages:
    return Messages(
        _lines("noise_unrelated.txt", later),
        [
            (memory, message)
            for line in _lines("noise_related.txt", later)
            for memory, message in [line.split(" | ")]
        ],
    )


def _lines(name: str, later: bool) -> list[str]:
    first, _, second = (CASES / name).read_text("utf-8").partition("[later]\n")
    lines = (second if later else first).splitlines()
    return [line for line in lines if not line.startswith("#")]


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    embedder = MemoryEmbedder(LocalEmbedder(), LocalEmbedder(MULTILINGUAL))
    texts = made_memories.generated(max(SIZES))
    vectors = await embedder.embed(texts)
    rows: list[Row] = []
    for name, given in (("", messages(later=False)), ("later: ", messages(later=True))):
        own = [memory for memory, _ in given.related]
        own_vectors = await embedder.embed(own)
        for size, noise in SIZES.items():
            strangers = Scopes(texts[:size], vectors[:size])
            among = Scopes(
                [*own, *texts[: size - len(own)]],
                np.concatenate([own_vectors, vectors[: max(0, size - len(own))]]),
            )
            rows += await _noise(f"{name}{size} memories", strangers, embedder, given, noise)
            rows += await _found(f"{name}{size} memories", among, embedder, given)
    await embedder.close()
    return rows, []


class Scopes:
    """Memories and their vectors, to be put into a store."""

    def __init__(self, texts: Sequence[str], vectors: Matrix) -> None:
        self.texts, self.vectors = texts, vectors
        self.scope = Scope.of_user("t")

    async def search(
        self, embedder: MemoryEmbedder, store: MemoryStore | None = None
    ) -> MemorySearch:
        store = store or open_memories(RamStore(now=lambda: 0.0))
        await self._fill(store, embedder.recipe)
        return MemorySearch(store, embedder, now=lambda: 0.0)

    async def _fill(self, store: MemoryStore, recipe: str) -> None:
        for at, text in enumerate(self.texts):
            new = NewMemory(
                f"mem_{at}", text, normal_form.text_hash(text), packed_terms(text), float(at)
            )
            added = await store.add(self.scope, new)
            vector = {added.memory.number: (1, pack_vector(self.vectors[at]))}
            await store.put_vectors(self.scope, recipe, vector)


async def _noise(
    name: str, scopes: Scopes, embedder: MemoryEmbedder, given: Messages, most: float
) -> list[Row]:
    search = await scopes.search(embedder)
    injected = alone = 0
    for message in given.unrelated:
        hits = await asked(search, scopes, message)
        injected += bool(fitting(hits, message, len(scopes.texts)))
        alone += any(hit.relevance >= CHANCE for hit in hits.hits)
    await search.close()
    count = len(given.unrelated)
    return [
        Row(f"{name}: strangers that get one", 100 * injected / count, "%", most, at_most=True),
        Row(f"{name}: strangers over {CHANCE}", 100 * alone / count, "%"),
    ]


async def _found(name: str, scopes: Scopes, embedder: MemoryEmbedder, given: Messages) -> list[Row]:
    search = await scopes.search(embedder)
    injected = alone = 0
    for memory, message in given.related:
        hits = await asked(search, scopes, message)
        lines = fitting(hits, message, len(scopes.texts))[:SHOWN]
        injected += any(hit.memory.text == memory for hit in lines)
        alone += any(
            hit.memory.text == memory and hit.relevance >= CHANCE for hit in hits.hits[:SHOWN]
        )
    await search.close()
    count = len(given.related)
    return [
        Row(f"{name}: the one among five", 100 * injected / count, "%", FOUND),
        Row(f"{name}: the one among five, over {CHANCE}", 100 * alone / count, "%"),
    ]


async def asked(search: MemorySearch, scopes: Scopes, message: str) -> SearchResult:
    """Search with the options of injection."""
    limit, least = memory_injection.looked_at(message, CHAT_OPTIONS)
    return await search.search(scopes.scope, message, limit=limit, least=least)


def fitting(result: SearchResult, message: str, size: int) -> list[MemoryHit]:
    """The hits that are injected into a scope of so many memories."""
    return memory_injection.fitting(result, (message, ""), size, CHAT_OPTIONS)

"""Memories saved with their terms and vectors, as `MemoryBook` saves them, and an embedder whose
vectors a reader can foresee."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np

from memtree.errors import EmbedderUnavailable
from memtree.memories.memory import Memory, MemoryChange, NewMemory
from memtree.memories.memory_store import MemoryStore
from memtree.memories.scope import Scope
from memtree.memories.search.vector_bytes import pack_vector, packed_terms
from memtree.ports.models import Embedder, Matrix
from memtree.ranking.relevance_scale import RelevanceScale

TOPICS = ("port", "tea", "holiday", "rent", "Ada", "Grace", "train", "dog")


SCALE = RelevanceScale(0.4, 0.7)


@dataclass
class TopicEmbedder:
    """One dimension a topic, 1 where a text names it. `fails`: the model is down; `seconds`: it
    takes so long."""

    name: str = "topics"
    recipe: str = "topics"
    dimensions: int = len(TOPICS)
    relevant: float = 0.4
    scale: RelevanceScale = SCALE
    fails: bool = False
    seconds: float = 0.0
    asked: list[str] = field(default_factory=list)

    async def ready(self) -> None: ...

    async def embed(self, texts: Sequence[str]) -> Matrix:
        self.asked += texts
        await asyncio.sleep(self.seconds)
        if self.fails:
            raise EmbedderUnavailable("down")
        rows = [[float(topic in text) for topic in TOPICS] for text in texts]
        made = np.array(rows, np.float32).reshape(-1, len(TOPICS))
        return np.asarray(made / np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-9))

    async def embed_query(self, text: str) -> Matrix:
        return np.asarray((await self.embed([text]))[0])

    async def embed_queries(self, texts: Sequence[str]) -> Matrix:
        return await self.embed(texts)

    def reads(self, text: str) -> bool:
        return True

    def forget(self) -> None: ...

    async def close(self) -> None: ...


async def save(
    store: MemoryStore, scope: Scope, text: str, embedder: Embedder | None = None, **fields: Any
) -> Memory:
    """`embedder`: None leaves the memory without a vector."""
    digest = sha256(text.encode()).digest()[:16]
    given: dict[str, Any] = {"id": f"mem_{digest.hex()}", "created": 0.0} | fields
    added = await store.add(
        scope, NewMemory(text=text, text_hash=digest, terms=packed_terms(text), **given)
    )
    if embedder:
        await embed(store, scope, added.memory, embedder)
    return added.memory


async def rewrite(
    store: MemoryStore, scope: Scope, ref: str, text: str, embedder: Embedder | None = None
) -> Memory:
    change = MemoryChange(1.0, text, sha256(text.encode()).digest()[:16], packed_terms(text))
    memory = await store.change(scope, ref, change)
    if embedder:
        await embed(store, scope, memory, embedder)
    return memory


async def embed(store: MemoryStore, scope: Scope, memory: Memory, embedder: Embedder) -> None:
    (row,) = await embedder.embed([memory.text])
    packed = {memory.number: (memory.version, pack_vector(row))}
    await store.put_vectors(scope, embedder.recipe, packed)

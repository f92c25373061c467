"""Shared parts of every way of saving, beside the store: its turn, the look for duplicates, and
vectors, at once or later."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from memtree.errors import EmbedderUnavailable
from memtree.memories.memory import Memory, Tombstone
from memtree.memories.ports import MemoryMaintenance, MemoryStore
from memtree.memories.relation.relation import Relation, compare
from memtree.memories.saving.changes import ScopeWatch
from memtree.memories.saving.duplicates import DuplicateCheck, NearMemory, possible_updates
from memtree.memories.saving.pending_vectors import PendingVectors
from memtree.memories.scope import Scope
from memtree.memories.search.query_vectors import PATIENCE
from memtree.memories.search.searcher import MemorySearch
from memtree.memories.search.vector_bytes import pack_vector
from memtree.ports.models import Embedder

Vector = NDArray[np.float32]


class MemorySaving:
    """One per process. `patience`: seconds that vectors are waited for, None: as long as it takes.
    `strict`: what somebody saves needs its vector, however long that takes."""

    def __init__(
        self,
        store: MemoryStore,
        maintenance: MemoryMaintenance,
        search: MemorySearch,
        watch: ScopeWatch,
        embedder: Embedder | None,
        *,
        patience: float | None = PATIENCE,
        strict: bool = False,
    ) -> None:
        self._store, self._search, self._watch = store, search, watch
        self._embedder, self._strict = embedder, strict
        self._patience = None if strict else patience
        self._duplicates = DuplicateCheck(store, search)
        self._turns: WeakValueDictionary[Scope, asyncio.Lock] = WeakValueDictionary()
        self._pending = (
            PendingVectors(store, maintenance, embedder, self._settle)
            if embedder is not None
            else None
        )

    def start(self) -> None:
        """Begin work in the background."""
        if self._pending is not None:
            self._pending.start()

    async def join(self) -> None:
        """Until every memory has its vector."""
        if self._pending is not None:
            await self._pending.join()

    async def close(self) -> None:
        if self._pending is not None:
            await self._pending.close()

    def turn(self, scope: Scope) -> asyncio.Lock:
        """Return the lock of a scope in this process, one at a time: two that say nearly the same
        would not see each other."""
        return self._turns.setdefault(scope, asyncio.Lock())

    # -- duplicates --------------------------------------------------------------------------

    async def near(self, scope: Scope, text: str, vector: Vector | None) -> tuple[NearMemory, ...]:
        """Stored memories that a new text comes close to, the best first."""
        return await self._duplicates.near(scope, text, vector)

    async def keep_updates(
        self, scope: Scope, memory: Memory, near: Sequence[NearMemory]
    ) -> Memory:
        """Keep which memories one may replace, and tell them."""
        updates = [each for each in possible_updates(near) if each.id != memory.id]
        if not updates:
            return memory
        await self._store.put_updates(scope, memory.id, updates)
        return replace(memory, conflicting=True, updates=tuple(updates))

    async def corrected(self, scope: Scope, text: str) -> tuple[Tombstone, ...]:
        """Tombstones of texts that a new one comes close to."""
        return await self._duplicates.corrected(scope, text)

    def says_the_same(
        self, text: str, vector: Vector | None, other: str, others: Vector | None
    ) -> bool:
        """Return True if one of two new texts would be a duplicate of the other."""
        relevance = None
        embedder = self._embedder
        if embedder and vector is not None and others is not None and embedder.reads(text):
            relevance = embedder.scale.relevance(float(vector @ others))
        return compare(text, other, relevance).relation in (Relation.SAME, Relation.DUPLICATE)

    # -- vectors -----------------------------------------------------------------------------

    async def vectors_to_save(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Embed what somebody saves now: `EmbedderUnavailable` where the setting `strict_embedding`
        asks for vectors and they do not come."""
        return await self.vectors(texts, strict=self._strict)

    async def vectors(
        self, texts: Sequence[str], *, strict: bool = False, patience: float | None = None
    ) -> Sequence[Vector | None]:
        """One a text; None where the embedder is not there, or not quick enough. `strict`: then
        `EmbedderUnavailable`, where there is one at all. `patience`: seconds, instead of those that
        a save waits."""
        if self._embedder is None or not texts:
            return [None] * len(texts)
        vectors = await self._search.embed(texts, patience or self._patience)
        if vectors is not None:
            return list(vectors)
        if strict:
            raise EmbedderUnavailable("The embedder does not answer, and a memory needs a vector.")
        return [None] * len(texts)

    def degraded(self, vector: Vector | None) -> tuple[str, ...]:
        """Return what an answer says of a vector that is not there."""
        return ("embedder",) if vector is None and self._embedder is not None else ()

    async def keep_vectors(
        self, scope: Scope, rows: Sequence[tuple[Memory, Vector | None]], *, check: bool = False
    ) -> None:
        """Keep the vectors of memories that were just stored. Those that are None follow later;
        `check`: and so does the look for duplicates that they would have been needed for."""
        ready = {
            memory.number: (memory.version, pack_vector(vector))
            for memory, vector in rows
            if vector is not None
        }
        if ready and self._embedder is not None:
            await self._store.put_vectors(scope, self._embedder.recipe, ready)
        for memory, vector in rows:
            if vector is None:
                self.without_vectors(scope, memory.id if check else None)
        self._watch.wake(scope)

    def without_vectors(self, scope: Scope, deferred: str | None = None) -> None:
        """A scope has memories without vectors, which are to follow. `deferred`: the id of one that
        is to be looked at for duplicates then."""
        if self._pending is not None:
            self._pending.submit(scope, deferred)

    def stored_without_vectors(self, scope: Scope) -> None:
        """Memories were stored, many at once: their vectors follow, and whoever watches the scope
        is told."""
        self.without_vectors(scope)
        self._watch.wake(scope)

    async def waits(self, scope: Scope) -> bool:
        """Return True if memories of a scope wait for their vectors: words alone rank these."""
        if self._embedder is None:
            return False
        return bool(await self._store.without_vectors(scope, self._embedder.recipe, 1))

    async def waiting(self, scope: Scope) -> int:
        """Count the memories of a scope that wait for their vectors."""
        if self._embedder is None:
            return 0
        return await self._store.count_without_vectors(scope, self._embedder.recipe)

    async def _settle(self, scope: Scope, memory: Memory) -> None:
        """The check that a save could not wait for: the older of two counts."""
        vectors = await self._search.embed([memory.text], None)
        if vectors is None:
            return
        neighbours = await self._duplicates.near(scope, memory.text, vectors[0])
        older = [near for near in neighbours if near.memory.number < memory.number]
        for near in older:
            if near.says_the_same:
                await self._store.mark_duplicate(scope, memory.id, near.memory.id)
                self._watch.wake(scope)
                return
        await self.keep_updates(scope, memory, older)

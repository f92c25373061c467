"""Embedding what was saved without a vector, in the background.

A save that could not wait for the embedder is stored and found by its words; its scope is put down
here, and its vectors follow. Where a duplicate check had to be left out for that, it is made up
for: the newer of two memories that say the same then counts as the older one's duplicate. After a
start the scopes that were left without vectors are asked of the store.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from memtree.errors import MemTreeError
from memtree.memories.memory import Memory
from memtree.memories.ports import MemoryMaintenance, MemoryStore
from memtree.memories.scope import Scope
from memtree.memories.search.searcher import MemorySearch
from memtree.memories.search.vector_bytes import pack_vector
from memtree.ports.models import Embedder

log = logging.getLogger("memtree.memories")

BATCH = 32  # texts of one call
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds, after a failure
LEFT_BEHIND = 1_000  # scopes that are looked for at once

Settle = Callable[[Scope, Memory], Awaitable[None]]


class PendingVectors:
    """`settle`: called for each memory whose duplicate check was deferred, once it has a vector."""

    def __init__(
        self,
        store: MemoryStore,
        maintenance: MemoryMaintenance,
        search: MemorySearch,
        embedder: Embedder,
        settle: Settle,
        pause: float = FIRST_PAUSE,
    ) -> None:
        self._store, self._maintenance = store, maintenance
        self._search, self._embedder = search, embedder
        self._settle = settle
        self._first_pause = pause
        self._scopes: OrderedDict[Scope, set[str]] = OrderedDict()
        self._work = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, with what an earlier process left behind."""
        self._task = asyncio.create_task(self._run(), name="memory vectors")

    def submit(self, scope: Scope, deferred: str | None = None) -> None:
        """A scope has memories without vectors; `deferred`: the id of one whose duplicate check is
        to be made up for."""
        waiting = self._scopes.setdefault(scope, set())
        if deferred is not None:
            waiting.add(deferred)
        self._idle.clear()
        self._work.set()

    async def join(self) -> None:
        """Until nothing waits."""
        await self._idle.wait()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _run(self) -> None:
        pause, looked = self._first_pause, False
        while True:
            try:
                if not looked:
                    await self._left_behind()
                    looked = True
                await self._work.wait()
                await self._next()
                pause = self._first_pause
            except MemTreeError as error:
                log.warning("memories.vectors_wait code=%s", error.code)
                await asyncio.sleep(pause)
                pause = min(LONGEST_PAUSE, pause * 2)

    async def _left_behind(self) -> None:
        await self._search.embed([], None)  # a recipe is known once the model was met
        for scope in await self._maintenance.scopes_without_vectors(
            self._embedder.recipe, LEFT_BEHIND
        ):
            self.submit(scope)

    async def _next(self) -> None:
        """The scope that waits longest: one batch, so that no scope keeps the others waiting."""
        if not self._scopes:
            self._work.clear()
            self._idle.set()
            return
        scope, deferred = next(iter(self._scopes.items()))
        recipe = self._embedder.recipe
        rows = await self._store.without_vectors(scope, recipe, BATCH)
        if rows:
            vectors = await self._embedder.embed([row.text for row in rows])
            packed = {
                row.number: (row.version, pack_vector(vector))
                for row, vector in zip(rows, vectors, strict=True)
            }
            await self._store.put_vectors(scope, recipe, packed)
            for row in rows:
                if row.id in deferred:
                    await self._settle(scope, row)
                    deferred.discard(row.id)
            self._scopes.move_to_end(scope)
        if len(rows) < BATCH and not (deferred and rows):
            del self._scopes[scope]

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
from collections.abc import Awaitable, Callable, Sequence

from memtree.errors import MemTreeError
from memtree.memories.memory import Memory
from memtree.memories.ports import MemoryMaintenance, MemoryStore
from memtree.memories.scope import Scope
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
        embedder: Embedder,
        settle: Settle,
        pause: float = FIRST_PAUSE,
        left_behind: int = LEFT_BEHIND,
    ) -> None:
        self._store, self._maintenance = store, maintenance
        self._embedder = embedder
        self._settle = settle
        self._first_pause = pause
        self._left_behind_at_once, self._more = left_behind, True
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
        pause = self._first_pause
        while True:
            try:
                if self._more and not self._scopes:
                    await self._left_behind()
                await self._work.wait()
                await self._next()
                pause = self._first_pause
            except Exception as error:  # noqa: BLE001  no vector at all would follow any more
                code = error.code if isinstance(error, MemTreeError) else type(error).__name__
                log.warning("memories.vectors_delayed code=%s", code)
                await asyncio.sleep(pause)
                pause = min(LONGEST_PAUSE, pause * 2)

    async def _left_behind(self) -> None:
        await self._embedder.embed([])  # raises, or the recipe is known: the model was met
        scopes = await self._maintenance.scopes_without_vectors(
            self._embedder.recipe, self._left_behind_at_once
        )
        for scope in scopes:
            self.submit(scope)
        self._more = len(scopes) == self._left_behind_at_once

    async def _next(self) -> None:
        """The scope that waits longest: one batch, so that no scope keeps the others waiting."""
        if not self._scopes:
            self._work.clear()
            self._idle.set()
            return
        # Taken out: what is submitted while this batch is made is a wish of its own.
        scope, deferred = self._scopes.popitem(last=False)
        rows: Sequence[Memory] = ()
        try:
            rows = await self._store.without_vectors(scope, self._embedder.recipe, BATCH)
            await self._embed(scope, rows, deferred)
        except BaseException:
            self._put_back(scope, deferred)
            raise
        if len(rows) == BATCH or (rows and deferred):
            self._put_back(scope, deferred)

    async def _embed(self, scope: Scope, rows: Sequence[Memory], deferred: set[str]) -> None:
        if not rows:
            return
        vectors = await self._embedder.embed([row.text for row in rows])
        packed = {
            row.number: (row.version, pack_vector(vector))
            for row, vector in zip(rows, vectors, strict=True)
        }
        await self._store.put_vectors(scope, self._embedder.recipe, packed)
        for row in rows:
            if row.id in deferred:
                await self._settle(scope, row)
                deferred.discard(row.id)

    def _put_back(self, scope: Scope, deferred: set[str]) -> None:
        """At the end of the row."""
        self._scopes[scope] = self._scopes.pop(scope, set()) | deferred
        self._idle.clear()
        self._work.set()

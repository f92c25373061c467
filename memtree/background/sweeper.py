"""Retention: delete expired rows once an hour. Several processes may do so on one store."""

from __future__ import annotations

import asyncio
import logging

from memtree.context.context_memory import ContextMemory
from memtree.errors import Unavailable
from memtree.memories.book import MemoryBook
from memtree.ports.store import Receipt

log = logging.getLogger("memtree.indexer")

INTERVAL = 3_600.0  # seconds
FIRST = 30.0  # seconds after the start, so that it does not delay the first requests


class Sweeper:
    """Sweeps in the background. Call `start()` and `close()` in a running event loop."""

    def __init__(
        self,
        memory: ContextMemory,
        book: MemoryBook,
        *,
        interval: float = INTERVAL,
        first: float = FIRST,
    ) -> None:
        self._memory, self._book = memory, book
        self._interval, self._first = interval, first
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="sweeper")

    async def close(self) -> None:
        """Stop. A running sweep finishes its transaction in the store's own thread."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _run(self) -> None:
        await self._keep_vectors()
        await asyncio.sleep(self._first)
        while True:
            await self.sweep()
            await asyncio.sleep(self._interval)

    async def _keep_vectors(self) -> None:
        try:
            await self._memory.keep_vectors()
        except Unavailable as error:
            log.warning("retention.failed code=%s", error.code)

    async def sweep(self) -> Receipt:
        """Sweep once; if the store is unavailable, the next sweep does the work."""
        try:
            gone = await self._memory.sweep()
            memories = await self._book.sweep()
        except Unavailable as error:
            log.warning("retention.failed code=%s", error.code)
            return Receipt()
        if any(gone):
            log.info(
                "retention.swept addresses=%d nodes=%d epochs=%d vectors=%d",
                *gone[:2],
                gone.epochs,
                gone.vectors,
            )
        if memories:
            log.info("retention.erased memories=%d", memories)
        return gone

"""The backgrounds of an embedder, embedded when a text of their language is first asked for.

Nobody waits for one longer than for a vector: until it is there a search goes without.
"""

from __future__ import annotations

import asyncio

from memtree.errors import EmbedderUnavailable
from memtree.memories.background.sentences import sentences
from memtree.ports.models import Embedder
from memtree.ranking.background import LEAST_DIMENSIONS, Background


class Backgrounds:
    """Kept by recipe and language for as long as the process runs: 30 kB each."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: dict[tuple[str, str], Background] = {}
        self._making: dict[tuple[str, str], asyncio.Task[Background]] = {}

    @property
    def serve(self) -> bool:
        """Return True if vectors have enough numbers for some to be taken off."""
        return self._embedder.dimensions >= LEAST_DIMENSIONS

    async def of(self, language: str, until: float | None) -> Background | None:
        """None where it is not there by then."""
        key = self._embedder.recipe, language
        if key in self._kept:
            return self._kept[key]
        if key not in self._making:
            task = asyncio.create_task(self._made(language), name="memory-background")
            self._making[key] = task
            task.add_done_callback(lambda done: self._done(key, done))
        try:
            async with asyncio.timeout_at(until):
                return await asyncio.shield(self._making[key])
        except (EmbedderUnavailable, TimeoutError):
            return None

    async def close(self) -> None:
        """End what is being embedded."""
        tasks = list(self._making.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _made(self, language: str) -> Background:
        rows = await self._embedder.embed(sentences(language))
        return await asyncio.to_thread(Background.of, rows)

    def _done(self, key: tuple[str, str], task: asyncio.Task[Background]) -> None:
        del self._making[key]
        if not task.cancelled() and task.exception() is None:
            self._kept[key] = task.result()

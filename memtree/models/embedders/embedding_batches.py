"""Texts in calls that a server takes: bounded, a few at a time, in halves where it refuses.

    batches = EmbeddingBatches(call)              # `call`: texts to rows, or `RequestRefused`
    rows = await batches.rows(texts, sizes)       # one row a text, in order

What this file does not do: wait for a server that is busy or down (`remote_embedder.py`).
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from memtree.models.embedders.embedding_endpoint import RequestRefused
from memtree.text import tokens

Matrix = NDArray[np.float32]

log = logging.getLogger("memtree")

MAX_TEXTS = 96  # in a call; OpenAI takes 2,048, Cohere 96, text-embeddings-inference 32 unless told
MAX_TOKENS = (
    16_000  # in a call of several texts; OpenAI takes 300,000, Voyage's large model 120,000
)
PARALLEL = 4
# Of a text that is refused alone: half of it, and so on, as long as it has more tokens than this.
SHORT = 128
HARMLESS = "why did the database connection time out?"  # every server takes it that takes anything


class EmbeddingBatches:
    """Batches for one server. How many texts it takes in a call is learned once."""

    def __init__(self, call: Callable[[list[str]], Awaitable[Matrix]]) -> None:
        self._call = call
        self._most = MAX_TEXTS
        self._parallel = asyncio.Semaphore(PARALLEL)

    async def rows(self, texts: Sequence[str], sizes: Sequence[int]) -> Matrix:
        """(n, d) for at least one text, none of them empty. `sizes`: their tokens.

        Raises what the calls raise; the others are cancelled then.
        """
        left = deque(range(len(texts)))
        rows: dict[int, Matrix] = {}  # by the text's index

        async def work() -> None:
            while left:
                batch = self._take(left, sizes)
                async with self._parallel:
                    rows.update(zip(batch, await self.few([texts[i] for i in batch]), strict=True))

        # No TaskGroup: where a part fails it leaves the caller with a count of cancellations (until
        # Python 3.13), and a later `asyncio.timeout` of the same task then ends the task.
        parts = [asyncio.create_task(work()) for _ in range(PARALLEL)]
        try:
            await asyncio.gather(*parts)
        finally:
            for part in parts:
                part.cancel()
            await asyncio.gather(*parts, return_exceptions=True)
        return np.stack([rows[index] for index in range(len(texts))])

    async def few(self, texts: list[str]) -> Matrix:
        """Embed few texts in one call, if the server takes them so."""
        rows, _ = await self._batch(texts)
        return rows

    def _take(self, left: deque[int], sizes: Sequence[int]) -> list[int]:
        batch: list[int] = []
        size = 0
        while (
            left and len(batch) < self._most and (not batch or size + sizes[left[0]] <= MAX_TOKENS)
        ):
            size += sizes[left[0]]
            batch.append(left.popleft())
        return batch

    async def _batch(self, texts: list[str]) -> tuple[Matrix, bool]:
        """Rows, and whether the texts were taken as they are: in one call, uncut.

        What is refused is tried in halves. Where both are taken, there were too many in one call:
        later ones are no longer than a half.
        """
        try:
            return await self._call(texts), True
        except RequestRefused as refusal:
            if len(texts) == 1:
                return await self._alone(texts[0], refusal), False
        half = len(texts) // 2
        first, whole = await self._batch(texts[:half])
        second, too = await self._batch(texts[half:])
        if whole and too:
            self._most = min(self._most, max(half, 1))
        return np.concatenate([first, second]), False

    async def _alone(self, text: str, refusal: RequestRefused) -> Matrix:
        """The row of a text that was refused alone: that of its first half, and so on.

        In the end a row of zeros, if the server takes another text: one that it never takes must
        not keep all others of its history from being embedded.
        """
        size = tokens.count(text)
        if size > SHORT:
            return await self.few([tokens.prefix(text, size // 2)])
        if text == HARMLESS:
            raise refusal
        harmless = await self.few([HARMLESS])
        log.warning("embedder.text_refused")
        return np.zeros_like(harmless)

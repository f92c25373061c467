"""Split texts into calls that a server accepts: bounded, a few at a time, halved after a refusal.

    batches = EmbeddingBatches(call)              # `call`: texts to rows, or `RequestRefused`
    rows = await batches.rows(texts, sizes)       # one row a text, in order

Waiting for a server that is busy or down is left to `remote_embedder.py`.
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

# in a call; OpenAI accepts 2,048, Cohere 96, text-embeddings-inference 32 by default
MAX_TEXTS = 96
MAX_TOKENS = (
    16_000  # in a call of several texts; OpenAI accepts 300,000, Voyage's large model 120,000
)
PARALLEL = 4
# A text that is refused by itself is halved again and again as long as it has more tokens than
# this.
SHORT = 128
HARMLESS = "why did the database connection time out?"  # every server that works accepts it


class EmbeddingBatches:
    """Batches for one server. Learns how many texts it accepts in a call."""

    def __init__(self, call: Callable[[list[str]], Awaitable[Matrix]]) -> None:
        self._call = call
        self._most = MAX_TEXTS
        self._parallel = asyncio.Semaphore(PARALLEL)

    async def rows(self, texts: Sequence[str], sizes: Sequence[int]) -> Matrix:
        """Return an array (n, d) for one or more non-empty texts. `sizes`: their tokens. Raises the
        errors of the calls; a failure cancels the other calls.
        """
        left = deque(range(len(texts)))
        rows: dict[int, Matrix] = {}  # by the text's index

        async def work() -> None:
            while left:
                batch = self._take(left, sizes)
                async with self._parallel:
                    rows.update(zip(batch, await self.few([texts[i] for i in batch]), strict=True))

        # No TaskGroup: if a part fails, it leaves the caller with a count of cancellations (until
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
        """Embed a few texts in one call, if the server accepts that."""
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
        """Return the rows, and True if the texts were accepted as they are: in one call, uncut. A
        refused batch is tried in halves. If both are accepted, there were too many texts in one
        call: later calls have at most half as many.
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
        """Return the row of a text that was refused by itself: that of its first half, and so on.

        In the end a row of zeros, if the server accepts another text: a text that it never accepts
        must not keep all others of its history from being embedded.
        """
        size = tokens.count(text)
        if size > SHORT:
            return await self.few([tokens.prefix(text, size // 2)])
        if text == HARMLESS:
            raise refusal
        harmless = await self.few([HARMLESS])
        log.warning("embedder.text_refused")
        return np.zeros_like(harmless)

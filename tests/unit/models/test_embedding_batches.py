"""Several calls at once: what is left of them where one fails."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from memtree.errors import EmbedderUnavailable
from memtree.models.embedding_endpoint import MAX_TEXTS, EmbeddingBatches

TEXTS = [f"text {n}" for n in range(3 * MAX_TEXTS)]
SIZES = [2] * len(TEXTS)


async def test_a_failure_leaves_its_caller_and_nothing_else():
    began, ended = [], []

    async def call(texts):
        began.append(texts)
        if len(began) == 2:
            raise EmbedderUnavailable("gone")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(texts)

    caller = asyncio.current_task()
    assert caller
    with pytest.raises(EmbedderUnavailable, match="gone"):
        await EmbeddingBatches(call).rows(TEXTS, SIZES)
    assert (len(began), len(ended)) == (3, 2)
    # Else early Pythons 3.11 take the caller's next time limit for its end.
    assert not caller.cancelling()


async def test_a_caller_that_is_cancelled_leaves_no_call_behind():
    ended, arrived = [], asyncio.Event()

    async def call(texts):
        arrived.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(texts)

    caller = asyncio.create_task(EmbeddingBatches(call).rows(TEXTS, SIZES))
    await arrived.wait()
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert len(ended) == 3


async def test_rows_are_in_order():
    async def call(texts):
        await asyncio.sleep(0.01 if texts[0] == TEXTS[0] else 0)
        return np.array([[float(text.split()[1])] for text in texts], np.float32)

    rows = await EmbeddingBatches(call).rows(TEXTS, SIZES)
    assert rows[:, 0].tolist() == list(range(len(TEXTS)))

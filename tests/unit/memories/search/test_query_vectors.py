"""How long a request waits for vectors, and from when on."""

from __future__ import annotations

import asyncio

import pytest

from memtree.config import Settings
from memtree.errors import EmbedderUnavailable
from memtree.memories.search.query_vectors import PATIENCE, QueryVectors
from tests.fakes import HashingEmbedder

SECONDS = 5.0


class Loading(HashingEmbedder):
    """`at`: when its model was loaded, by the event loop's time; `error` is raised instead."""

    def __init__(self, seconds: float = 0.05, error: Exception | None = None) -> None:
        super().__init__()
        self.seconds, self.error = seconds, error
        self.at = 0.0
        self.asked = 0

    async def ready(self) -> None:
        self.asked += 1
        if self.error:
            raise self.error
        await asyncio.sleep(self.seconds)
        self.at = asyncio.get_running_loop().time()


async def test_the_time_begins_when_the_model_is_loaded():
    embedder = Loading()
    until = await QueryVectors(embedder).until(SECONDS)
    assert embedder.at
    assert until is not None
    assert until >= embedder.at + SECONDS


@pytest.mark.parametrize("embedder", [Loading(error=EmbedderUnavailable("no")), Loading(600.0)])
async def test_for_a_model_that_cannot_be_loaded_nobody_waits_on(embedder: Loading):
    loop = asyncio.get_running_loop()
    until = await QueryVectors(embedder).until(SECONDS, loading=0.01)
    assert embedder.asked == 1
    assert until is not None
    assert until <= loop.time()


@pytest.mark.parametrize("patience", [None, 0.0])
async def test_who_waits_for_ever_or_not_at_all_does_not_ask(patience: float | None):
    embedder = Loading()
    until = await QueryVectors(embedder).until(patience)
    assert embedder.asked == 0
    assert (until is None) is (patience is None)


async def test_who_goes_away_while_the_model_is_loaded_does():
    waiting = asyncio.create_task(QueryVectors(Loading(600.0)).until(SECONDS))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


def test_the_setting_says_what_holds_without_one():
    assert Settings().embedding_seconds == PATIENCE

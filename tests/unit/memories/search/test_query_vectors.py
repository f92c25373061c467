"""How long a request waits for vectors, and from when on."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from memtree.config import Settings
from memtree.errors import EmbedderUnavailable
from memtree.memories.search.query import PATIENCE, Backgrounds, QueryVectors
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


# -- Backgrounds are embedded once, when they are first asked for, and nobody waits long.


class Wide(HashingEmbedder):
    """Embedder of so many dimensions that a background serves. `gate`: what it waits for."""

    dimensions = 256
    recipe = "wide/1"

    def __init__(self) -> None:
        super().__init__()
        self.calls, self.gate, self.broken = 0, asyncio.Event(), False
        self.gate.set()

    async def embed(self, texts):
        self.calls += 1
        await self.gate.wait()
        if self.broken:
            raise EmbedderUnavailable("down")
        rows = np.random.default_rng(len(texts)).normal(size=(len(texts), self.dimensions))
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def reads(self, text: str) -> bool:
        return "я" not in text


async def test_each_language_is_embedded_once() -> None:
    embedder = Wide()
    backgrounds = Backgrounds(embedder)
    first = await asyncio.gather(*(backgrounds.of("de", None) for _ in range(3)))
    assert first[0] is not None
    assert first[0] is first[1] is first[2] is await backgrounds.of("de", None)
    assert embedder.calls == 1
    assert await backgrounds.of("fr", None) is not first[0]
    embedder.recipe = "wide/2"
    assert await backgrounds.of("de", None) is not first[0]
    await backgrounds.close()


async def test_nobody_waits_longer_than_for_a_vector_and_it_is_there_the_next_time() -> None:
    embedder = Wide()
    embedder.gate.clear()
    vectors = QueryVectors(embedder)
    row = np.eye(1, embedder.dimensions, dtype=np.float32)[0]
    now = asyncio.get_running_loop().time()
    german = await vectors.query("Wo ist mein Hund?", row, now)
    assert german.vector is None  # its cosines would mean nothing
    english = await vectors.query("Where is my dog?", row, now)
    assert english.vector is row
    assert english.background is None
    embedder.gate.set()
    german = await vectors.query("Wo ist mein Hund?", row, None)
    assert german.vector is row
    assert german.background is not None
    await vectors.close()


async def test_what_the_embedder_cannot_read_has_no_vector() -> None:
    embedder = Wide()
    row = np.eye(1, embedder.dimensions, dtype=np.float32)[0]
    query = await QueryVectors(embedder).query("Где моя собака?", row, None)
    assert query.vector is None
    assert query.moved is None
    assert query.terms
    assert embedder.calls == 0


async def test_an_embedder_that_fails_is_asked_again() -> None:
    embedder = Wide()
    embedder.broken = True
    backgrounds = Backgrounds(embedder)
    assert await backgrounds.of("de", None) is None
    embedder.broken = False
    assert await backgrounds.of("de", None) is not None


async def test_closing_ends_what_is_being_embedded() -> None:
    embedder = Wide()
    embedder.gate.clear()
    backgrounds = Backgrounds(embedder)
    assert await backgrounds.of("de", asyncio.get_running_loop().time()) is None
    await backgrounds.close()
    assert embedder.calls <= 1


async def test_vectors_of_few_numbers_have_nothing_to_spare() -> None:
    embedder = HashingEmbedder()
    row = np.eye(1, embedder.dimensions, dtype=np.float32)[0]
    query = await QueryVectors(embedder).query("Wo ist mein Hund?", row, None)
    assert query.vector is row
    assert query.background is None

"""A passage is embedded once, while it is remembered; a deletion is not outlived."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from memtree.errors import EmbedderUnavailable
from memtree.jobs.embedding import ROW_BYTES, VectorCache
from tests.fakes import HashingEmbedder


async def test_each_text_is_embedded_once_and_gives_the_same_row() -> None:
    embedder = HashingEmbedder()
    passages = VectorCache(embedder)
    first = await passages.embed("t", ["one", "two", "one", ""])
    again = await passages.embed("t", ["", "three", "two", "one"])
    assert embedder.embedded == ["one", "two", "", "three"]
    assert np.array_equal(first, await HashingEmbedder().embed(["one", "two", "one", ""]))
    assert np.array_equal(again, await HashingEmbedder().embed(["", "three", "two", "one"]))
    assert (await passages.embed("t", [])).shape == (0, embedder.dimensions)


async def test_tenants_share_nothing() -> None:
    embedder = HashingEmbedder()
    passages = VectorCache(embedder)
    await passages.embed("t", ["one"])
    await passages.embed("u", ["one"])
    assert embedder.embedded == ["one", "one"]
    passages.forget("t")
    await passages.embed("u", ["one"])
    assert embedder.embedded == ["one", "one"]
    await passages.embed("t", ["one"])
    assert embedder.embedded == ["one", "one", "one"]


async def test_only_so_many_are_kept_the_late_ones() -> None:
    embedder = HashingEmbedder()
    passages = VectorCache(embedder, most=2 * (ROW_BYTES + 4 * embedder.dimensions))
    await passages.embed("t", ["one", "two"])
    await passages.embed("t", ["one"])
    rows = await passages.embed("t", ["three", "one", "four"])  # more than are kept
    assert np.array_equal(rows, await HashingEmbedder().embed(["three", "one", "four"]))
    embedder.embedded.clear()
    await passages.embed("t", ["one", "four"])
    assert not embedder.embedded
    await passages.embed("t", ["two"])
    assert embedder.embedded == ["two"]


class Slow(HashingEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.began, self.go = asyncio.Event(), asyncio.Event()

    async def embed(self, texts):
        self.began.set()
        await self.go.wait()
        return await super().embed(texts)


async def test_what_was_under_way_at_a_deletion_is_not_kept() -> None:
    embedder = Slow()
    passages = VectorCache(embedder)
    task = asyncio.create_task(passages.embed("t", ["one"]))
    await embedder.began.wait()
    passages.forget("t")
    embedder.go.set()
    assert (await task).any()
    await passages.embed("t", ["one"])
    assert embedder.embedded == ["one", "one"]


async def test_everything_may_be_forgotten_at_once() -> None:
    embedder = Slow()
    passages = VectorCache(embedder)
    embedder.go.set()
    await passages.embed("t", ["one"])
    embedder.began.clear()
    embedder.go.clear()
    task = asyncio.create_task(passages.embed("u", ["two"]))
    await embedder.began.wait()
    passages.forget_all()
    embedder.go.set()
    await task
    await passages.embed("t", ["one"])
    await passages.embed("u", ["two"])
    assert embedder.embedded == ["one", "two", "one", "two"]


class Failing(HashingEmbedder):
    async def embed(self, texts):
        raise EmbedderUnavailable("gone")


async def test_a_failure_is_passed_on_and_nothing_is_kept() -> None:
    embedder = Failing()
    passages = VectorCache(embedder)
    with pytest.raises(EmbedderUnavailable):
        await passages.embed("t", ["one"])
    assert passages.size == 0

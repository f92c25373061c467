"""Shared parts of the tests of workers: chats that are submitted, and an embedder that can be
held."""

from __future__ import annotations

import asyncio

from memtree_indexer.queue_worker import Worker, WorkerParts

SECONDS = 120  # a busy machine must not fail a test


def submit(bench, chat, first=0, **more):
    work = chat.work[first:]
    bench.queue.submit(chat.history, chat.start(work[0]), work, **more)


def summarise(desk, chat):
    desk.summaries.submit(chat.history, chat.start(chat.parts[0]), chat.parts, chat.nodes)


async def embedded(bench, chat):
    return set(await bench.store.vectors(chat.tenant, bench.embedder.recipe, chat.ids))


def workshop(bench, **more):
    return Worker(
        bench.settings,
        WorkerParts(bench.store, bench.clock, bench.embedder, None),
        bench.link,
        **more,
    )


async def until(condition):
    async with asyncio.timeout(SECONDS):
        while not condition():  # noqa: ASYNC110  what is waited for is in another process
            await asyncio.sleep(0.01)


class Gate:
    """An embedder that stops before each batch until it is let on."""

    def __init__(self, inner):
        self.inner, self.arrived, self.open = inner, asyncio.Event(), asyncio.Event()
        self.name = self.recipe = inner.recipe
        self.dimensions, self.relevant = inner.dimensions, inner.relevant
        self.scale = inner.scale

    async def embed(self, texts):
        self.arrived.set()
        await self.open.wait()
        return await self.inner.embed(texts)

"""The back ends that the contracts of the queues run over, and the chats that they are given.

`work` lets a queue do all that it has; `arrived` waits until what was submitted is where other
processes can see it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from memtree.config import Settings
from memtree.history.chat_history import History
from memtree.history.message import Message
from memtree.jobs.embedding import InProcessQueue
from memtree.jobs.runtime import SystemClock
from memtree.jobs.spending import DailyLimits, Spending, SummaryPrices
from memtree.jobs.summary_stage import SummaryStage
from memtree.ports.context_store import IndexBatch
from memtree.stores import RamStore
from memtree.tree.node import LeafWork, NodeWork
from memtree.tree.summary_batches import CompletedSummaries
from memtree_indexer.outbox import Outbox
from memtree_indexer.queue_worker import Worker, WorkerParts, quiet_rq
from memtree_indexer.redis_connection import RedisConnection
from memtree_indexer.redis_queues import RedisQueue, RedisSummaries
from tests.fakes import HashingEmbedder
from tests.made.trees import places
from tests.properties.strategies import batch, history_of, leaves_of, prose


def said(word: str, count: int, seed: int = 0) -> list[Message]:
    """Messages of some 380 words, each of which fills a leaf."""
    return [
        Message.of(
            {"role": ("user", "assistant")[n % 2], "content": f"{word} {prose(seed + n, 380)}"}
        )
        for n in range(count)
    ]


class Chat:
    """A tenant's history in a store, and what posting it submits."""

    def __init__(self, tenant: str, messages: list[Message]) -> None:
        self.tenant = tenant
        self.history: History = history_of(messages, tenant)
        self.batch = batch(self.history)
        self.nodes = {node.id: node for node in self.batch.nodes}
        frontier = self.batch.frontier
        leaves = leaves_of(frontier, self.nodes)
        spots = places(leaves)
        self.work = [LeafWork(leaf, spot.first) for leaf, spot in zip(leaves, spots, strict=True)]
        self.parts = CompletedSummaries().work(tenant, frontier.nodes, self.nodes)

    @property
    def ids(self) -> list[bytes]:
        return [one.id for one in self.work]

    @property
    def part_ids(self) -> list[bytes]:
        return [one.id for one in self.parts]

    async def plant(self, store: RamStore) -> Chat:
        grown = self.batch
        await store.commit(self.tenant, IndexBatch(grown.nodes, grown.frontiers, time.time() + 1e6))
        return self

    def start(self, work: LeafWork | NodeWork) -> bytes:
        first = work.first if isinstance(work, LeafWork) else work.place.first
        return self.history.addresses[first + 1]


class Embeds(HashingEmbedder):
    """Can refuse."""

    def __init__(self) -> None:
        super().__init__()
        self.refuse: Callable[[str], Exception | None] = lambda text: None

    async def embed(self, texts):
        if error := self.refuse(" ".join(texts)):
            raise error
        return await super().embed(texts)


class InProcess:
    """Both queues in this process."""

    def __init__(self, server, model=None, **settings):
        self.store, self.embedder, self.clock = RamStore(), Embeds(), SystemClock()
        self.queue = InProcessQueue(self.store, self.embedder, self.clock, batch_tokens=1)
        given = Settings(**settings)
        self.three = (
            SummaryStage.of(given, self.store, self.clock, model, gather=0.0) if model else None
        )
        self.summaries = self.three.queue if self.three else None

    async def open(self):
        return self

    async def arrived(self):
        pass

    async def work(self):
        self.queue.start()
        if self.three:
            self.three.queue.start()
        async with asyncio.timeout(240):
            await self.queue.join()
            if self.three:
                await self.three.queue.join()

    async def close(self):
        await self.queue.close(0)
        if self.three:
            await self.three.close(0)


class OverRedis:
    """A proxy's queues, and workers that come for a burst when they are told to."""

    def __init__(self, server, model=None, **settings):
        quiet_rq()
        self.store, self.embedder, self.clock = RamStore(), Embeds(), SystemClock()
        self.model, self.settings = model, Settings(queue=server.url(), **settings)
        self.link = RedisConnection(server.url())
        self.outbox = Outbox(server.url(), self.link, self.clock, parts=4, gather=0.0)
        self.queue = RedisQueue(self.outbox, self.link, self.store, self.embedder)
        spending = Spending(
            self.store, self.clock, SummaryPrices.of(self.settings), DailyLimits.of(self.settings)
        )
        self.summaries = (
            RedisSummaries(self.outbox, self.link, self.store, spending) if model else None
        )

    async def open(self):
        self.outbox.start()
        return self

    async def arrived(self):
        await asyncio.wait_for(self.outbox.sent(), 120)

    async def work(self, count: int = 1):
        await self.arrived()
        async with asyncio.timeout(240):
            await asyncio.gather(*(self.burst() for _ in range(count)))

    async def burst(self):
        three = None
        if self.model:
            three = SummaryStage.of(self.settings, self.store, self.clock, self.model, gather=0.0)
            three.queue.start()
        parts = WorkerParts(self.store, self.clock, self.embedder, three)
        await Worker(self.settings, parts, self.link, burst=True).run()
        if three:
            await three.queue.close(5)

    async def close(self):
        await self.outbox.close(1)
        await self.link.close()

"""A proxy's side of Redis: queues whose work workers do, and messages between proxies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memtree.background.summarizing.spending import DailyLimits, Spending, SummaryPrices
from memtree.config import Settings
from memtree.ports.clock import Clock
from memtree.ports.models import Embedder
from memtree.ports.store import Store
from memtree_indexer.redis.connection import RedisConnection
from memtree_indexer.redis.jobs.outbox import Outbox
from memtree_indexer.redis.peers import RedisPeers
from memtree_indexer.redis.queue import RedisQueue, RedisSummaries, workers


@dataclass(frozen=True, slots=True)
class RedisQueues:
    """Queues in Redis; the opener starts and closes them. `summaries`: None if no model writes
    summaries."""

    link: RedisConnection
    outbox: Outbox
    queue: RedisQueue
    summaries: RedisSummaries | None
    peers: RedisPeers

    @classmethod
    def of(
        cls, settings: Settings, store: Store, clock: Clock, embedder: Embedder | None
    ) -> RedisQueues:
        """Build the queues in Redis that the settings name. `embedder`: None if nothing is
        embedded."""
        link = RedisConnection(settings.queue)
        outbox = Outbox(settings.queue, link, clock, parts=settings.summary_leaves)
        spending = Spending(store, clock, SummaryPrices.of(settings), DailyLimits.of(settings))
        summaries = (
            RedisSummaries(outbox, link, store, spending) if settings.summary_model else None
        )
        queue = RedisQueue(outbox, link, store, embedder)
        return cls(link, outbox, queue, summaries, RedisPeers(link))

    async def start(self, forgotten: Callable[[str | None], object]) -> None:
        """Start. `forgotten`: called when another process has deleted something of a tenant (None:
        of an unknown one)."""
        self.outbox.start()
        await self.peers.start(forgotten)

    async def workers(self) -> int:
        """Return the number of live worker processes. Raises `QueueUnavailable`."""
        return await workers(self.link)

    async def close(self, patience: float) -> None:
        """Send what can be sent within `patience` seconds, and end."""
        await self.peers.close()
        await self.outbox.close(patience)
        await self.link.close()

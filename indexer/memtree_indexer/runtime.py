"""The parts of a process that keeps memory, put together from the settings.

Both the server and the command line open one `Runtime`; it is the only place that chooses
adapters. Only a server uses Redis: a command for one history does its work itself, whatever `queue`
says. A server listens before its vocabulary and its embedder are loaded (`Runtime.load`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memtree.bounded import SizedCache
from memtree.config import Settings
from memtree.context.context_memory import ContextMemory
from memtree.conversation.message import Volatile
from memtree.errors import BadRequest, EmbedderUnavailable, importing
from memtree.ports.clock import Clock
from memtree.ports.models import Embedder
from memtree.ports.queues import IndexQueue
from memtree.ports.store import Store
from memtree.setting_values import INPROCESS
from memtree.stores import Memories, open_memories, open_store
from memtree.text import tokens
from memtree_indexer.caches import ContextCaches
from memtree_indexer.embedding.open import OpenedEmbedder, loaded, nothing, open_unloaded
from memtree_indexer.embedding.queue import InProcessQueue, NoQueue
from memtree_indexer.growing.builder import StageOne
from memtree_indexer.memory_services import MemoryServices, open_memory_services
from memtree_indexer.summarizing.open import SummaryStage, open_summarizer
from memtree_indexer.sweeper import Sweeper

if TYPE_CHECKING:
    from memtree_indexer.redis.client import RedisQueues

log = logging.getLogger("memtree.indexer")

IN_REDIS = "a queue in Redis", "redis", "queue"  # for `importing`


class SystemClock:
    """The `Clock` of a real process."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()


@dataclass(frozen=True, slots=True)
class Runtime:
    """The open parts of a process; `open_runtime` closes them."""

    memory: ContextMemory
    memory_services: MemoryServices
    memories: Memories
    store: Store
    embedder: Embedder | None
    queue: IndexQueue
    trouble: str = ""  # why there is no embedder, or what is the matter with it
    summaries: SummaryStage | None = None  # None: nothing is summarised by a model in this process
    builder: StageOne | None = None
    redis: RedisQueues | None = None  # set: workers do stages 2 and 3
    caches: Mapping[str, SizedCache] = field(default_factory=dict)  # by name
    load_embedder: Callable[[], Awaitable[None]] = nothing

    async def load(self) -> None:
        """What the first request would wait for: the vocabulary, which takes half a second, and
        the embedder. In threads, though the first holds the GIL. Both are loaded by whoever needs
        them first, so this may be cut off, or fail."""
        await asyncio.to_thread(tokens.count, "warm up")
        try:
            await self.load_embedder()
        except EmbedderUnavailable as error:
            log.warning("embedder.unavailable, asked again later: %s", error.message)

    async def settle(self) -> None:
        """Until everything that was posted is indexed in all stages."""
        await self.memory.close()
        if isinstance(self.queue, InProcessQueue):
            await self.queue.join()
        if self.summaries:
            await self.summaries.queue.join()


@asynccontextmanager
async def open_runtime(
    settings: Settings, *, drain: float = 5.0, shared: bool = False
) -> AsyncIterator[Runtime]:
    """Open store, models and queues; close them in order, finishing work for `drain` seconds.
    `shared`: with other processes, by the setting `queue`.

    Raises `StoreUnavailable`, `StoreCorrupt` or `BadRequest` where the store cannot be opened, or
    half of what a model needs is missing.
    """
    store = await asyncio.to_thread(open_store, settings.store)
    builder = StageOne(child=settings.index_processes)
    try:
        opened = await open_unloaded(settings, patient=drain > 0)
        if not shared:
            opened = await _loaded(opened)
        embedder = opened.embedder
        clock = SystemClock()
        redis = open_redis_queues(settings, store, clock, embedder) if shared else None
        queue: IndexQueue = NoQueue()
        if embedder:
            cache_bytes = settings.cache_limits.vectors
            here = InProcessQueue(store, embedder, clock, cache_bytes=cache_bytes)
            queue = redis.queue if redis else here
        summarizer = open_summarizer(settings) if not redis else None
        stage_three = (
            SummaryStage.of(settings, store, clock, summarizer, patient=drain > 0)
            if summarizer
            else None
        )
        by_workers = redis.summaries if redis else None
        caches = ContextCaches.of(settings.cache_limits)
        memory = ContextMemory(
            store,
            builder,
            queue,
            clock,
            embedder=embedder,
            facts=caches.message_infos,
            volatile=Volatile(settings.volatile_tags, settings.preamble_tags),
            summaries=stage_three.queue if stage_three else by_workers,
            settled=stage_three.completed if stage_three else None,
            peers=redis.peers if redis else None,
            read=caches.read_histories,
            caches=caches.trees,
        )
        memories = open_memories(store)
        saved = open_memory_services(
            settings,
            memories,
            clock,
            embedder,
            infos=caches.message_infos,
            tallies=store if shared else None,  # a command asks no model for memories
        )
        if shared:
            saved.start()
        sweeper = Sweeper(memory, saved.book)
        sweeper.start()
        if isinstance(queue, InProcessQueue):
            queue.start()
        if stage_three:
            stage_three.queue.start()
        if redis:
            await redis.start(memory.forgotten)
        try:
            yield Runtime(
                memory,
                saved,
                memories,
                store,
                embedder,
                queue,
                opened.trouble,
                stage_three,
                builder,
                redis,
                {**caches.by_name(), **_vectors(queue), **saved.extracting.caches},
                load_embedder=opened.load,
            )
        finally:
            await sweeper.close()
            await saved.close(drain)
            await memory.close()
            await asyncio.gather(
                *([queue.close(drain)] if isinstance(queue, InProcessQueue) else ()),
                *([stage_three.close(drain)] if stage_three else ()),
                *([redis.close(drain)] if redis else ()),
            )
            if embedder:
                await embedder.close()
    finally:
        await builder.close()
        await store.close()


async def _loaded(opened: OpenedEmbedder) -> OpenedEmbedder:
    """The same when it is loaded, and the vocabulary with it."""
    loading = asyncio.to_thread(tokens.count, "warm up")
    result, _ = await asyncio.gather(loaded(opened), loading)
    return result


def refuse_own_memory(settings: Settings) -> None:
    """Raises `BadRequest` for a store that no other process can open."""
    if settings.store.startswith("memory:"):
        raise BadRequest(
            "a queue in Redis needs a store that several processes can open", param="store"
        )


def _vectors(queue: IndexQueue) -> Mapping[str, SizedCache]:
    return {"vectors": queue.passages} if isinstance(queue, InProcessQueue) else {}


def open_redis_queues(
    settings: Settings, store: Store, clock: Clock, embedder: Embedder | None = None
) -> RedisQueues | None:
    """Queues in Redis, None where the setting names none. Redis is not contacted yet.

    Raises `BadRequest` where the packages are missing, or the URL has what they do not know.
    """
    if settings.queue == INPROCESS:
        return None
    refuse_own_memory(settings)
    with importing(*IN_REDIS):
        from memtree_indexer.redis.client import RedisQueues  # noqa: PLC0415  the optional `redis` extra
    try:
        return RedisQueues.of(settings, store, clock, embedder)
    except (TypeError, ValueError):  # of the URL's query; not shown, it may hold a password
        raise BadRequest("queue: the URL has parts that cannot be used", param="queue") from None

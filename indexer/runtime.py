"""The parts of a process that keeps memory, put together from the settings.

Both the server and the command line open one `Runtime`; it is the only place that chooses
adapters. A missing embedder is no failure: ranking is BM25 alone and `trouble` says why. A remote
embedder that does not answer at the start of a server is used as soon as it does, without a
restart; a command that ends soon does without it. Only a server uses Redis: a command for one
history does its work itself, whatever `queue` says.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexer.embedding.queue import InProcessQueue, NoQueue
from indexer.growing.builder import StageOne
from indexer.memory_services import MemoryServices, open_memory_services
from indexer.summarizing.open import SummaryStage, open_summarizer
from indexer.sweeper import Sweeper
from memtree.config import Settings
from memtree.context.context_memory import ContextMemory
from memtree.conversation.message import Volatile
from memtree.conversation.message_cache import MessageCache
from memtree.errors import BadRequest, EmbedderUnavailable
from memtree.ports.clock import Clock
from memtree.ports.models import Embedder
from memtree.ports.queues import IndexQueue
from memtree.ports.store import Store
from memtree.setting_values import INPROCESS
from memtree.stores import Memories, open_memories, open_store
from memtree.text import tokens

if TYPE_CHECKING:
    from indexer.redis.client import RedisQueues

log = logging.getLogger("memtree.indexer")

NEEDS_EXTRA = "a queue in Redis needs packages: pip install 'memtree-proxy[redis]'"


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
        # The first count loads the vocabulary, which takes half a second.
        (embedder, trouble), _ = await asyncio.gather(
            open_embedder(settings, patient=drain > 0), asyncio.to_thread(tokens.count, "warm up")
        )
        clock = SystemClock()
        redis = open_redis_queues(settings, store, clock, embedder) if shared else None
        queue: IndexQueue = NoQueue()
        if embedder:
            queue = redis.queue if redis else InProcessQueue(store, embedder, clock)
        summarizer = open_summarizer(settings) if not redis else None
        stage_three = (
            SummaryStage.of(settings, store, clock, summarizer, patient=drain > 0)
            if summarizer
            else None
        )
        by_workers = redis.summaries if redis else None
        infos = MessageCache(secrets.randbits(32))
        memory = ContextMemory(
            store,
            builder,
            queue,
            clock,
            embedder=embedder,
            facts=infos,
            volatile=Volatile(settings.volatile_tags, settings.preamble_tags),
            summaries=stage_three.queue if stage_three else by_workers,
            settled=stage_three.completed if stage_three else None,
            peers=redis.peers if redis else None,
        )
        memories = open_memories(store)
        saved = open_memory_services(
            settings,
            memories,
            clock,
            embedder,
            infos=infos,
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
                trouble,
                stage_three,
                builder,
                redis,
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


def refuse_own_memory(settings: Settings) -> None:
    """Raises `BadRequest` for a store that no other process can open."""
    if settings.store.startswith("memory:"):
        raise BadRequest(
            "a queue in Redis needs a store that several processes can open", param="store"
        )


def open_redis_queues(
    settings: Settings, store: Store, clock: Clock, embedder: Embedder | None = None
) -> RedisQueues | None:
    """Queues in Redis, None where the setting names none. Redis is not contacted yet.

    Raises `BadRequest` where the packages are missing, or the URL has what they do not know.
    """
    if settings.queue == INPROCESS:
        return None
    refuse_own_memory(settings)
    try:
        from indexer.redis.client import RedisQueues  # noqa: PLC0415  the optional `redis` extra
    except ImportError as error:
        raise BadRequest(NEEDS_EXTRA, param="queue") from error
    try:
        return RedisQueues.of(settings, store, clock, embedder)
    except (TypeError, ValueError):  # of the URL's query; not shown, it may hold a password
        raise BadRequest("queue: the URL has parts that cannot be used", param="queue") from None


async def open_embedder(settings: Settings, *, patient: bool) -> tuple[Embedder | None, str]:
    """The embedder that the settings name, and what is the matter with it: "" where nothing is.

    `patient`: keep a remote one that does not answer yet. Raises `BadRequest` where a setting that
    it needs is missing.
    """
    if settings.embedder == "none":
        return None, "switched off"
    if settings.embedder == "remote" or (settings.embedder == "auto" and settings.embedding_model):
        return await _remote(settings, patient=patient)
    try:
        from memtree.models.local_embedder import LocalEmbedder  # noqa: PLC0415  the optional `local` extra

        embedder = LocalEmbedder()
        await embedder.warm_up()
    except ImportError as error:
        trouble = f"{error.name} is not installed (pip install 'memtree-proxy[local]')"
    except EmbedderUnavailable as error:
        trouble = error.message
    else:
        return embedder, ""
    log.warning("embedder.unavailable, ranking by words alone: %s", trouble)
    return None, trouble


async def _remote(settings: Settings, *, patient: bool) -> tuple[Embedder | None, str]:
    # Half a second and 25 MB that only those pay who use it.
    from memtree.models.remote_embedder import RemoteEmbedder  # noqa: PLC0415

    if not settings.embedding_base_url or not settings.embedding_model:
        raise BadRequest(
            "the remote embedder needs embedding_base_url and embedding_model",
            param="embedding_base_url",
        )
    embedder = RemoteEmbedder(
        settings.embedding_base_url,
        settings.embedding_model,
        settings.embedding_api_key,
        dimensions=settings.embedding_dimensions,
        max_tokens=settings.embedding_tokens,
        relevant=settings.embedding_relevant,
    )
    try:
        await embedder.warm_up()
    except EmbedderUnavailable as error:
        if patient:
            log.warning("embedder.unavailable, asked again later: %s", error.message)
            return embedder, error.message
        await embedder.close()
        log.warning("embedder.unavailable, ranking by words alone: %s", error.message)
        return None, error.message
    return embedder, ""

"""The parts of a process that keeps memory, put together from the settings.

The server, the command line and the library open one `Runtime`; it is the only place that chooses
adapters. Queues that several processes share are not known here: a server hands them in. A command
for one history does its work itself, whatever the setting `queue` says. A server listens before its
vocabulary and its embedder are loaded (`Runtime.load`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from memtree.background.caches import ContextCaches
from memtree.background.embedding.open import OpenedEmbedder, loaded, nothing, open_unloaded
from memtree.background.embedding.queue import InProcessQueue, NoQueue
from memtree.background.growing.builder import StageOne
from memtree.background.memory_services import MemoryServices, open_memory_services
from memtree.background.summarizing.open import SummaryStage, open_summarizer
from memtree.background.sweeper import Sweeper
from memtree.bounded import SizedCache
from memtree.config import Settings
from memtree.context.context_memory import ContextMemory
from memtree.conversation.message import Volatile
from memtree.errors import EmbedderUnavailable
from memtree.ports.clock import Clock
from memtree.ports.models import Embedder
from memtree.ports.peers import Peers
from memtree.ports.queues import IndexQueue, SummaryQueue
from memtree.ports.store import Store
from memtree.stores import Memories, open_memories, open_store
from memtree.text import tokens

log = logging.getLogger("memtree.indexer")


class SystemClock:
    """The `Clock` of a real process."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()


class SharedQueues(Protocol):
    """Queues whose work other processes do, and what those tell each other. Whoever opens them
    starts and closes them. No `summaries`: they are extracted."""

    @property
    def queue(self) -> IndexQueue: ...

    @property
    def summaries(self) -> SummaryQueue | None: ...

    @property
    def peers(self) -> Peers: ...

    async def start(self, forgotten: Callable[[str | None], object]) -> None:
        """`forgotten`: another process deleted something of this tenant (None: of anybody)."""
        ...

    async def close(self, patience: float) -> None:
        """Send what can be sent within `patience` seconds, and end."""
        ...


OpenQueues = Callable[[Settings, Store, Clock, Embedder | None], SharedQueues | None]


def own_queues(*_: object) -> None:
    """Open no queues that are shared: the process does its work itself."""


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
    shared: SharedQueues | None = None  # set: workers do stages 2 and 3
    caches: Mapping[str, SizedCache] = field(default_factory=dict)  # by name
    load_embedder: Callable[[], Awaitable[None]] = nothing

    async def load(self) -> None:
        """Load what the first request would wait for: the vocabulary, which takes half a second,
        and the embedder. In threads, though the first holds the GIL. Both are loaded by whoever
        needs them first, so this may be cut off, or fail."""
        await asyncio.to_thread(tokens.count, "warm up")
        try:
            await self.load_embedder()
        except EmbedderUnavailable as error:
            log.warning("embedder.unavailable, asked again later: %s", error.message)

    async def settle(self) -> None:
        """Until everything that was posted is indexed in all stages."""
        await self.memory.close()
        await self.worked_off()

    async def worked_off(self) -> None:
        """Until this process has no embeddings and no summaries to make."""
        if isinstance(self.queue, InProcessQueue):
            await self.queue.join()
        if self.summaries:
            await self.summaries.queue.join()


@asynccontextmanager
async def open_runtime(
    settings: Settings,
    *,
    drain: float = 5.0,
    lasting: bool = False,
    queues: OpenQueues = own_queues,
) -> AsyncIterator[Runtime]:
    """Open store, models and queues; close them in order, finishing work for `drain` seconds.
    `lasting`: the process stays, so the embedder is loaded later (`Runtime.load`), and memories are
    worked on in the background. `queues`: opens those that it shares with other processes.

    Raises `StoreUnavailable`, `StoreCorrupt` or `BadRequest` where the store cannot be opened, or
    half of what a model needs is missing.
    """
    store = await asyncio.to_thread(open_store, settings.store)
    builder = StageOne(child=settings.index_processes)
    try:
        opened = await open_unloaded(settings, patient=drain > 0)
        if not lasting:
            opened = await _loaded(opened)
        embedder = opened.embedder
        clock = SystemClock()
        shared = queues(settings, store, clock, embedder)
        queue: IndexQueue = NoQueue()
        if embedder:
            cache_bytes = settings.cache_limits.vectors
            here = InProcessQueue(store, embedder, clock, cache_bytes=cache_bytes)
            queue = shared.queue if shared else here
        summarizer = open_summarizer(settings) if not shared else None
        stage_three = (
            SummaryStage.of(settings, store, clock, summarizer, patient=drain > 0)
            if summarizer
            else None
        )
        by_workers = shared.summaries if shared else None
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
            peers=shared.peers if shared else None,
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
            tallies=store if lasting else None,  # a command asks no model for memories
        )
        if lasting:
            saved.start()
        sweeper = Sweeper(memory, saved.book)
        sweeper.start()
        if isinstance(queue, InProcessQueue):
            queue.start()
        if stage_three:
            stage_three.queue.start()
        if shared:
            await shared.start(memory.forgotten)
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
                shared,
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
                *([shared.close(drain)] if shared else ()),
            )
            if embedder:
                await embedder.close()
    finally:
        await builder.close()
        await store.close()


async def _loaded(opened: OpenedEmbedder) -> OpenedEmbedder:
    """Load the embedder, and the vocabulary with it."""
    loading = asyncio.to_thread(tokens.count, "warm up")
    result, _ = await asyncio.gather(loaded(opened), loading)
    return result


def _vectors(queue: IndexQueue) -> Mapping[str, SizedCache]:
    return {"vectors": queue.passages} if isinstance(queue, InProcessQueue) else {}

"""Wire the parts of a process that keeps memory, from the settings.

The server, the command line and the library open one `Runtime`; it is the only place that chooses
adapters. Queues shared between processes are passed in by the server. A command for one history
does its work itself, whatever the setting `queue` says. A server listens before its vocabulary and
its embedder are loaded (`Runtime.load`).
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from memtree.clock import Clock
from memtree.config import Settings
from memtree.context.context_memory import ContextMemory
from memtree.context.read_histories import MessageCache, ReadHistories
from memtree.context.warm_conversations import TreeCaches
from memtree.errors import EmbedderUnavailable, Unavailable
from memtree.history.message import Volatile
from memtree.jobs.embedding import InProcessQueue, NoQueue, OpenedEmbedder, loaded, open_unloaded
from memtree.jobs.growing import StageOne
from memtree.jobs.memory_services import MemoryServices, open_memory_services
from memtree.jobs.summary_stage import SummaryStage, open_summarizer
from memtree.memories.book import MemoryBook
from memtree.ports.context_store import Receipt, Store
from memtree.ports.indexing_stages import IndexQueue, Peers, SummaryQueue
from memtree.ports.models import Embedder
from memtree.process.bounded import CacheLimits, SizedCache
from memtree.stores import Memories, open_memories, open_store
from memtree.stores.context.sql_store import SqlStore
from memtree.text import tokens

log = logging.getLogger("memtree.indexer")

INTERVAL = 3_600.0  # seconds
FIRST = 30.0  # seconds after the start, so that it does not delay the first requests


class Sweeper:
    """Sweeps in the background. Call `start()` and `close()` in a running event loop."""

    def __init__(
        self,
        memory: ContextMemory,
        book: MemoryBook,
        *,
        interval: float = INTERVAL,
        first: float = FIRST,
    ) -> None:
        self._memory, self._book = memory, book
        self._interval, self._first = interval, first
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="sweeper")

    async def close(self) -> None:
        """Stop. A running sweep finishes its transaction in the store's own thread."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _run(self) -> None:
        try:
            await self._memory.keep_vectors()
        except Unavailable as error:
            log.warning("retention.failed code=%s", error.code)
        await asyncio.sleep(self._first)
        while True:
            await self.sweep()
            await asyncio.sleep(self._interval)

    async def sweep(self) -> Receipt:
        """Sweep once; if the store is unavailable, the next sweep does the work."""
        try:
            gone = await self._memory.sweep()
            memories = await self._book.sweep()
        except Unavailable as error:
            log.warning("retention.failed code=%s", error.code)
            return Receipt()
        if any(gone):
            log.info(
                "retention.swept addresses=%d nodes=%d epochs=%d vectors=%d",
                *gone[:2],
                gone.epochs,
                gone.vectors,
            )
        if memories:
            log.info("retention.erased memories=%d", memories)
        return gone


@dataclass(frozen=True, slots=True)
class ContextCaches:
    """Caches of `ContextMemory`, named as in `CacheLimits`."""

    message_infos: MessageCache
    read_histories: ReadHistories
    trees: TreeCaches

    @classmethod
    def of(cls, limits: CacheLimits) -> ContextCaches:
        return cls(
            MessageCache(secrets.randbits(32), limits.message_infos),
            ReadHistories(limits.read_histories),
            TreeCaches.of(limits),
        )

    def by_name(self) -> Mapping[str, SizedCache]:
        return {
            "message_infos": self.message_infos,
            "read_histories": self.read_histories,
            **self.trees._asdict(),
        }


# ---------------------------------------------------------------- the runtime


class SystemClock:
    """The `Clock` of a real process."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()


class SharedQueues(Protocol):
    """Queues whose work other processes do, and the messages between those processes. The opener
    starts and closes them. `summaries`: None if no model writes summaries."""

    @property
    def queue(self) -> IndexQueue: ...

    @property
    def summaries(self) -> SummaryQueue | None: ...

    @property
    def peers(self) -> Peers: ...

    async def start(self, forgotten: Callable[[str | None], object]) -> None:
        """Start. `forgotten`: called when another process has deleted something of a tenant (None:
        of an unknown one)."""
        ...

    async def close(self, patience: float) -> None:
        """Send what can be sent within `patience` seconds, and end."""
        ...


OpenQueues = Callable[[Settings, Store, Clock, Embedder | None], SharedQueues | None]


def own_queues(*_: object) -> None:
    """Open no shared queues: the process does its work itself."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """Open parts of a process; `open_runtime` closes them."""

    memory: ContextMemory
    memory_services: MemoryServices
    memories: Memories
    store: Store
    opened: OpenedEmbedder
    queue: IndexQueue
    summaries: SummaryStage | None = None  # None: this process makes no summaries by a model
    builder: StageOne | None = None
    shared: SharedQueues | None = None  # if set, workers do stages 2 and 3
    caches: Mapping[str, SizedCache] = field(default_factory=dict)  # by name

    @property
    def embedder(self) -> Embedder | None:
        return self.opened.embedder

    async def load(self) -> None:
        """Load what the first request would otherwise wait for: the vocabulary, which takes half a
        second, and the embedder. Uses threads, though the vocabulary holds the GIL. Both are also
        loaded on first use, so this may be cancelled, or fail."""
        await asyncio.to_thread(tokens.count, "warm up")
        try:
            await self.opened.load()
        except EmbedderUnavailable as error:
            log.warning("embedder.unavailable, retried later: %s", error.message)

    async def settle(self) -> None:
        """Wait until everything posted is indexed in all stages."""
        await self.memory.close()
        await self.worked_off()

    async def worked_off(self) -> None:
        """Wait until this process has no embeddings and no summaries to make."""
        if isinstance(self.queue, InProcessQueue):
            await self.queue.join()
        if self.summaries:
            await self.summaries.queue.join()

    async def start_queues(self) -> None:
        """Start stages 2 and 3, here or by the shared queues."""
        if isinstance(self.queue, InProcessQueue):
            self.queue.start()
        if self.summaries:
            self.summaries.queue.start()
        if self.shared:
            await self.shared.start(self.memory.forgotten)

    async def close(self, drain: float) -> None:
        """End all work except that of the builder and the store; finish it for `drain` seconds."""
        await self.memory_services.close(drain)
        await self.memory.close(drain)
        await asyncio.gather(
            *([self.queue.close(drain)] if isinstance(self.queue, InProcessQueue) else ()),
            *([self.summaries.close(drain)] if self.summaries else ()),
            *([self.shared.close(drain)] if self.shared else ()),
        )
        await self.opened.close()


@asynccontextmanager
async def open_runtime(
    settings: Settings,
    *,
    drain: float = 5.0,
    lasting: bool = False,
    queues: OpenQueues = own_queues,
) -> AsyncIterator[Runtime]:
    """Open store, models and queues; close them in order, finishing work for `drain` seconds.
    `lasting`: the process is long-lived, so the embedder is loaded later (`Runtime.load`), and
    memories are indexed in the background. `queues`: opens those shared with other processes.

    Raises `StoreUnavailable`, `StoreCorrupt` or `BadRequest` if the store cannot be opened, or some
    of a model's settings are missing.
    """
    store = await asyncio.to_thread(open_store, settings.store)
    builder = StageOne(child=settings.index_processes)
    try:
        opened = await open_unloaded(settings, patient=drain > 0)
        if not lasting:
            loading = asyncio.to_thread(tokens.count, "warm up")
            opened, _ = await asyncio.gather(loaded(opened), loading)
        clock = SystemClock()
        shared = queues(settings, store, clock, opened.embedder)
        summarizer = open_summarizer(settings) if not shared else None
        stage_three = (
            SummaryStage.of(settings, store, clock, summarizer, patient=drain > 0)
            if summarizer
            else None
        )
        parts = _RuntimeParts(settings, store, builder, clock, opened, shared, stage_three)
        runtime = parts.runtime(lasting)
        sweeper = Sweeper(runtime.memory, runtime.memory_services.book)
        if lasting:
            runtime.memory_services.start()
        sweeper.start()
        await runtime.start_queues()
        try:
            yield runtime
        finally:
            await sweeper.close()
            await runtime.close(drain)
    finally:
        await builder.close()
        await store.close()


@dataclass(frozen=True, slots=True)
class _RuntimeParts:
    """Parts from which a runtime is built. `stage_three`: summarises in this process."""

    settings: Settings
    store: SqlStore
    builder: StageOne
    clock: Clock
    opened: OpenedEmbedder
    shared: SharedQueues | None
    stage_three: SummaryStage | None

    def runtime(self, lasting: bool) -> Runtime:
        """Build the runtime; nothing runs in the background yet."""
        settings, store = self.settings, self.store
        queue, caches = self._queue(), ContextCaches.of(settings.cache_limits)
        memories = open_memories(store)
        memory = self._memory(queue, caches)
        saved = open_memory_services(
            settings,
            memories,
            self.clock,
            self.opened.memories,
            infos=caches.message_infos,
            tallies=store if lasting else None,  # a command calls no model for memories
        )
        vectors = {"vectors": queue.passages} if isinstance(queue, InProcessQueue) else {}
        return Runtime(
            memory,
            saved,
            memories,
            store,
            self.opened,
            queue,
            self.stage_three,
            self.builder,
            self.shared,
            {**caches.by_name(), **vectors, **saved.extracting.caches},
        )

    def _queue(self) -> IndexQueue:
        embedder = self.opened.embedder
        if embedder is None:
            return NoQueue()
        if self.shared:
            return self.shared.queue
        cache_bytes = self.settings.cache_limits.vectors
        return InProcessQueue(self.store, embedder, self.clock, cache_bytes=cache_bytes)

    def _memory(self, queue: IndexQueue, caches: ContextCaches) -> ContextMemory:
        shared, stage_three, settings = self.shared, self.stage_three, self.settings
        by_workers = shared.summaries if shared else None
        return ContextMemory(
            self.store,
            self.builder,
            queue,
            self.clock,
            embedder=self.opened.embedder,
            facts=caches.message_infos,
            volatile=Volatile(settings.volatile_tags, settings.preamble_tags),
            summaries=stage_three.queue if stage_three else by_workers,
            settled=stage_three.completed if stage_three else None,
            peers=shared.peers if shared else None,
            read=caches.read_histories,
            caches=caches.trees,
        )

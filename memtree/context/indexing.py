"""Indexes a history: finds it in the store, and grows its tree to the end.

New leaves are passed to stages 2 and 3. Background work continues after its request was answered:
one task per conversation.

No failure prevents an answer: without the store the tree is built for this request alone, and
without the builder the indexed part is used. Awaits ports.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from memtree.clock import Clock
from memtree.context.growth_commits import Generations, SharedCommits
from memtree.context.index_lookup import (
    NEWEST,
    NOTHING_INDEXED,
    FinishedIndexes,
    IndexLookup,
    IndexState,
    Trouble,
    covering,
    with_summary,
)
from memtree.context.summary_renewal import ExtractionRenewal, SummaryBacklog
from memtree.context.turn_request import TurnRequest
from memtree.context.warm_conversations import TreeCaches
from memtree.errors import NodesGone, StoreUnavailable, Unavailable
from memtree.history.chat_history import History
from memtree.history.message_list import raws_of
from memtree.ports.context_store import TreeStore
from memtree.ports.indexing_stages import NEWEST as PREFIXES
from memtree.ports.indexing_stages import (
    OWN,
    SHARED_TOKENS,
    Builder,
    GrowthLock,
    IndexQueue,
    Peers,
    Pending,
)
from memtree.ports.models import Embedder
from memtree.process import tracing
from memtree.ranking.corpus import Corpus
from memtree.tree.growth import Tail
from memtree.tree.node import LeafWork, Node, to_read

log = logging.getLogger("memtree")

# Seconds for stage 1 if the history fits the model without a tree, so that waiting is not
# necessary; and if nobody waits for it.
BUILD_PATIENCE, LONG_PATIENCE = 20.0, 600.0
# Seconds that a request gets before its index is prepared, and before summaries are renewed
LATER, AFTERWARDS = 0.02, 1.0


class BackgroundTasks:
    """`step`: the name of the work in traces. `later`: seconds to wait first, so that running
    requests go ahead."""

    def __init__(self, step: str, later: float = 0.0) -> None:
        self._step, self._later = step, later
        self._tasks: dict[tuple[str, bytes], asyncio.Task[Any]] = {}

    def start(
        self, conversation: tuple[str, bytes], work: Callable[[], Coroutine[Any, Any, Any]]
    ) -> None:
        """Start the work, unless this conversation has a task already."""
        if conversation in self._tasks:
            return
        task = asyncio.create_task(self._traced(work))
        self._tasks[conversation] = task
        task.add_done_callback(lambda _: self._tasks.pop(conversation, None))

    def running(self, tenant: str) -> int:
        """Return the number of the tenant's tasks."""
        return sum(tenant == name for name, _ in self._tasks)

    async def close(self, seconds: float) -> None:
        """Wait `seconds` for all tasks, then cancel the rest."""
        if not self._tasks:
            return
        _, unfinished = await asyncio.wait(self._tasks.values(), timeout=seconds)
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)

    async def _traced(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        # The coroutine is created here, not by the caller: a task that is cancelled before its
        # first step then leaves no coroutine that was never awaited.
        with tracing.behind(self._step, tracing.current()):
            if self._later:
                await asyncio.sleep(self._later)
            return await work()


class Indexing:
    """Finds and grows trees; keeps nodes and corpora of recent requests in memory."""

    def __init__(
        self,
        store: TreeStore,
        builder: Builder,
        queue: IndexQueue,
        clock: Clock,
        embedder: Embedder | None,
        backlog: SummaryBacklog | None,
        peers: Peers,
        caches: TreeCaches,
    ) -> None:
        """`backlog`: None where no model writes summaries."""
        self._store, self.builder, self._queue, self._clock = store, builder, queue, clock
        self._embedder, self._backlog = embedder, backlog
        self._peers = peers
        self._lookup = IndexLookup(store, clock)
        self.conversations, self.passed = caches
        self.finished = FinishedIndexes(self.conversations, clock, embeds=embedder is not None)
        self._generations = Generations()
        self._commits = SharedCommits(store, clock, self._generations, self._made)
        self._background = BackgroundTasks("prepare", LATER)
        self._renewal = ExtractionRenewal(
            store, builder, clock, self.conversations, lambda request: not self._forgotten(request)
        )
        self._renewals = BackgroundTasks("renew", AFTERWARDS)

    async def prepare(self, request: TurnRequest) -> IndexState:
        """Find the indexed part, grow it to the end of the history, and pass the rest to stages 2
        and 3."""
        index = await self._grown(request)
        if self._renewal.is_due(index) and index.trouble is not Trouble.STORE:
            renew = partial(self._renewal.renew, request, index)
            self._renewals.start(request.conversation, renew)
        with tracing.step("vectors"):
            index = await self._embeddings(request, index)
        with tracing.step("debts"):
            index = await self._summaries(request, index)
        self.finished.add(request.posted, index)
        self.drop_forgotten(request.tenant, request.generation)
        return index

    def prepare_later(self, request: TurnRequest) -> None:
        """Prepare the index in the background; for one conversation at most once at a time."""
        if self.finished.find(request.posted) is not None:
            return
        self._background.start(request.conversation, lambda: self.prepare(request))

    async def close(self, patience: float = BUILD_PATIENCE) -> None:
        """Wait for background work, within limits; `patience`: seconds for summaries of stage 1,
        which are made again when the history is posted."""
        await self._background.close(BUILD_PATIENCE)
        await self._renewals.close(patience)
        if self._backlog:
            await self._backlog.close()

    async def longest_seen(self, posted: History) -> int:
        """Return the number of messages of the longest prefix that is indexed, or was recently sent
        whole: requests of this conversation pass through here, so the provider has cached it."""
        passed = self.passed.longest(posted)
        if passed > len(posted) - NEWEST:  # the previous request
            return passed
        covered = await covering(self._store, posted)
        return max(passed, covered.length if covered else 0)

    async def corpus(self, index: IndexState) -> Corpus:
        """Return the passages of a tree."""
        dimensions = self._embedder.dimensions if self._embedder else 0
        # Without vectors any dimension will do.
        return await self.conversations.corpus(index.tree, dimensions or 1)

    def pending(self, tenant: str) -> Pending:
        """Return the summaries of stage 1 that are being made, by the tokens of their leaves."""
        jobs = self._renewals.running(tenant)
        return Pending(self.conversations.sketched_tokens(tenant) if jobs else 0, jobs)

    @property
    def cached_tenants(self) -> set[str]:
        """Return the tenants with cached trees in this process."""
        kept = (self.conversations, self.finished)
        return {tenant for each in kept for tenant in each.tenants}

    # -- deletions ---------------------------------------------------------------------------

    def generation(self, tenant: str) -> int:
        """Return the tenant's deletion count: a request that began under an earlier one must not
        write."""
        return self._generations.of(tenant)

    def forget(self, tenant: str | None) -> None:
        """Forget a tenant (None: all, because data of an unknown one was deleted)."""
        self._generations.change(tenant)
        self.drop(tenant)

    def drop(self, tenant: str | None) -> None:
        """Drop the tenant's cached data; None: all tenants'."""
        for cache in (self.conversations, self.passed, self.finished):
            cache.forget(tenant)
        if self._backlog:
            self._backlog.forget(tenant)

    def drop_forgotten(self, tenant: str, generation: int) -> None:
        """Drop data that a request which began in this generation may have cached after a
        deletion."""
        if generation != self.generation(tenant):
            self.drop(tenant)

    # -- stage 1 -----------------------------------------------------------------------------

    async def _grown(self, request: TurnRequest) -> IndexState:
        """Return the index of a history once it has been grown to its end, here or elsewhere."""
        posted = request.posted
        known = self.finished.before(posted, request.previous_length)
        index = known or await self._lookup.find(request, self.conversations)
        until = self._clock.monotonic() + request.patience
        lock: GrowthLock | None = None
        while lock is None:
            try:
                async with asyncio.timeout(until - self._clock.monotonic()):
                    if posted.size(index.frontier.messages) <= SHARED_TOKENS or index.trouble:
                        lock = OWN  # without a store, nothing from other processes arrives
                    else:  # None if another process did some of the work
                        addresses = posted.addresses[index.prefix + 1 :][-PREFIXES:]
                        lock = await self._peers.take(posted.tenant, addresses)
            except TimeoutError:
                return self._out_of_time(request, index)
            if lock is None:
                index = await self._lookup.find(request, self.conversations)
        index = index if known else self.finished.with_cut(posted, index)
        async with lock:
            rest = replace(request, patience=until - self._clock.monotonic())
            try:
                return await self._grow(rest, index)
            except NodesGone:  # deleted between reading and writing: start from the beginning
                self.conversations.forget(request.tenant)
            try:
                return await self._grow(rest, NOTHING_INDEXED)
            except NodesGone:
                return replace(NOTHING_INDEXED, trouble=Trouble.STORE)

    async def _grow(self, request: TurnRequest, index: IndexState) -> IndexState:
        """Grow the index to the end of the history by stage 1. Raises `NodesGone`."""
        posted, first = request.posted, index.frontier.messages
        commits = self._commits.of(request, index.prefix)
        try:
            async with asyncio.timeout(request.patience):
                with tracing.step("grow"):
                    tail = Tail(
                        frontier=index.frontier,
                        loose=await self._renewal.loose(posted.tenant, index),
                        messages=tuple(map(raws_of(posted.messages), range(first, len(posted)))),
                        digests=tuple(fact.digest for fact in posted.facts[first:]),
                        addresses=posted.addresses[first + 1 :],
                        volatile=posted.volatile.tags,
                        known=index.prefix,
                        cut=index.cut,
                        # a model that writes summaries reads those of extraction
                        sparse=self._backlog is None,
                    )
                    grown = await self.builder.grow(tail, posted.size(first), commits.keep)
        except TimeoutError:
            return self._out_of_time(request, index)
        except Unavailable as error:
            log.warning("build.failed code=%s", error.code)
            return replace(index, trouble=Trouble.INDEXING)
        try:
            kept = await commits.commit(grown)
        except NodesGone:
            self._commits.drop(request)
            raise
        tree = self.conversations.grown(request.tenant, index.tree, grown.frontier, grown.nodes)
        self._made(request.tenant, grown.nodes)
        return replace(
            index,
            frontier=grown.frontier,
            tree=tree,
            open=grown.open,
            cut=grown.cut,
            trouble=index.trouble if kept else index.trouble or Trouble.STORE,
        )

    def _out_of_time(self, request: TurnRequest, index: IndexState) -> IndexState:
        if request.patience < LONG_PATIENCE:  # nobody waits any more, but the next request needs it
            later = replace(request, patience=LONG_PATIENCE, backfill=False, previous_length=0)
            self.prepare_later(later)
        return replace(index, trouble=Trouble.INDEXING)

    def _made(self, tenant: str, nodes: Sequence[Node]) -> None:
        """Handle nodes that stage 1 has just made."""
        if self._backlog:
            self._backlog.grown(tenant, nodes)

    def _forgotten(self, request: TurnRequest) -> bool:
        """Return True if something of the tenant was deleted since the request began."""
        return request.generation != self.generation(request.tenant)

    # -- stages 2 and 3 ----------------------------------------------------------------------

    async def _embeddings(self, request: TurnRequest, index: IndexState) -> IndexState:
        """Update the corpus, fetch new vectors, submit leaves that lack them."""
        if self._embedder is None or not index.whole:
            return index
        posted = request.posted
        # Read before the corpus is opened: if the dimensions become known later, no vectors are
        # read.
        recipe = self._embedder.recipe
        store_works = index.trouble is not Trouble.STORE
        corpus = await self.corpus(index)
        if (lacking := corpus.lacking()) and store_works:
            ids = [corpus.leaves[row].id for row in lacking]
            try:
                packed = await self._store.vectors(request.tenant, recipe, ids)
                corpus = await self.conversations.with_vectors(index.tree, corpus, packed)
            except StoreUnavailable as error:
                log.warning("store.vectors_failed code=%s", error.code)
            lacking = corpus.lacking()
        work = [LeafWork(corpus.leaves[row], corpus.places[row].first) for row in lacking]
        if work and store_works and not self._forgotten(request):
            # The address after the first message, so that two chats that begin at the root differ.
            start = posted.addresses[work[0].first + 1]
            self._queue.submit(posted, start, work, backfill=request.backfill)
        return replace(
            index,
            unembedded=frozenset(item.leaf.id for item in work),
            unembedded_tokens=sum(item.leaf.tokens for item in work),
        )

    async def _summaries(self, request: TurnRequest, index: IndexState) -> IndexState:
        """Find nodes that no model has summarised yet; they are submitted after the answer is
        sent."""
        if self._backlog is None or not index.whole:
            return index
        lacking = await self._backlog.lacking(
            request.tenant, index.frontier, index.nodes, cached=index.cached
        )
        if lacking and index.trouble is not Trouble.STORE and not self._forgotten(request):
            self._backlog.hand_on(
                request.posted,
                index.frontier,
                index.nodes,
                lacking,
                lambda: not self._forgotten(request),
                backfill=request.backfill,
            )
        leaves = [node for node in lacking if not node.children] or lacking
        left = sum(to_read(node) for node in leaves if node.id not in index.unembedded)
        return replace(index, unsummarised_tokens=left)

    async def newest(self, posted: History, index: IndexState) -> IndexState:
        """Return the index with the newest version of each summary, and with the open leaf
        extracted."""
        if index.open is not None:  # it may be part of a long message: not in the event loop
            index = await asyncio.to_thread(index.with_open_extracted, posted)
        try:
            later = await self._store.newest_summaries(posted.tenant, list(index.nodes))
        except Unavailable as error:
            log.warning("store.summaries_failed code=%s", error.code)
            return index
        if not later:
            return index
        changed = {id_: with_summary(index.nodes[id_], each) for id_, each in later.items()}
        return replace(index, newer=changed)

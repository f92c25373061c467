"""What is indexed of a history: found in the store, grown to its end, handed on to stages 2 and 3.

No failure stops an answer: without the store the tree is built for this request alone, without
the builder what is known has to do. Awaits ports, as `compress` does.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from itertools import count
from typing import Any
from weakref import WeakValueDictionary

from memtree import tracing
from memtree.context.caches import CorpusCache, NodeCache
from memtree.context.growth_commits import GrowthCommits
from memtree.context.index_state import NOTHING_INDEXED, IndexState, Trouble, with_summary
from memtree.context.prefix_lookup import NEWEST, CoveredPrefix, covering
from memtree.context.summary_backlog import SummaryBacklog
from memtree.conversation.history import History
from memtree.days import DAY
from memtree.errors import NodesGone, StoreUnavailable, Unavailable
from memtree.ports.builder import Builder
from memtree.ports.clock import Clock
from memtree.ports.models import Embedder
from memtree.ports.peers import NEWEST as PREFIXES
from memtree.ports.peers import OWN, SHARED_TOKENS, GrowthLock, NoPeers, Peers
from memtree.ports.queues import IndexQueue
from memtree.ports.store import TreeStore
from memtree.ranking.corpus import Corpus
from memtree.tree.growth import Tail
from memtree.tree.node import Node
from memtree.tree.work import LeafWork, to_read

log = logging.getLogger("memtree")

# Seconds for stage 1 where the history fits the model without a tree, so that nobody must wait
BUILD_PATIENCE = 20.0
LONG_PATIENCE = 600.0  # where nobody waits for it
MAX_GENERATIONS = 10_000  # tenants whose deletions are remembered
PASSED_KEPT = 20_000  # addresses of histories that went whole, some 200 bytes each


class Indexing:
    """Finds and grows trees; keeps nodes and corpora of late requests at hand."""

    def __init__(
        self,
        store: TreeStore,
        builder: Builder,
        queue: IndexQueue,
        clock: Clock,
        embedder: Embedder | None,
        debts: SummaryBacklog | None = None,
        peers: Peers | None = None,
    ) -> None:
        """`debts`: None where no model writes summaries; `peers`: None where there are none."""
        self._store, self._builder, self._queue, self._clock = store, builder, queue, clock
        self._embedder, self._debts = embedder, debts
        self._peers = peers or NoPeers()
        self._nodes = NodeCache()
        self._corpora = CorpusCache()
        self._generations: dict[str, int] = {}
        self._everybody = 0  # generation of all tenants
        self._deletions = count(1)
        self._passed: OrderedDict[bytes, str] = OrderedDict()  # address -> tenant
        self._background: dict[tuple[str, bytes], asyncio.Task[IndexState]] = {}
        self._commits: WeakValueDictionary[tuple[bytes, int, int], GrowthCommits] = (
            WeakValueDictionary()
        )

    async def prepare(
        self,
        posted: History,
        days: int,
        generation: int,
        patience: float = BUILD_PATIENCE,
        *,
        backfill: bool = False,
    ) -> IndexState:
        """Find what is indexed, grow it to the end of the history, and hand the rest on. `days`:
        how long it is to be kept from now on. `generation`: of the request's beginning.
        `patience`: seconds for stage 1. `backfill`: stages 2 and 3 do others first."""
        index = await self._reached(posted, days, generation, patience)
        with tracing.step("vectors"):
            index = await self._embeddings(posted, index, generation, backfill)
        with tracing.step("debts"):
            index = await self._summaries(posted, index, generation, backfill)
        self.drop_forgotten(posted.tenant, generation)
        return index

    def prepare_later(
        self, posted: History, days: int, generation: int, patience: float = BUILD_PATIENCE
    ) -> None:
        """The same in the background; of one conversation at most once at a time."""
        name = (posted.tenant, posted.addresses[1])
        if name in self._background:
            return
        work = self.prepare(posted, days, generation, patience)
        task = asyncio.create_task(_behind(work))
        self._background[name] = task
        task.add_done_callback(lambda _: self._background.pop(name, None))

    async def close(self) -> None:
        """Let what goes on in the background come to its end, unless that is far away."""
        if self._background:
            _, late = await asyncio.wait(self._background.values(), timeout=BUILD_PATIENCE)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        if self._debts:
            await self._debts.close()

    def passed(self, posted: History) -> None:
        """Remember that a history went whole."""
        self._passed[posted.addresses[-1]] = posted.tenant
        while len(self._passed) > PASSED_KEPT:
            self._passed.popitem(last=False)

    async def longest_seen(self, posted: History) -> int:
        """Messages of the longest prefix that is indexed, or went whole lately: its conversation
        goes through here, so the provider has it cached."""
        lengths = range(len(posted), 0, -1)
        passed = next((i for i in lengths if posted.addresses[i] in self._passed), 0)
        if passed > len(posted) - NEWEST:  # the request before this one
            return passed
        covered = await covering(self._store, posted)
        return max(passed, covered.length if covered else 0)

    def corpus(self, posted: History, index: IndexState) -> AbstractAsyncContextManager[Corpus]:
        """The passages of a tree, held alone while the block runs."""
        dimensions = self._embedder.dimensions if self._embedder else 0
        # Without vectors any length does.
        return self._corpora.of(posted.tenant, index.frontier, index.nodes, dimensions or 1)

    @property
    def cached_tenants(self) -> set[str]:
        """Tenants of whose trees something is cached in this process."""
        return self._nodes.tenants | self._corpora.tenants

    def generation(self, tenant: str) -> int:
        """Changes whenever something of the tenant is deleted: who began before must not write."""
        return max(self._everybody, self._generations.get(tenant, 0))

    def forget(self, tenant: str) -> None:
        self._generations[tenant] = next(self._deletions)
        if len(self._generations) > MAX_GENERATIONS:  # the oldest: no request is that old
            del self._generations[next(iter(self._generations))]
        self.drop(tenant)

    def forget_all(self) -> None:
        """The same for every tenant: of whom something was deleted is not known."""
        self._everybody = next(self._deletions)
        self._generations.clear()
        self._nodes, self._corpora = NodeCache(), CorpusCache()
        if self._debts:
            self._debts.forget_all()
        self._passed.clear()

    def drop(self, tenant: str) -> None:
        """Let go of what is kept at hand."""
        self._nodes.forget(tenant)
        self._corpora.forget(tenant)
        if self._debts:
            self._debts.forget(tenant)
        for address in [one for one, whose in self._passed.items() if whose == tenant]:
            del self._passed[address]

    def drop_forgotten(self, tenant: str, generation: int) -> None:
        """What a request that began in this generation may have put at hand since a deletion."""
        if generation != self.generation(tenant):
            self.drop(tenant)

    async def _reached(
        self, posted: History, days: int, generation: int, patience: float
    ) -> IndexState:
        """What is indexed of a history when it has been grown to its end, here or elsewhere."""
        index = await self._looked_up(posted, days)
        until = self._clock.monotonic() + patience
        lock: GrowthLock | None = None
        while lock is None:
            try:
                async with asyncio.timeout(until - self._clock.monotonic()):
                    lock = await self._growth_lock(posted, index)
            except TimeoutError:
                return self._out_of_time(posted, index, days, generation, patience)
            if lock is None:
                index = await self._looked_up(posted, days)
        async with lock:
            left = until - self._clock.monotonic()
            try:
                return await self._grow(posted, index, days, generation, left)
            except NodesGone:  # forgotten between reading and writing: from the beginning
                self._nodes.forget(posted.tenant)
            try:
                return await self._grow(posted, NOTHING_INDEXED, days, generation, left)
            except NodesGone:
                return replace(NOTHING_INDEXED, trouble=Trouble.STORE)

    async def _growth_lock(self, posted: History, index: IndexState) -> GrowthLock | None:
        """None where another process did some of what has to be done."""
        if posted.size(index.frontier.messages) <= SHARED_TOKENS or index.trouble:
            return OWN  # nothing that others do comes through a store out of order
        return await self._peers.take(
            posted.tenant, posted.addresses[index.prefix + 1 :][-PREFIXES:]
        )

    async def _looked_up(self, posted: History, days: int) -> IndexState:
        try:
            with tracing.step("look_up"):
                return await self._find(posted, days)
        except Unavailable as error:
            log.warning("store.unavailable code=%s", error.code)
            return replace(NOTHING_INDEXED, trouble=Trouble.STORE)

    async def _find(self, posted: History, days: int) -> IndexState:
        covered = await covering(self._store, posted)
        if covered is None:
            return NOTHING_INDEXED
        frontier = covered.frontier
        nodes = self._nodes.below(posted.tenant, frontier.nodes)
        cached = nodes is not None
        if nodes is None:
            nodes = await self._store.descendants(posted.tenant, frontier.nodes)
            if not _complete(frontier.nodes, nodes):
                log.warning("store.node_missing")
                return NOTHING_INDEXED
            self._nodes.add(posted.tenant, nodes.values())
        await self._renew(posted, covered, days)
        return IndexState(frontier, nodes, covered.length, cached=cached)

    async def _renew(self, posted: History, covered: CoveredPrefix, days: int) -> None:
        """Use keeps a chain alive; written at most once a day."""
        expires = self._clock.now() + days * DAY
        if covered.expires > expires - DAY:
            return
        chain = posted.addresses[1 : covered.length + 1]
        try:
            await self._store.renew(posted.tenant, chain, expires)
        except Unavailable as error:
            log.warning("store.renew_failed code=%s", error.code)

    async def _grow(
        self, posted: History, index: IndexState, days: int, generation: int, patience: float
    ) -> IndexState:
        """The same grown to the end of the history by stage 1. Raises `NodesGone`."""
        commits = self._commits_of(posted, index, days, generation)
        try:
            async with asyncio.timeout(patience):
                size = posted.size(index.frontier.messages)
                with tracing.step("grow"):
                    grown = await self._builder.grow(_tail(posted, index), size, commits.keep)
        except TimeoutError:
            return self._out_of_time(posted, index, days, generation, patience)
        except Unavailable as error:
            log.warning("build.failed code=%s", error.code)
            return replace(index, trouble=Trouble.INDEXING)
        try:
            kept = await commits.commit(grown)
        except NodesGone:
            self._commits.pop((posted.addresses[-1], days, generation), None)
            raise
        self._nodes.add(posted.tenant, grown.nodes)
        self._made(posted.tenant, grown.nodes)
        return replace(
            index,
            frontier=grown.frontier,
            nodes={**index.nodes, **{node.id: node for node in grown.nodes}},
            open=grown.open,
            trouble=index.trouble if kept else index.trouble or Trouble.STORE,
        )

    def _out_of_time(
        self, posted: History, index: IndexState, days: int, generation: int, patience: float
    ) -> IndexState:
        if patience < LONG_PATIENCE:  # nobody waits any more, but the next request needs it
            self.prepare_later(posted, days, generation, LONG_PATIENCE)
        return replace(index, trouble=Trouble.INDEXING)

    def _commits_of(
        self, posted: History, index: IndexState, days: int, generation: int
    ) -> GrowthCommits:
        """Those of requests for the same history that began alike are the same."""
        tenant, name = posted.tenant, (posted.addresses[-1], days, generation)
        commits = self._commits.get(name)
        if commits is None:
            expires = self._clock.now() + days * DAY
            commits = GrowthCommits(
                self._store,
                posted,
                expires,
                index.prefix,
                wanted=lambda: generation == self.generation(tenant),
                made=lambda nodes: self._made(tenant, nodes),
            )
            self._commits[name] = commits
        commits.stored = max(commits.stored, index.prefix)
        return commits

    def _made(self, tenant: str, nodes: Sequence[Node]) -> None:
        if self._debts:
            self._debts.grown(tenant, nodes)

    async def _embeddings(
        self, posted: History, index: IndexState, generation: int, backfill: bool
    ) -> IndexState:
        """Bring the corpus up to date, fetch vectors that have come, submit what lacks them."""
        if self._embedder is None or not index.whole:
            return index
        # Before the corpus is opened: of dimensions that are learned later none is read.
        recipe = self._embedder.recipe
        store_works = index.trouble is not Trouble.STORE
        async with self.corpus(posted, index) as corpus:
            lacking = corpus.lacking()
            if lacking and store_works:
                ids = [corpus.leaves[row].id for row in lacking]
                try:
                    corpus.add_vectors(await self._store.vectors(posted.tenant, recipe, ids))
                except StoreUnavailable as error:
                    log.warning("store.vectors_failed code=%s", error.code)
                lacking = corpus.lacking()
            work = [LeafWork(corpus.leaves[row], corpus.places[row].first) for row in lacking]
        if work and store_works and generation == self.generation(posted.tenant):
            # The address behind the first message, so that two chats that begin at the root differ.
            start = posted.addresses[work[0].first + 1]
            self._queue.submit(posted, start, work, backfill=backfill)
        return replace(
            index,
            unembedded=frozenset(one.leaf.id for one in work),
            unembedded_tokens=sum(one.leaf.tokens for one in work),
        )

    async def _summaries(
        self, posted: History, index: IndexState, generation: int, backfill: bool
    ) -> IndexState:
        """Find what a model has not summarised yet; it is handed on when the answer is out."""
        if self._debts is None or not index.whole:
            return index
        tenant = posted.tenant
        lacking = await self._debts.lacking(
            tenant, index.frontier, index.nodes, cached=index.cached
        )

        def wanted() -> bool:
            return generation == self.generation(tenant)

        if lacking and index.trouble is not Trouble.STORE and wanted():
            self._debts.hand_on(
                posted, index.frontier, index.nodes, lacking, wanted, backfill=backfill
            )
        leaves = [node for node in lacking if not node.children] or lacking
        left = sum(to_read(node) for node in leaves if node.id not in index.unembedded)
        return replace(index, unsummarised_tokens=left)

    async def newest(self, posted: History, index: IndexState) -> IndexState:
        """The same with the newest version of each summary."""
        try:
            later = await self._store.newest_summaries(posted.tenant, list(index.nodes))
        except Unavailable as error:
            log.warning("store.summaries_failed code=%s", error.code)
            return index
        if not later:
            return index
        nodes = {id_: with_summary(node, later.get(id_)) for id_, node in index.nodes.items()}
        return replace(index, nodes=nodes)


async def _behind(work: Coroutine[Any, Any, IndexState]) -> IndexState:
    with tracing.behind("prepare", tracing.current()):
        return await work


def _complete(ids: Sequence[bytes], nodes: Mapping[bytes, Node]) -> bool:
    return all(id_ in nodes and _complete(nodes[id_].children, nodes) for id_ in ids)


def _tail(posted: History, index: IndexState) -> Tail:
    first = index.frontier.messages
    return Tail(
        frontier=index.frontier,
        loose={id_: index.nodes[id_] for id_ in index.frontier.nodes},
        messages=tuple(message.raw for message in posted.messages[first:]),
        digests=tuple(fact.digest for fact in posted.facts[first:]),
        addresses=posted.addresses[first + 1 :],
        volatile=posted.volatile.tags,
        known=index.prefix,
    )

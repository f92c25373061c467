"""Runs the one use case: a posted history in, the messages for the model out.

    read      the list goes on from a known one; only what is new is read (`read_histories`)
    decide    refuse, send whole, or fold: once a turn, by sizes and prices (`packing`)
    know      find the turn before, and grow the tree to the history's end (`indexing`)
    render    the epoch goes on as it was sent, or a new one begins (`EpochAnswers`); where neither
              can, the tree is unfolded for this request alone (`FreshAnswers`)
    remember  the turn is stored; the warm conversation and what was found in its messages stay

`/context_memory`, the chat route, the command line and library callers all use `ContextMemory`.
Pure rooms decide; `indexing`, `retrieval` and `folded_answers` await ports for them. No failure of
a port prevents an answer: without the store the tree is built for this request alone, without the
embedder ranking is BM25, and without a finished tree the older rounds are shortened.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace

from memtree.budget import packing
from memtree.clock import Clock
from memtree.context import warm_conversations
from memtree.context.answer import Answer, CompressResult, passed, with_index
from memtree.context.answer_details import AnswerDetails, FoldedReader
from memtree.context.answer_state import Reason, State, with_size
from memtree.context.folded_answers import EpochAnswers, FreshAnswers
from memtree.context.index_lookup import IndexState, Trouble
from memtree.context.indexing import BUILD_PATIENCE, Indexing
from memtree.context.kept_parts import Keeper
from memtree.context.known_conversations import KnownConversations
from memtree.context.read_histories import ReadHistories
from memtree.context.retrieval import Retriever
from memtree.context.summary_renewal import SummaryBacklog
from memtree.context.turn_request import CompressRequest, TurnRequest, why_whole
from memtree.context.warm_conversations import TreeCaches
from memtree.errors import ContextOverflow, MemTreeError, NotFound, Unavailable
from memtree.history.chat_history import History, MessageInfoCache, nothing_read
from memtree.history.message import Volatile
from memtree.history.message_list import size_from
from memtree.ports.context_store import ContextStore, Receipt
from memtree.ports.indexing_stages import (
    Builder,
    IndexQueue,
    NoPeers,
    Peers,
    Pending,
    SummaryQueue,
    SummaryStatus,
)
from memtree.ports.models import Embedder
from memtree.process import tracing
from memtree.process.threads import OFF_LOOP_BYTES
from memtree.ranking.ranking_query import query_of
from memtree.tree.node import Frontier, Node
from memtree.tree.summary_batches import CompletedSummaries
from memtree.unfolding import explain
from memtree.unfolding.explain import TreeView
from memtree.unfolding.folded_history import FoldedHistory

__all__ = ["Answer", "AnswerDetails", "CompressRequest", "ContextMemory"]

log = logging.getLogger("memtree")

LONG_BYTES = 1_000_000  # of new messages: some 250,000 tokens


class ContextMemory:
    """Context memory bound to its ports. One per process; safe for concurrent requests."""

    def __init__(
        self,
        store: ContextStore,
        builder: Builder,
        queue: IndexQueue,
        clock: Clock,
        *,
        embedder: Embedder | None = None,
        facts: MessageInfoCache | None = None,
        volatile: Volatile | None = None,
        summaries: SummaryQueue | None = None,
        settled: CompletedSummaries | None = None,
        peers: Peers | None = None,
        read: ReadHistories | None = None,
        caches: TreeCaches | None = None,
    ) -> None:
        """`summaries`: None if no model writes them; `settled`: the nodes that the summary queue
        has done, if it works in this process; `peers`: None if no other process needs to hear of
        deletions."""
        self._store, self._queue, self._clock = store, queue, clock
        self._embedder = embedder
        self._facts = facts
        self._read = read or ReadHistories()
        self._volatile = volatile or Volatile()
        self._summaries = summaries
        self._backlog = (
            SummaryBacklog(store, summaries, settled or CompletedSummaries()) if summaries else None
        )
        self._peers = peers or NoPeers()
        self._keepers: list[Callable[[str | None], object]] = []
        caches = caches or TreeCaches.of()
        self._indexing = Indexing(
            store, builder, queue, clock, embedder, self._backlog, self._peers, caches
        )
        self._retriever = Retriever(self._indexing, embedder)
        self._fresh = FreshAnswers(self._indexing, self._retriever, clock, Keeper(store))
        self._epochs = EpochAnswers(store, clock, self._indexing, self._retriever)
        self.conversations = KnownConversations(store, clock)

    async def compress(self, ask: CompressRequest) -> Answer:
        """Return the messages to send instead of the posted ones. Raises `BadRequest` (unreadable
        history) and `ContextOverflow`, and no other error."""
        answer, _ = await self.compress_with_details(ask)
        return answer

    async def compress_with_details(self, ask: CompressRequest) -> tuple[Answer, AnswerDetails]:
        """Compress as `compress` does, and return details that can be queried afterwards. After an
        unexpected error, tries once more without cached data, from which it may come."""
        generation = self._indexing.generation(ask.tenant)
        try:
            result = await self._compress(ask, generation)
        except MemTreeError:
            raise
        except Exception:  # promise 10: whatever it is, the alternative is a history sent whole
            log.exception("memory.tried_again")
            self._indexing.drop(ask.tenant)
            self._read.forget(ask.tenant)
            result = await self._compress(ask, generation)
        finally:
            self._read.weigh(ask.tenant, ask.messages)
            self._indexing.drop_forgotten(ask.tenant, generation)
        evidence, index, reader = result.evidence, result.index, None
        if evidence is not None and index is not None and index.whole:
            folded = FoldedHistory(evidence.history, evidence.shown, self._retriever.relevant)
            reader = FoldedReader(folded, index, self._indexing, self._retriever, generation)
        return result.answer, AnswerDetails(evidence, reader, index)

    async def _compress(self, ask: CompressRequest, generation: int) -> CompressResult:
        posted = await self.read(ask)
        if not len(posted):
            return CompressResult(passed(posted, ask))
        ask = ask.priced(posted)
        request = TurnRequest(posted, ask, ask.limits, generation, BUILD_PATIENCE)
        admitted = packing.admit(posted, request.limits, request.fixed)
        if isinstance(admitted, packing.Refuse):
            raise ContextOverflow(ask.window, admitted.tokens + ask.reserve, ask.reserve)
        if isinstance(admitted, packing.Pass):
            return self._passed(request, admitted)
        fits = posted.tokens <= request.limits.prompt - request.fixed and not ask.hard
        if fits and ask.whole:  # a side request: none of it is stored
            return CompressResult(passed(posted, ask, State.PASSED, Reason.SIDE_REQUEST))
        return await self._folded(request, fits)

    def _passed(self, request: TurnRequest, admitted: packing.Pass) -> CompressResult:
        posted, ask = request.posted, request.ask
        self._indexing.passed.add(posted)
        short = posted.tokens < packing.THRESHOLD
        if short and posted.tokens + request.fixed < packing.THRESHOLD:
            return CompressResult(passed(posted, ask))
        if not short and not ask.whole:
            self._indexing.prepare_later(request)  # it will need its tree soon
        state = State.BELOW_THRESHOLD if short else State.PASSED
        return CompressResult(passed(posted, ask, state, why_whole(admitted, request)))

    async def _folded(self, request: TurnRequest, fits: bool) -> CompressResult:
        """Fold the history. `fits`: it could also be sent whole."""
        posted, ask = request.posted, request.ask
        # Nobody should wait long for a tree that is not needed.
        patience = min(ask.patience, BUILD_PATIENCE) if fits else ask.patience
        awaited = replace(request, patience=patience)
        index, failed = None, False
        if ask.mode != "fresh":
            try:
                result, index = await self._epochs.answer(awaited)
            except Unavailable as error:
                log.warning("epoch.unavailable code=%s", error.code)
                result, failed = None, True
            if result is not None:
                if result.answer.state is State.PASSED:
                    self._indexing.passed.add(posted)
                    self._indexing.prepare_later(request)
                return result
        query = query_of(posted, ask.query) if index is None else None
        async with self._retriever.ahead(query) as early:
            index = index or await self._indexing.prepare(awaited)
            if fits and not index.whole:  # costs more, but nothing is lost
                reason = with_size(Reason.TREE_PENDING, posted.tokens)
                return CompressResult(with_index(passed(posted, ask, index.state(), reason), index))
            if failed:
                index = replace(index, trouble=index.trouble or Trouble.STORE)
            return await self._fresh.answer(awaited, index, early)

    async def standing_answer(self, ask: CompressRequest) -> Answer | None:
        """Return what the epoch of this history would send now, for callers that only count tokens;
        None if nothing of it is folded, or the store cannot be read. Stores nothing: no turn, no
        extended expiry, no work for the index. Raises `BadRequest`."""
        posted = await self.read(ask)
        if ask.mode == "fresh" or not len(posted):
            return None
        generation = self._indexing.generation(ask.tenant)
        try:
            ask = ask.priced(posted)
            request = TurnRequest(posted, ask, ask.limits, generation, BUILD_PATIENCE)
            result = await self._epochs.standing(request)
        except Unavailable as error:
            log.warning("epoch.unavailable code=%s", error.code)
            return None
        finally:
            self._read.weigh(ask.tenant, ask.messages)
            self._indexing.drop_forgotten(ask.tenant, generation)
        return result.answer if result else None

    async def index(self, ask: CompressRequest) -> Answer:
        """Index the posted history; the answer has the counts and no messages."""
        generation = self._indexing.generation(ask.tenant)
        posted = await self.read(ask)
        request = TurnRequest(posted, ask, ask.limits, generation, ask.patience, backfill=True)
        index = await self._indexing.prepare(request)
        answer = replace(passed(posted, ask, index.state()), items=(), sent_tokens=0)
        return with_index(answer, index)

    async def tree(self, ask: CompressRequest) -> TreeView:
        """Return the tree over the posted history, with the newest summaries."""
        posted, index = await self._newest(ask)
        tree = explain.tree(posted, index.frontier, index.nodes, index.open)
        return replace(tree, whole=index.whole)

    async def outline(self, ask: CompressRequest) -> tuple[History, Frontier, Mapping[bytes, Node]]:
        """Return history, frontier and nodes, for drawing the tree."""
        posted, index = await self._newest(ask)
        return posted, index.frontier, index.nodes

    async def pending(self, tenant: str) -> Pending:
        """Return the work that runs behind answers."""
        vectors = await self._queue.pending(tenant)
        summaries = await self._backlog.pending(tenant) if self._backlog else Pending(0, 0)
        work = (vectors, summaries, self._indexing.pending(tenant))
        return Pending(sum(each.tokens for each in work), sum(each.jobs for each in work))

    async def summary_status(self, tenant: str) -> SummaryStatus:
        """Return the state of stage 3 for a tenant."""
        return await self._summaries.status(tenant) if self._summaries else SummaryStatus("off")

    async def close(self, patience: float = BUILD_PATIENCE) -> None:
        """Wait for background indexing that requests have started. `patience`: seconds for what the
        next program can make again."""
        await self._indexing.close(patience)

    async def read(self, ask: CompressRequest) -> History:
        """Read the posted messages as a history, reusing the record of an earlier one; long ones
        are read off the event loop."""
        tenant, posted = ask.tenant, ask.messages
        generation = self._indexing.generation(tenant)
        with tracing.step("read"):
            known = self._read.known(tenant, posted) or nothing_read(tenant, self._volatile)
            size = size_from(posted, known.length)
            # reading takes tenths of a second; afterwards the tree must grow
            if size > LONG_BYTES:
                self._indexing.builder.warm()
            if size > OFF_LOOP_BYTES:
                read = await asyncio.to_thread(known.extended, posted, self._facts)
            else:
                read = known.extended(posted, self._facts)
            # otherwise it was deleted meanwhile
            if known.length < len(posted) and generation == self._indexing.generation(tenant):
                self._read.add(posted, read)
            return read

    # -- deletion ----------------------------------------------------------------------------

    async def forget_history(self, ask: CompressRequest, *, dry_run: bool = False) -> Receipt:
        """Forget all prefixes of the posted history. `dry_run`: delete nothing, and count what
        would be deleted, except jobs. Raises `BadRequest` and store errors."""
        posted = await self.read(ask)
        return await self._forget(ask.tenant, posted.addresses[1:], dry_run)

    async def forget_address(
        self, tenant: str, address: bytes, *, dry_run: bool = False
    ) -> Receipt:
        """Forget an address and those before it. Raises `NotFound` and store errors."""
        chain = await self._store.chain(tenant, address)
        if not chain:
            raise NotFound("nothing is known of this address", param="address")
        return await self._forget(tenant, tuple(chain), dry_run)

    async def forget_tenant(self, tenant: str, *, dry_run: bool = False) -> Receipt:
        """Delete everything the tenant has. Raises store errors."""
        return await self._forget(tenant, None, dry_run)

    def forgotten(self, tenant: str | None) -> None:
        """Drop a tenant's cached data, because another process deleted something of it (None: the
        tenant is unknown, so drop all). Running requests store nothing of it either."""
        self._indexing.forget(tenant)
        self._read.forget(tenant)
        warm_conversations.forget_words()
        if self._facts is not None:
            self._facts.forget()
        if self._embedder is not None:
            self._embedder.forget()
        for forget in self._keepers:
            forget(tenant)

    def on_deletion(self, forget: Callable[[str | None], object]) -> None:
        """Call `forget` with the tenant (None: unknown) after each deletion, so that others can
        drop what they keep of posted histories."""
        self._keepers.append(forget)

    @property
    def cached_tenants(self) -> set[str]:
        """Return the tenants with cached trees in this process; a deleted tenant is never among
        them."""
        return self._indexing.cached_tenants | self._read.tenants

    async def sweep(self) -> Receipt:
        """Delete expired rows. Raises store errors."""
        await self.keep_vectors()
        return await self._store.sweep(self._clock.now())

    async def keep_vectors(self) -> None:
        """Tell the store which vectors are in use. Raises store errors."""
        if self._embedder is not None and self._embedder.dimensions:
            await self._store.keep_recipe(self._embedder.recipe, self._clock.now())

    async def _forget(
        self, tenant: str, addresses: tuple[bytes, ...] | None, dry_run: bool
    ) -> Receipt:
        if dry_run:
            return await self._store.forget(tenant, addresses, dry_run=True)
        # First stop what may still write: running requests see the new generation, jobs are
        # removed.
        self._indexing.forget(tenant)
        await self._peers.forgotten(tenant)
        gone = None if addresses is None else frozenset(addresses)
        jobs = await self._queue.forget(tenant, gone)
        if self._summaries:
            jobs += await self._summaries.forget(tenant, gone)
        receipt = await self._store.forget(tenant, addresses)
        self.forgotten(tenant)  # read by requests meanwhile
        await self._peers.forgotten(tenant)
        return receipt._replace(jobs=jobs)

    async def _newest(self, ask: CompressRequest) -> tuple[History, IndexState]:
        generation = self._indexing.generation(ask.tenant)
        posted = await self.read(ask)
        request = TurnRequest(posted, ask, ask.limits, generation, BUILD_PATIENCE)
        index = await self._indexing.prepare(request)
        return posted, await self._indexing.newest(posted, index)

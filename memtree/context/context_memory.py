"""The one use case: a posted history in, the messages for the model out.

`/context_memory`, the chat route, the command line and library callers all come through
`ContextMemory`. What to do is decided in the pure rooms; `indexing`, `retrieval`, `continued` and
`fresh` await ports for it. No failure of a port stops an answer: without the store the tree is
built for this request alone, without the embedder ranking is BM25, without a tree in time the older
rounds decay.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace

from memtree.budget import packing
from memtree.context.answer import (
    Answer,
    CompressResult,
    passed,
    with_index,
)
from memtree.context.answer_details import AnswerDetails, FoldedReader
from memtree.context.caches import process_caches
from memtree.context.caches.caches import TreeCaches
from memtree.context.caches.read_histories import ReadHistories
from memtree.context.conversations.known_conversations import KnownConversations
from memtree.context.epochs.epoch_answers import EpochAnswers
from memtree.context.epochs.fresh_answers import FreshAnswers
from memtree.context.epochs.kept_parts import Keeper
from memtree.context.indexing.index_request import BUILD_PATIENCE, IndexRequest
from memtree.context.indexing.index_state import IndexState, Trouble
from memtree.context.indexing.indexing import Indexing
from memtree.context.indexing.summary_backlog import SummaryBacklog
from memtree.context.request import CompressRequest
from memtree.context.retrieval import Retriever
from memtree.context.state import Reason, State, with_size
from memtree.context.whole_history import fixed_tokens, why_whole
from memtree.conversation import history
from memtree.conversation.history import History, MessageInfoCache
from memtree.conversation.message import OFF_LOOP_BYTES, Volatile
from memtree.conversation.message_list import size_from
from memtree.errors import ContextOverflow, NotFound, Unavailable
from memtree.ports.builder import Builder
from memtree.ports.clock import Clock
from memtree.ports.models import Embedder
from memtree.ports.peers import NoPeers, Peers
from memtree.ports.queues import IndexQueue, Pending, SummaryQueue, SummaryStatus
from memtree.ports.store import ContextStore, Receipt
from memtree.process import tracing
from memtree.ranking.query_text import query_text
from memtree.summaries.completed import CompletedSummaries
from memtree.tree.node import Frontier, Node
from memtree.unfolding import explain
from memtree.unfolding.explain import TreeView
from memtree.unfolding.search import FoldedHistory

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
        """`summaries`: None where no model writes them; `settled`: what that queue has done, where
        it works in this process; `peers`: None where no other process is told of anything."""
        caches = caches or TreeCaches()
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
        self._indexing = Indexing(
            store, builder, queue, clock, embedder, self._backlog, self._peers, caches
        )
        self._retriever = Retriever(self._indexing, embedder)
        self._fresh = FreshAnswers(self._indexing, self._retriever, clock, Keeper(store))
        self._epochs = EpochAnswers(store, clock, self._indexing, self._retriever)
        self.conversations = KnownConversations(store, clock)

    async def compress(self, ask: CompressRequest) -> Answer:
        """Return the messages to send instead of the posted ones. Raises `BadRequest` (unreadable
        history) and `ContextOverflow`; nothing else."""
        answer, _ = await self.compress_with_details(ask)
        return answer

    async def compress_with_details(self, ask: CompressRequest) -> tuple[Answer, AnswerDetails]:
        """Compress as `compress` does, and return what can be asked about the answer afterwards."""
        generation = self._indexing.generation(ask.tenant)
        try:
            result = await self._compress(ask, generation)
        finally:
            self._indexing.drop_forgotten(ask.tenant, generation)
        return result.answer, self._details(result, generation)

    async def _compress(self, ask: CompressRequest, generation: int) -> CompressResult:
        posted = await self.read(ask)
        if not len(posted):
            return CompressResult(passed(posted, ask))
        ask = ask.priced(posted)
        limits = ask.limits
        fixed = fixed_tokens(posted, ask)
        indexed = IndexRequest(posted, ask.expiration_days, generation, client=ask.client)
        admitted = packing.admit(posted, limits, fixed)
        if isinstance(admitted, packing.Refuse):
            raise ContextOverflow(ask.window, admitted.tokens + ask.reserve, ask.reserve)
        if isinstance(admitted, packing.Pass):
            return self._passed(indexed, ask, limits, admitted)
        fits = posted.tokens <= limits.prompt - fixed and not ask.hard
        if fits and ask.whole:  # a side request: nothing of it is kept
            return CompressResult(passed(posted, ask, State.PASSED, Reason.SIDE_REQUEST))
        return await self._folded(indexed, ask, limits, fits)

    def _passed(
        self,
        indexed: IndexRequest,
        ask: CompressRequest,
        limits: packing.TokenLimits,
        admitted: packing.Pass,
    ) -> CompressResult:
        posted = indexed.posted
        self._indexing.passed(posted)
        short = posted.tokens < packing.THRESHOLD
        if short and posted.tokens + fixed_tokens(posted, ask) < packing.THRESHOLD:
            return CompressResult(passed(posted, ask))
        if not short and not ask.whole:
            self._indexing.prepare_later(indexed)  # it will need its tree soon
        reason = why_whole(admitted, posted, ask, limits)
        state = State.BELOW_THRESHOLD if short else State.PASSED
        return CompressResult(passed(posted, ask, state, reason))

    async def _folded(
        self, indexed: IndexRequest, ask: CompressRequest, limits: packing.TokenLimits, fits: bool
    ) -> CompressResult:
        """`fits`: the history may go whole, too."""
        posted = indexed.posted
        # Nobody waits long for a tree that is not needed.
        patience = min(ask.patience, BUILD_PATIENCE) if fits else ask.patience
        awaited = replace(indexed, patience=patience)
        index, failed = None, False
        if ask.mode != "fresh":
            try:
                result, index = await self._epochs.answer(awaited, ask, limits)
            except Unavailable as error:
                log.warning("lasting.unavailable code=%s", error.code)
                result, failed = None, True
            if result is not None:
                if result.answer.state is State.PASSED:
                    self._indexing.passed(posted)
                    self._indexing.prepare_later(indexed)
                return result
        query = query_text(posted, ask.query) if index is None else None
        async with self._retriever.ahead(query) as early:
            index = index or await self._indexing.prepare(awaited)
            if fits and not index.whole:  # dearer, but nothing is lost
                reason = with_size(Reason.TREE_PENDING, posted.tokens)
                return CompressResult(with_index(passed(posted, ask, index.state(), reason), index))
            if failed:
                index = replace(index, trouble=index.trouble or Trouble.STORE)
            return await self._fresh.answer(posted, ask, limits, index, early)

    def _details(self, result: CompressResult, generation: int) -> AnswerDetails:
        evidence, index = result.evidence, result.index
        if evidence is None or index is None or not index.whole:
            return AnswerDetails(evidence, index=index)
        folded = FoldedHistory(evidence.history, evidence.shown, self._retriever.relevant)
        return AnswerDetails(
            evidence,
            FoldedReader(folded, index, self._indexing, self._retriever, generation),
            index,
        )

    async def standing_answer(self, ask: CompressRequest) -> Answer | None:
        """Return what the epoch that this history belongs to would send now, for those who only
        count it; None where nothing of it is folded, or the store cannot be read. Keeps nothing: no
        turn, no longer life of anything, no work for the index. Raises `BadRequest`."""
        posted = await self.read(ask)
        if ask.mode == "fresh" or not len(posted):
            return None
        ask = ask.priced(posted)
        generation = self._indexing.generation(ask.tenant)
        indexed = IndexRequest(posted, ask.expiration_days, generation, client=ask.client)
        try:
            result = await self._epochs.standing(indexed, ask, ask.limits)
        except Unavailable as error:
            log.warning("lasting.unavailable code=%s", error.code)
            return None
        finally:
            self._indexing.drop_forgotten(ask.tenant, generation)
        return result.answer if result else None

    async def index(self, ask: CompressRequest) -> Answer:
        """Index what was posted; the answer has the numbers and no messages."""
        generation = self._indexing.generation(ask.tenant)
        posted = await self.read(ask)
        index = await self._indexing.prepare(
            IndexRequest(posted, ask.expiration_days, generation, ask.patience, True, ask.client)
        )
        answer = replace(passed(posted, ask, index.state()), items=(), sent_tokens=0)
        return with_index(answer, index)

    async def tree(self, ask: CompressRequest) -> TreeView:
        """The tree over the posted history, with the newest summaries."""
        posted, index = await self._newest(ask)
        tree = explain.tree(posted, index.frontier, index.nodes, index.open)
        return replace(tree, whole=index.whole)

    async def outline(self, ask: CompressRequest) -> tuple[History, Frontier, Mapping[bytes, Node]]:
        """History, frontier and nodes, for those who draw the tree."""
        posted, index = await self._newest(ask)
        return posted, index.frontier, index.nodes

    async def pending(self, tenant: str) -> Pending:
        """Return the work that stages 2 and 3 have to do yet."""
        vectors = await self._queue.pending(tenant)
        summaries = await self._backlog.pending(tenant) if self._backlog else Pending(0, 0)
        return Pending(vectors.tokens + summaries.tokens, vectors.jobs + summaries.jobs)

    async def summary_status(self, tenant: str) -> SummaryStatus:
        """How stage 3 does for a tenant."""
        return await self._summaries.status(tenant) if self._summaries else SummaryStatus("off")

    async def close(self) -> None:
        """Let background indexing that was begun by requests come to its end."""
        await self._indexing.close()

    async def read(self, ask: CompressRequest) -> History:
        """The posted messages as a history, from where an earlier one was read to; what is long
        is read off the event loop."""
        tenant, posted = ask.tenant, ask.messages
        generation = self._indexing.generation(tenant)
        with tracing.step("read"):
            known = self._read.known(tenant, posted)
            record = known
            if known.length < len(posted):
                work = (known, tenant, posted, self._volatile, self._facts)
                size = size_from(posted, known.length)
                if size > LONG_BYTES:  # it is read for tenths of a second, then grown
                    self._indexing.expect_long()
                if size > OFF_LOOP_BYTES:
                    record = await asyncio.to_thread(history.extended, *work)
                else:
                    record = history.extended(*work)
                if generation == self._indexing.generation(tenant):  # else deleted meanwhile
                    self._read.add(tenant, posted, record)
            return record.history(tenant, posted, self._volatile)

    # -- forgetting --------------------------------------------------------------------------

    async def forget_history(self, ask: CompressRequest, *, dry_run: bool = False) -> Receipt:
        """Forget all prefixes of what was posted. `dry_run`: forget nothing, and count what would
        go, but for jobs. Raises `BadRequest` and store errors."""
        posted = await self.read(ask)
        former, _ = posted.former_addresses()
        gone = (*posted.addresses[1:], *former[1:])
        return await self._forget(ask.tenant, gone, dry_run)

    async def forget_address(
        self, tenant: str, address: bytes, *, dry_run: bool = False
    ) -> Receipt:
        """Forget an address and those before it. Raises `NotFound` and store errors."""
        chain = await self._store.chain(tenant, address)
        if not chain:
            raise NotFound("nothing is known of this address", param="address")
        return await self._forget(tenant, tuple(chain), dry_run)

    async def forget_tenant(self, tenant: str, *, dry_run: bool = False) -> Receipt:
        """Forget all that the tenant has. Raises store errors."""
        return await self._forget(tenant, None, dry_run)

    def forgotten(self, tenant: str | None) -> None:
        """Drop what is cached of this tenant, because another process deleted something of it
        (None: of a tenant that is not known, so of all). Requests under way store nothing of it
        either."""
        if tenant is None:
            self._indexing.forget_all()
        else:
            self._indexing.forget(tenant)
        self._forget_texts(tenant)

    def on_deletion(self, forget: Callable[[str | None], object]) -> None:
        """Call `forget` with the tenant (None: it is not known whose) wherever something was
        deleted, for what others keep of posted histories."""
        self._keepers.append(forget)

    @property
    def cached_tenants(self) -> set[str]:
        """Tenants of whose trees something is cached in this process: of a deleted one, nothing."""
        return self._indexing.cached_tenants | self._read.tenants

    async def sweep(self) -> Receipt:
        """Forget what has expired. Raises store errors."""
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
        # First what may still write: a request under way sees the new generation, a job is gone.
        self._indexing.forget(tenant)
        await self._peers.forgotten(tenant)
        gone = None if addresses is None else frozenset(addresses)
        jobs = await self._queue.forget(tenant, gone)
        if self._summaries:
            jobs += await self._summaries.forget(tenant, gone)
        receipt = await self._store.forget(tenant, addresses)
        self._indexing.drop(tenant)  # what a request read in between
        await self._peers.forgotten(tenant)
        self._forget_texts(tenant)
        return receipt._replace(jobs=jobs)

    def _forget_texts(self, tenant: str | None) -> None:
        self._read.forget(tenant)
        process_caches.forget()
        if self._facts is not None:
            self._facts.forget()
        if self._embedder is not None:
            self._embedder.forget()
        for forget in self._keepers:
            forget(tenant)

    async def _newest(self, ask: CompressRequest) -> tuple[History, IndexState]:
        generation = self._indexing.generation(ask.tenant)
        posted = await self.read(ask)
        index = await self._indexing.prepare(
            IndexRequest(posted, ask.expiration_days, generation, client=ask.client)
        )
        return posted, await self._indexing.newest(posted, index)

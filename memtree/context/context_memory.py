"""The one use case: a posted history in, the messages for the model out.

`/context_memory`, the chat route, the command line and library callers all come through
`ContextMemory`. What to do is decided in the pure files; `indexing`, `seek` and `lasting` await
ports for it. No failure of a port stops an answer: without the store the tree is built for this
request alone, without the embedder ranking is BM25, without a tree in time the older rounds decay.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memtree import tracing
from memtree.budget import packing
from memtree.context.answer import Answer, AnswerLayout, assembled, passed, with_index
from memtree.context.continued import EpochAnswers
from memtree.context.index_state import IndexState, Trouble
from memtree.context.indexing import BUILD_PATIENCE, Indexing
from memtree.context.request import CompressRequest
from memtree.context.retrieval import Retriever
from memtree.context.state import Reason, State
from memtree.context.summary_backlog import SummaryBacklog
from memtree.conversation import history
from memtree.conversation.history import History, MessageInfoCache
from memtree.conversation.message import MESSAGE_OVERHEAD, OFF_LOOP_BYTES, Volatile
from memtree.errors import ContextOverflow, NotFound, Unavailable
from memtree.ports.builder import Builder
from memtree.ports.clock import Clock
from memtree.ports.models import Embedder
from memtree.ports.peers import NoPeers, Peers
from memtree.ports.queues import IndexQueue, Pending, SummaryQueue, SummaryStatus
from memtree.ports.store import ContextStore, Receipt
from memtree.summaries.completed import CompletedSummaries
from memtree.text import tokens
from memtree.tree.node import Frontier, Node
from memtree.unfolding import explain
from memtree.unfolding.plan import Plan, render
from memtree.unfolding.search import FoldedHistory, Work
from memtree.unfolding.unfold import Unfolding

__all__ = ["Answer", "CompressRequest", "ContextMemory"]

log = logging.getLogger("memtree")


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
    ) -> None:
        """`summaries`: None where no model writes them; `settled`: what that queue has done, where
        it works in this process; `peers`: None where no other process is told of anything."""
        self._store, self._queue, self._clock = store, queue, clock
        self._embedder = embedder
        self._facts = facts
        self._volatile = volatile or Volatile()
        self._summaries = summaries
        self._debts = (
            SummaryBacklog(store, summaries, settled or CompletedSummaries()) if summaries else None
        )
        self._peers = peers or NoPeers()
        self._indexing = Indexing(store, builder, queue, clock, embedder, self._debts, self._peers)
        self._seeker = Retriever(self._indexing, embedder)
        self._lasting = EpochAnswers(store, clock, self._indexing, self._seeker)

    async def compress(self, ask: CompressRequest) -> Answer:
        """Raises `BadRequest` (unreadable history) and `ContextOverflow`; nothing else."""
        generation = self._indexing.generation(ask.tenant)
        try:
            return await self._compress(ask, generation)
        finally:
            self._indexing.drop_forgotten(ask.tenant, generation)

    async def _compress(self, ask: CompressRequest, generation: int) -> Answer:
        posted = await self.read(ask)
        if not len(posted):
            return passed(posted, ask)
        limits = packing.TokenLimits.of(
            target=ask.target,
            hard=ask.hard,
            window=ask.window,
            reserve=ask.reserve,
            alternate=ask.alternate,
            keep_first=ask.keep_first,
        )
        fixed = posted.system_tokens + ask.tools_tokens
        admitted = packing.admit(posted, limits, fixed)
        if isinstance(admitted, packing.Refuse):
            raise ContextOverflow(admitted.limit, admitted.tokens)
        if isinstance(admitted, packing.Pass):
            self._indexing.passed(posted)
            if posted.tokens < packing.THRESHOLD:
                return passed(posted, ask)
            if ask.whole:
                return passed(posted, ask, State.PASSED, Reason.SIDE_REQUEST)
            # It will need its tree soon.
            self._indexing.prepare_later(posted, ask.expiration_days, generation)
            return passed(posted, ask, State.PASSED, Reason.FITS)
        fits = posted.tokens <= limits.prompt - fixed and not ask.hard
        if fits and ask.whole:  # a side request: nothing of it is kept
            return passed(posted, ask, State.PASSED, Reason.SIDE_REQUEST)
        if fits:  # nobody waits long for a tree that is not needed
            ask = replace(ask, patience=min(ask.patience, BUILD_PATIENCE))
        known, failed = None, False
        if ask.mode != "fresh":
            try:
                answer, known = await self._lasting.answer(posted, ask, limits, generation)
            except Unavailable as error:
                log.warning("lasting.unavailable code=%s", error.code)
                answer, failed = None, True
            if answer is not None:
                if answer.state is State.PASSED:
                    self._indexing.passed(posted)
                    self._indexing.prepare_later(posted, ask.expiration_days, generation)
                return self._searchable(answer, posted, known, generation)
        known = known or await self._indexing.prepare(
            posted, ask.expiration_days, generation, ask.patience
        )
        if fits and not known.whole:  # dearer, but nothing is lost
            return with_index(passed(posted, ask, known.state()), known)
        if failed:
            known = replace(known, trouble=known.trouble or Trouble.STORE)
        answer = await self._fresh(posted, ask, packing.pack(posted, limits, fixed), known)
        return self._searchable(answer, posted, known, generation)

    async def index(self, ask: CompressRequest) -> Answer:
        """Index what was posted; the answer has the numbers and no messages."""
        generation = self._indexing.generation(ask.tenant)
        posted = await self.read(ask)
        known = await self._indexing.prepare(
            posted, ask.expiration_days, generation, ask.patience, backfill=True
        )
        answer = replace(passed(posted, ask, known.state()), messages=(), sent_tokens=0)
        return with_index(answer, known)

    async def tree(self, ask: CompressRequest) -> dict[str, Any]:
        """The tree over the posted history, wire-shaped (API section 1)."""
        posted, known = await self._newest(ask)
        return explain.tree(posted, known.frontier, known.nodes, known.open)

    async def outline(self, ask: CompressRequest) -> tuple[History, Frontier, Mapping[bytes, Node]]:
        """History, frontier and nodes, for those who draw the tree."""
        posted, known = await self._newest(ask)
        return posted, known.frontier, known.nodes

    async def pending(self, tenant: str) -> Pending:
        """What stages 2 and 3 have to do yet."""
        one = await self._queue.pending(tenant)
        other = await self._debts.pending(tenant) if self._debts else Pending(0, 0)
        return Pending(one.tokens + other.tokens, one.jobs + other.jobs)

    async def summary_status(self, tenant: str) -> SummaryStatus:
        """How stage 3 does for a tenant."""
        return await self._summaries.status(tenant) if self._summaries else SummaryStatus("off")

    async def close(self) -> None:
        """Let background indexing that was begun by requests come to its end."""
        await self._indexing.close()

    async def read(self, ask: CompressRequest) -> History:
        """The posted messages as a history; long ones are read off the event loop."""
        work = (ask.tenant, ask.messages, self._volatile, self._facts)
        with tracing.step("read"):
            if sum(len(message.raw) for message in ask.messages) > OFF_LOOP_BYTES:
                return await asyncio.to_thread(history.read, *work)
            return history.read(*work)

    # -- forgetting --------------------------------------------------------------------------

    async def forget_history(self, ask: CompressRequest) -> Receipt:
        """Forget all prefixes of what was posted. Raises `BadRequest` and store errors."""
        posted = await self.read(ask)
        return await self._forget(ask.tenant, posted.addresses[1:])

    async def forget_address(self, tenant: str, address: bytes) -> Receipt:
        """Forget an address and those before it. Raises `NotFound` and store errors."""
        chain = await self._store.chain(tenant, address)
        if not chain:
            raise NotFound("nothing is known of this address", param="address")
        return await self._forget(tenant, tuple(chain))

    async def forget_tenant(self, tenant: str) -> Receipt:
        """Forget all that the tenant has. Raises store errors."""
        return await self._forget(tenant, None)

    def forgotten(self, tenant: str | None) -> None:
        """Another process deleted something of this tenant (None: of some, it is not known whom):
        nothing of it is at hand any more, and requests under way keep nothing."""
        if tenant is None:
            self._indexing.forget_all()
        else:
            self._indexing.forget(tenant)
        self._forget_texts()

    @property
    def cached_tenants(self) -> set[str]:
        """Tenants of whose trees something is cached in this process: of a deleted one, nothing."""
        return self._indexing.cached_tenants

    async def sweep(self) -> Receipt:
        """Forget what has expired. Raises store errors."""
        await self.keep_vectors()
        return await self._store.sweep(self._clock.now())

    async def keep_vectors(self) -> None:
        """Tell the store which vectors are in use. Raises store errors."""
        if self._embedder is not None and self._embedder.dimensions:
            await self._store.keep_recipe(self._embedder.recipe, self._clock.now())

    async def _forget(self, tenant: str, addresses: tuple[bytes, ...] | None) -> Receipt:
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
        self._forget_texts()
        return receipt._replace(jobs=jobs)

    def _forget_texts(self) -> None:
        if self._facts is not None:
            self._facts.forget()
        if self._embedder is not None:
            self._embedder.forget()

    # -- an answer for this request alone ----------------------------------------------------

    async def _newest(self, ask: CompressRequest) -> tuple[History, IndexState]:
        generation = self._indexing.generation(ask.tenant)
        posted = await self.read(ask)
        known = await self._indexing.prepare(posted, ask.expiration_days, generation)
        return posted, await self._indexing.newest(posted, known)

    async def _fresh(
        self, posted: History, ask: CompressRequest, decision: packing.Packed, known: IndexState
    ) -> Answer:
        if not decision.memory:
            layout = AnswerLayout(decision.cut)
            return with_index(assembled(posted, ask, State.NO_ROOM, layout), known)
        rows: Mapping[int, explain.ScoredPassage] = {}
        by_words = False
        if known.whole:
            known = await self._indexing.newest(posted, known)
            retrieved = await self._seeker.unfolded(posted, known, decision, ask.query)
            unfolded, rows, by_words = retrieved.unfolding, retrieved.passages, retrieved.by_words
        else:
            unfolded = _decayed(posted, decision, known)
        size = unfolded.tokens + decision.beside
        shape = AnswerLayout(decision.cut, unfolded.text, size, head=decision.head)
        with tracing.step("pack"):
            answer = replace(
                assembled(posted, ask, known.state(by_words=by_words), shape),
                outline_tokens=unfolded.outline_tokens,
                excerpts=len(unfolded.plan.excerpts),
                explain=lambda: explain.of(posted, unfolded, rows, known.all_nodes),
                shown=unfolded.plan,
            )
        return with_index(answer, known)

    def _searchable(
        self, answer: Answer, posted: History, known: IndexState | None, generation: int
    ) -> Answer:
        """The answer with a way into what it folded, where all of that can be ranked."""
        if answer.shown is None or known is None or not known.whole:
            return answer

        async def seek(query: str, work: Work) -> str:
            try:
                text, _ = await self._seeker.rank(posted, known, query, work)
                return text
            finally:
                self._indexing.drop_forgotten(posted.tenant, generation)

        folded = FoldedHistory(posted, answer.shown, seek, self._seeker.relevant)
        return replace(answer, folded=folded)


def _decayed(posted: History, decision: packing.Packed, known: IndexState) -> Unfolding:
    """No tree over the whole in time: the older rounds, cut in the middle."""
    budget = decision.memory - MESSAGE_OVERHEAD
    share = float(budget)
    while True:
        first = max(decision.head, known.frontier.messages)
        spans = packing.decay(posted, first, decision.cut, int(share))
        plan = Plan(decision.cut, excerpts=spans, head=decision.head)
        text = render(plan, posted, {})
        size = tokens.count(text)
        if size <= budget or not spans:
            return Unfolding(plan, text, size, 0, [])
        share *= min(0.9, budget / size)  # labels and marks are not in the shares

"""Answers that last: within an epoch what is sent only grows at its end.

    latest turn on this chain -> its epoch goes on?  yes: the stored plan, rendered again
                                                     no: a new cut and a new plan
    a new user message        -> a recall block for it, or none; both are kept
    put the turn              -> whoever was first wins, and both send the same

Awaits ports, as `compress` does. What it cannot do (no store, no tree, no room for a memory
message) it leaves to an answer for the present request alone.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

import msgspec

from memtree import tracing
from memtree.budget import costs, epoch, packing
from memtree.budget.epoch import Epoch, EpochTerms, EpochTurn
from memtree.context.answer import PASSED, Answer, passed
from memtree.context.index_state import IndexState, with_summary
from memtree.context.indexing import Indexing
from memtree.context.request import CompressRequest
from memtree.context.retrieval import Retriever
from memtree.context.turn_request import TurnContent, TurnRequest, told
from memtree.conversation.history import History
from memtree.conversation.message import MESSAGE_OVERHEAD
from memtree.days import DAY
from memtree.errors import Unavailable
from memtree.ports.clock import Clock
from memtree.ports.store import ContextStore, ContinuedTurn
from memtree.ranking.corpus import Corpus
from memtree.ranking.fusion import Ranking
from memtree.ranking.query_text import query_text
from memtree.text import tokens
from memtree.tree.node import Node
from memtree.unfolding import recall_block
from memtree.unfolding.plan import Plan, TextSpan, render
from memtree.unfolding.unfold import LASTING

log = logging.getLogger("memtree")

TRIES = 3  # against rivals; who loses to one agrees with it the next time
REACH = 512  # newest addresses among which the turn to continue is looked for
RENEWED = 60.0  # seconds; a repeated request renews its turn no sooner
KEPT = DAY  # seconds that an epoch is kept after its last use, at least as long as a cache
# What a first fold may cost more, of all that has been paid so far
AUTO_SHARE, STABLE_SHARE = 0.02, 0.05


class EpochAnswers:
    def __init__(
        self, store: ContextStore, clock: Clock, indexing: Indexing, seeker: Retriever
    ) -> None:
        self._store, self._clock = store, clock
        self._indexing, self._seeker = indexing, seeker

    async def answer(
        self,
        posted: History,
        ask: CompressRequest,
        limits: packing.TokenLimits,
        fixed: int,
        generation: int,
        tries: int = TRIES,
    ) -> tuple[Answer | None, IndexState | None]:
        """An answer, or None where it must be made for this request alone; and what is known of
        the history, if that was looked up. Raises `Unavailable` where epochs cannot be kept."""
        request = TurnRequest(
            posted,
            ask,
            limits,
            fixed,
            EpochTerms.of(limits, fixed, ask.window, ask.prices),
            epoch.key(limits, ask.window, ask.prices, self._seeker.recipe, ask.query),
            self._clock.now(),
            generation,
        )
        with tracing.step("look_up"):
            await self._look_up(request)
        if await self._better_whole(request):
            return passed(posted, ask, PASSED), None
        known = await self._indexing.prepare(posted, ask.expiration_days, generation, ask.patience)
        made = await self._continued(request, known) or await self._begun(request, known)
        if made is None:
            return None, known
        turn = await self._kept(request, known, made)
        if turn is None and tries:  # another one was first: what it sends is sent here, too
            return await self.answer(posted, ask, limits, fixed, generation, tries - 1)
        if turn is None:
            return None, known
        with tracing.step("pack"):
            return told(request, known, made, turn), known

    async def _look_up(self, request: TurnRequest) -> None:
        posted = request.posted
        newest = posted.addresses[:0:-1][:REACH]
        found = await self._store.latest(posted.tenant, request.key, newest)
        if found is not None:
            request.found = found
            request.here = len(posted) - newest.index(found.address)

    async def _better_whole(self, request: TurnRequest) -> bool:
        """Nothing is folded yet, and folding would cost more than it may: what the provider has
        cached would be thrown away. What we never met is not cached: a client that rewrote its
        history has to pay for all behind the first change, and folding that is free."""
        posted, ask, terms = request.posted, request.ask, request.terms
        if request.found or ask.hard or posted.tokens > terms.room:
            return False
        first = packing.begin(posted, request.limits, request.fixed)
        asks = posted.facts[-1].role == "user"
        size = (
            first.memory
            + first.recent
            + first.beside
            + (epoch.block_size(terms.target) if asks else 0)
        )
        share = AUTO_SHARE if ask.mode == "auto" else STABLE_SHARE
        cost = (size, posted, request.fixed, ask.prices, share)
        if costs.costs_little(*cost):
            return False
        return not costs.costs_little(*cost, await self._indexing.met(posted))

    # -- the memory message ------------------------------------------------------------------

    async def _continued(self, request: TurnRequest, known: IndexState) -> TurnContent | None:
        """The found epoch, where it takes this history and all that it names is there."""
        found, blocks = request.found, request.blocks()
        if found is None or blocks is None or not self._goes_on(request, found, blocks):
            return None
        nodes = await self._named(request, known, found.epoch.plan)
        if nodes is None:
            log.warning("epoch.lost")
            return None
        text = render(found.epoch.plan, request.posted, nodes)
        return TurnContent(found.epoch, nodes, text, blocks)

    def _goes_on(
        self, request: TurnRequest, found: ContinuedTurn, sent: Mapping[int, EpochTurn]
    ) -> bool:
        if request.now - found.turn.used > request.ask.prices.lifetime:
            return False  # nothing of it is cached any more: a fresh cut is free
        posted, terms = request.posted, request.terms
        blocks = sum(turn.block_tokens for turn in sent.values())
        if request.again:
            return epoch.fits(found.epoch, posted, terms, blocks)
        wants = not recall_block.needless(posted) and recall_block.wants(posted)
        if not epoch.serves(found.epoch, posted, terms, sent, wants):
            return False
        return epoch.stays(found.epoch, posted, terms, blocks)

    async def _named(
        self, request: TurnRequest, known: IndexState, plan: Plan
    ) -> Mapping[bytes, Node] | None:
        """The nodes of a plan with the summaries that it names; None where one is lost."""
        tenant = request.posted.tenant
        ids = [shown.id for shown in plan.outline]
        nodes = {id_: known.nodes[id_] for id_ in ids if id_ in known.nodes}
        lost = [id_ for id_ in ids if id_ not in nodes]
        if lost:
            nodes |= await self._store.nodes(tenant, lost)
        later = [(shown.id, shown.version) for shown in plan.outline if shown.version]
        summaries = await self._store.summaries(tenant, later) if later else {}
        if len(nodes) < len(set(ids)) or len(summaries) < len(set(later)):
            return None
        named = {id_: with_summary(nodes[id_], one) for (id_, _), one in summaries.items()}
        return nodes | named

    async def _begun(self, request: TurnRequest, known: IndexState) -> TurnContent | None:
        """A new epoch, unfolded for the present question."""
        posted = request.posted
        decision = packing.begin(posted, request.limits, request.fixed)
        if not decision.memory or known.trouble:
            return None
        newest = await self._indexing.newest(posted, known)
        unfolded, rows = await self._seeker.unfolded(
            posted, newest, decision, request.ask.query, LASTING
        )
        known.by_words = newest.by_words
        memory = unfolded.tokens + MESSAGE_OVERHEAD + decision.beside
        begun = Epoch(
            epoch.name(request.key, request.address, unfolded.plan, request.now),
            len(posted),
            memory + decision.recent,
            memory,
            unfolded.plan,
            request.now,
        )
        return TurnContent(begun, newest.all_nodes, unfolded.text, {}, unfolded, rows)

    # -- the turn ----------------------------------------------------------------------------

    async def _kept(
        self, request: TurnRequest, known: IndexState, sending: TurnContent
    ) -> EpochTurn | None:
        """The turn as it stands in the store; None where another one stands there."""
        posted, found = request.posted, request.found
        goes_on = sending.unfolded is None
        if found and goes_on and request.again:
            if request.now - found.turn.used < RENEWED:
                return found.turn
            turn = msgspec.structs.replace(found.turn, used=request.now)
        else:
            turn = await self._turn(request, known, sending)
        if request.generation != self._indexing.generation(posted.tenant):
            return turn  # deleted meanwhile: answered, and not kept
        shown = {one.id for one in sending.epoch.plan.outline}
        open_ = [known.open] if known.open and not goes_on and known.open.id in shown else []
        with tracing.step("write"):
            kept = await self._store.put_turn(
                posted.tenant,
                request.key,
                request.address,
                turn,
                epoch=None if goes_on else sending.epoch,
                nodes=open_,
                # Only the turn that was found here: a rival that went on has sent its bytes.
                instead_of=found.turn.epoch if found and request.again and not goes_on else b"",
                expires=request.now + max(KEPT, request.ask.prices.lifetime),
            )
        if (kept.epoch, kept.block, kept.recalled) != (turn.epoch, turn.block, turn.recalled):
            return None
        if kept.block:
            sending.blocks[len(posted) - 1] = kept
        if sending.epoch.plan.cut < len(posted) - 1 and request.strays(known.prefix):
            await self._put_before(request, kept)
        return kept

    async def _put_before(self, request: TurnRequest, turn: EpochTurn) -> None:
        """The same turn without its newest message: where a client takes out of that message what
        it had put in for one turn (rules, documents), all before it is still what was sent."""
        posted, found = request.posted, request.found
        if request.generation != self._indexing.generation(posted.tenant):
            return
        before = msgspec.structs.replace(
            turn,
            block=(),
            block_tokens=0,
            sent=turn.sent - posted.facts[-1].tokens - turn.block_tokens,
            recalled=tuple(one for one in turn.recalled if one < len(posted) - 1),
        )
        here = found is not None and request.here == len(posted) - 1
        try:
            await self._store.put_turn(
                posted.tenant,
                request.key,
                posted.addresses[-2],
                before,
                instead_of=found.turn.epoch if found and here else b"",
                expires=request.now + max(KEPT, request.ask.prices.lifetime),
            )
        except Unavailable as error:  # the answer stands; the next one may begin an epoch
            log.warning("epoch.not_kept code=%s", error.code)

    async def _turn(
        self, request: TurnRequest, known: IndexState, sending: TurnContent
    ) -> EpochTurn:
        posted, found = request.posted, request.found
        block, block_tokens = await self._block(request, known, sending)
        block_sum = block_tokens + sum(turn.block_tokens for turn in sending.blocks.values())
        sent = (
            request.fixed + sending.epoch.memory + posted.size(sending.epoch.plan.cut) + block_sum
        )
        if found is None:
            direct, paid = costs.opened(posted, request.fixed, sent, request.ask.prices)
        else:
            direct, paid = costs.followed(
                found.turn,
                posted.size(0, request.here),
                sending.unfolded is None,
                request.now - found.turn.used <= request.ask.prices.lifetime,
                posted,
                request.fixed,
                sent,
                request.ask.prices,
            )
        recalled = (*sorted(sending.blocks), *((len(posted) - 1,) if block else ()))
        now = request.now
        return EpochTurn(sending.epoch.id, block, block_tokens, now, direct, paid, sent, recalled)

    async def _block(
        self, request: TurnRequest, known: IndexState, sending: TurnContent
    ) -> tuple[tuple[TextSpan, ...], int]:
        """A recall block for the newest message, where that is a new one of the user."""
        posted = request.posted
        if not known.whole or recall_block.needless(posted):
            return (), 0
        wants = recall_block.wants(posted)
        room = epoch.block_room(sending.epoch, posted, request.terms, sending.blocks, wants)
        if room < recall_block.LEAST:
            return (), 0
        earlier = [span for turn in sending.blocks.values() for span in turn.block]

        def work(corpus: Corpus, ranking: Ranking) -> tuple[TextSpan, ...]:
            plan = sending.epoch.plan
            relevant = self._seeker.relevant
            return recall_block.chosen(
                posted, corpus, ranking, plan, earlier, room, relevant, tokens.count
            )

        text = query_text(posted, request.ask.query)
        spans = await self._seeker.seek(posted, known, text, work)
        if not spans:
            return (), 0
        return spans, tokens.count(recall_block.text_of(spans, posted) + recall_block.SEAM)

"""Makes the answers with memory: within an epoch, or for the present request alone.

While an epoch lasts, what is sent only grows at its end (`EpochAnswers`):

    newest turn on this chain -> can its epoch continue?  yes: the stored plan, rendered again
                                                          no: a new cut and a new plan
    a new user message        -> a recall block for it, or none; both are stored
    put the turn              -> the first writer wins, and all send the same

In the mode `fresh`, and where an epoch cannot work (no store, no tree, no room for a memory
message), `FreshAnswers` makes an answer for the present request alone. Both await ports.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from memtree.budget import epoch, packing
from memtree.budget.epoch import Epoch, EpochReason, EpochTurn
from memtree.clock import DAY, Clock
from memtree.context import epoch_turns, kept_parts
from memtree.context.answer import AnswerLayout, CompressResult, assembled, passed, with_index
from memtree.context.answer_state import Reason, State, with_size
from memtree.context.epoch_turns import TurnContent, TurnPlanner, beginnings, epoch_result
from memtree.context.index_lookup import NOTHING_INDEXED, IndexState, with_summary
from memtree.context.indexing import Indexing
from memtree.context.kept_parts import Keeper
from memtree.context.retrieval import EarlyVectors, RetrievedContext, Retriever
from memtree.context.turn_request import TurnRequest, first_fold
from memtree.errors import Unavailable
from memtree.history.chat_history import History
from memtree.history.derived import RenderedText
from memtree.history.message import MESSAGE_OVERHEAD
from memtree.ports.context_store import ContextStore, ContinuedTurn
from memtree.process import tracing
from memtree.ranking.ranking_query import Query, query_of
from memtree.text import memory_lines, tokens
from memtree.text.memory_lines import MemoryVersion
from memtree.unfolding import recall_block
from memtree.unfolding.excerpt_choice import LASTING, ONE_SHOT
from memtree.unfolding.explain import Evidence
from memtree.unfolding.memory_plan import FoldWindow, OutlineNode, Plan, RecallPlan, merge
from memtree.unfolding.memory_text import render
from memtree.unfolding.pins import ask_excerpt, asked_message
from memtree.unfolding.unfold import Unfolding

log = logging.getLogger("memtree")

# attempts against concurrent requests; one that loses adopts the winner's turn the next time
TRIES = 4
REACH = 512  # newest addresses that are searched for the turn to continue
RENEWED = 60.0  # seconds before a repeated request renews its turn again
# seconds that an epoch is kept after its last use, at least as long as provider caches live
KEPT = DAY


class EpochAnswers:
    """Answers of the modes `stable` and `auto`."""

    def __init__(
        self, store: ContextStore, clock: Clock, indexing: Indexing, retriever: Retriever
    ) -> None:
        self._store, self._clock = store, clock
        self._indexing, self._retriever = indexing, retriever
        self._keeper = Keeper(store)
        self._turns = TurnPlanner(retriever)

    async def answer(self, request: TurnRequest) -> tuple[CompressResult | None, IndexState | None]:
        """Return an answer, or None if it must be made for this request alone; and the index of the
        history, if it was looked up. Raises `Unavailable` if epochs cannot be stored."""
        index = None
        for _ in range(TRIES):  # if another request was first, its turn is sent here too
            request = await self._looked_up(request)
            folds_at = await self._folds_later(request)
            if folds_at is not None:
                reason = with_size(Reason.CHEAPER_WHOLE, folds_at)
                whole = passed(request.posted, request.ask, State.PASSED, reason)
                return CompressResult(whole), None
            async with self._retriever.ahead(_asked(request)) as early:
                index = self._repeated(request) or await self._indexing.prepare(request)
                continued = await self._continued(request, index)
                content = (
                    await self._begun(request, index, continued, early)
                    if isinstance(continued, EpochReason)
                    else continued
                )
                if content is None:
                    return None, index
                kept = await self._kept(request, index, content, early)
            if kept is not None:
                with tracing.step("pack"):
                    return epoch_result(request, index, *kept), index
        return None, index

    async def standing(self, request: TurnRequest) -> CompressResult | None:
        """Return what the current epoch would send if it continued, without a block for the newest
        message; None if there is no epoch. Only reads. Raises `Unavailable`."""
        request = await self._looked_up(request)
        blocks = request.blocks()
        if request.previous is None or blocks is None or not request.goes_behind_cut:
            return None
        content = await self._sent_again(request, request.previous, NOTHING_INDEXED, blocks)
        if isinstance(content, EpochReason):
            return None
        turn = request.previous.turn
        return epoch_result(request, NOTHING_INDEXED, content, turn)

    async def _looked_up(self, request: TurnRequest) -> TurnRequest:
        """Return the request with the turn that it continues."""
        posted, key = request.posted, request.epoch_key(self._retriever.recipe)
        newest = posted.addresses[:0:-1][:REACH]
        with tracing.step("look_up"):
            previous = await self._store.latest(posted.tenant, key, newest)
        length = len(posted) - newest.index(previous.address) if previous else 0
        return replace(
            request, key=key, now=self._clock.now(), previous=previous, previous_length=length
        )

    def _repeated(self, request: TurnRequest) -> IndexState | None:
        """Return the index of a history whose turn was stored a moment ago and is still in the
        store: it needs no look-up and no growth."""
        previous = request.previous
        if previous is None or not request.again or request.now - previous.turn.used >= RENEWED:
            return None
        return self._indexing.finished.find(request.posted)

    async def _folds_later(self, request: TurnRequest) -> int | None:
        """If nothing is folded yet and a fold would cost more than allowed, return about how many
        tokens the history must have for one; else None. A fold discards what the provider has
        cached. A history that was never sent through here is not cached: a client that rewrote its
        history pays for everything after the first change anyway, so folding that part is free."""
        if request.previous:
            return None
        first = first_fold(request)
        if first.costs_little():
            return None
        if first.costs_little(await self._indexing.longest_seen(request.posted)):
            return None
        return first.folds_at()

    # -- the memory message ------------------------------------------------------------------

    async def _continued(
        self, request: TurnRequest, index: IndexState
    ) -> TurnContent | EpochReason:
        """Return the previous turn's epoch if it can continue with this history; else the reason
        why a new one begins."""
        previous, blocks = request.previous, request.blocks()
        if previous is None:
            return EpochReason.FIRST
        if blocks is None:
            return EpochReason.LOST
        ended = _ended(request, previous, blocks)
        return ended or await self._sent_again(request, previous, index, blocks)

    async def _sent_again(
        self,
        request: TurnRequest,
        previous: ContinuedTurn,
        index: IndexState,
        blocks: dict[int, EpochTurn],
    ) -> TurnContent | EpochReason:
        """Return the previous turn's epoch if all nodes and versions that it names are stored."""
        outline = previous.epoch.plan.outline
        recalled = [shown for turn in blocks.values() for shown in turn.outline]
        versions = await self._named(request, index, [*outline, *recalled])
        if versions is None:
            log.warning("epoch.lost")
            return EpochReason.LOST
        lines = await kept_parts.kept_lines(request.ask.memories, previous.epoch, blocks)
        if lines is None:
            log.info("epoch.memory_deleted")
            return EpochReason.MEMORY_DELETED
        nodes = {shown.id: versions[shown.id, shown.version] for shown in (*recalled, *outline)}
        said = epoch_turns.memory_message(request.posted, previous.epoch, nodes)
        text = kept_parts.beside(said.text, previous.epoch.memories, lines)
        size = said.outline_tokens
        return TurnContent(previous.epoch, nodes, text, size, blocks, versions, lines)

    async def _named(
        self, request: TurnRequest, index: IndexState, outline: Sequence[OutlineNode]
    ) -> recall_block.Versions | None:
        """Return the nodes of an outline with the summaries that it names, by id and version; None
        if one is lost."""
        tenant = request.posted.tenant
        ids = {shown.id for shown in outline}
        known = index.nodes
        nodes = {id_: known[id_] for id_ in ids if id_ in known}
        lost = [id_ for id_ in ids if id_ not in nodes]
        if lost:
            nodes |= await self._store.nodes(tenant, lost)
        later = [(shown.id, shown.version) for shown in outline if shown.version]
        summaries = await self._store.summaries(tenant, later) if later else {}
        if len(nodes) < len(ids) or len(summaries) < len(set(later)):
            return None
        if not later:
            return {(id_, 0): node for id_, node in nodes.items()}
        return {
            (shown.id, shown.version): with_summary(
                nodes[shown.id], summaries.get((shown.id, shown.version))
            )
            for shown in outline
        }

    async def _begun(
        self,
        request: TurnRequest,
        index: IndexState,
        reason: EpochReason,
        early: EarlyVectors | None,
    ) -> TurnContent | None:
        """Begin a new epoch, unfolded for the present question."""
        posted = request.posted
        fixed = request.fixed + request.carried
        packed = packing.begin(posted, request.limits, fixed)
        if not packed.memory or index.trouble:
            return None
        packed = await self._keeper.packed(request, packed, fixed)
        lines, packed = kept_parts.in_memory_message(request.ask.memories, packed, request.now)
        newest = await self._indexing.newest(posted, index)
        answers = request.limits.hard and _wants(posted)
        split = ONE_SHOT if answers else LASTING
        retrieved = await self._retriever.unfolded(
            posted, newest, packed, request.ask.query, request.limits.target, split, early
        )
        unfolding = retrieved.unfolding
        memory = unfolding.tokens + MESSAGE_OVERHEAD + packed.beside + kept_parts.size(lines)
        shown = tuple(line.memory for line in lines)
        begun = Epoch(
            epoch.name(request.key, request.address, unfolding.plan, request.now, shown),
            len(posted),
            memory + packed.recent,
            memory,
            unfolding.plan,
            request.now,
            shown,
            reason.value,
            packed.reserved,
        )
        text = RenderedText(unfolding.text, unfolding.outline_tokens)
        posted.derived.texts(begun.id, unfolding.plan.cut)[epoch_turns.MEMORY] = text
        return TurnContent(
            begun,
            newest.all_nodes,
            kept_parts.beside(unfolding.text, shown, kept_parts.by_memory(lines)),
            unfolding.outline_tokens,
            lines=kept_parts.by_memory(lines),
            retrieved=retrieved,
            by_words=retrieved.by_words,
        )

    # -- the turn ----------------------------------------------------------------------------

    async def _kept(
        self,
        request: TurnRequest,
        index: IndexState,
        content: TurnContent,
        early: EarlyVectors | None,
    ) -> tuple[TurnContent, EpochTurn] | None:
        """Return the turn as stored, with its content; None if another turn is stored there."""
        posted, previous = request.posted, request.previous
        continues = content.retrieved is None
        if previous and continues and request.again:
            if request.now - previous.turn.used < RENEWED:
                return content, previous.turn
            turn = msgspec.structs.replace(previous.turn, used=request.now)
        else:
            turn, content = await self._turns.begun(request, index, content, early)
        if request.generation != self._indexing.generation(posted.tenant):
            return content, turn  # deleted meanwhile: answered without being stored
        named = {shown.id for shown in content.epoch.plan.outline}
        is_named = index.open is not None and not continues and index.open.id in named
        open_ = [content.nodes[index.open.id]] if index.open and is_named else []
        # Replace only the turn that was found here: a concurrent request that continued has sent
        # its bytes.
        replaced = request.stands_here and not (request.again and continues)
        replaces = previous.turn.epoch if previous and replaced else b""
        with tracing.step("write"):
            kept = await self._store.put_turn(
                posted.tenant,
                request.key,
                request.address,
                turn,
                epoch=None if continues else content.epoch,
                nodes=open_,
                instead_of=replaces,
                expires=request.now + max(KEPT, request.ask.prices.lifetime),
            )
        if _shown(kept) != _shown(turn):
            return None
        if kept.shows:
            content = replace(content, blocks={**content.blocks, len(posted) - 1: kept})
        cut = content.epoch.plan.cut
        for length in beginnings(request, cut, index.prefix, begun=not continues):
            await self._put_beginning(request, content, kept, length)
        return content, kept

    async def _put_beginning(
        self, request: TurnRequest, content: TurnContent, turn: EpochTurn, length: int
    ) -> None:
        """Store the same turn at the first `length` messages: if a client removes from its last
        request what it had added for that one (rules, documents), everything before it still equals
        what was sent."""
        posted, previous = request.posted, request.previous
        if request.generation != self._indexing.generation(posted.tenant):
            return
        later = [block for message, block in content.blocks.items() if message >= length]
        left_out = posted.size(length) + sum(block.block_tokens for block in later)
        before = EpochTurn(
            turn.epoch,
            used=turn.used,
            sent=turn.sent - left_out,
            recalled=tuple(message for message in turn.recalled if message < length),
            partial=True,
        )
        replaced = previous and previous.turn.partial and request.previous_length == length
        try:
            await self._store.put_turn(
                posted.tenant,
                request.key,
                posted.addresses[length],
                before,
                instead_of=previous.turn.epoch if previous and replaced else b"",
                expires=request.now + max(KEPT, request.ask.prices.lifetime),
            )
        except Unavailable as error:  # the answer is unaffected; the next one may begin an epoch
            log.warning("epoch.not_kept code=%s", error.code)


def _asked(request: TurnRequest) -> Query | None:
    """Return the query for ranking passages, as far as it is known before the tree has grown; None
    if the answer does not depend on one."""
    posted, previous, blocks = request.posted, request.previous, request.blocks()
    if previous and blocks is not None and not _ended(request, previous, blocks):
        if request.again or recall_block.needless(posted):
            return None
        wants = recall_block.wants(posted)
        room = epoch.block_room(previous.epoch, posted, request.terms, blocks, wants)
        if room < recall_block.LEAST:
            return None
    return query_of(posted, request.ask.query)


def _ended(
    request: TurnRequest, previous: ContinuedTurn, sent: Mapping[int, EpochTurn]
) -> EpochReason | None:
    """Return why the epoch ends; None if it continues."""
    if not request.goes_behind_cut:
        return EpochReason.FIRST
    if request.now - previous.turn.used > request.ask.prices.lifetime:
        return EpochReason.IDLE
    posted, terms = request.posted, request.terms
    blocks = sum(turn.block_tokens for turn in sent.values())
    if request.again:
        goes_on = epoch.fits(previous.epoch, posted, terms, blocks)
        return None if goes_on else EpochReason.FULL
    if not epoch.serves(previous.epoch, posted, terms, sent, _wants(posted)):
        return EpochReason.QUESTION
    mark = epoch.mark_of(posted, request.ask.dialect)
    stays = epoch.stays(previous.epoch, posted, terms, blocks, mark)
    return None if stays else EpochReason.FULL


def _shown(
    turn: EpochTurn,
) -> tuple[bytes, RecallPlan, tuple[int, ...], tuple[MemoryVersion, ...]]:
    """Return the parts of a turn that determine its bytes."""
    return turn.epoch, turn.recall.sent, turn.recalled, turn.memories


def _wants(posted: History) -> bool:
    """Return True if the newest message is a user's and asks for something."""
    return not recall_block.needless(posted) and recall_block.wants(posted)


class FreshAnswers:
    def __init__(
        self, indexing: Indexing, retriever: Retriever, clock: Clock, keeper: Keeper
    ) -> None:
        self._clock, self._keeper = clock, keeper
        self._indexing, self._retriever = indexing, retriever

    async def answer(
        self,
        request: TurnRequest,
        index: IndexState,
        early: EarlyVectors | None = None,
    ) -> CompressResult:
        """Unfold the tree for the present question; without a whole tree, cut the older rounds in
        the middle."""
        posted, ask, limits = request.posted, request.ask, request.limits
        fixed = request.fixed + request.carried
        packed = packing.pack(posted, limits, fixed)
        if not packed.memory:
            answer = assembled(posted, ask, State.NO_ROOM, AnswerLayout(packed.cut))
            return CompressResult(with_index(answer, index), None, index)
        packed = await self._keeper.packed(request, packed, fixed)
        lines, packed = kept_parts.in_memory_message(ask.memories, packed, self._clock.now())
        if index.whole:
            newest = await self._indexing.newest(posted, index)
            retrieved = await self._retriever.unfolded(
                posted, newest, packed, ask.query, limits.target, early=early
            )
        else:
            newest, retrieved = index, RetrievedContext(_decayed(posted, packed, index))
        unfolding = retrieved.unfolding
        shown = [line.memory for line in lines]
        text = kept_parts.beside(unfolding.text, shown, kept_parts.by_memory(lines))
        size = unfolding.tokens + packed.beside + kept_parts.size(lines)
        layout = AnswerLayout(packed.cut, text, size, head=packed.head, pinned=packed.pinned)
        with tracing.step("pack"):
            answer = replace(
                assembled(posted, ask, newest.state(by_words=retrieved.by_words), layout),
                outline_tokens=unfolding.outline_tokens,
                excerpts=len(unfolding.plan.excerpts),
                memories=memory_lines.memory_ids(shown),
            )
        evidence = Evidence(
            posted,
            unfolding.plan,
            newest.all_nodes,
            unfolding.chosen,
            unfolding.left_out,
            retrieved.passages,
        )
        return CompressResult(with_index(answer, newest), evidence, index)


def _decayed(posted: History, packed: packing.Packed, index: IndexState) -> Unfolding:
    """Cut the older rounds in the middle, because no whole tree was ready in time."""
    budget = packed.memory - MESSAGE_OVERHEAD
    window = FoldWindow(packed.cut, budget, packed.head, pinned=packed.pinned)
    ask = asked_message(posted, packed.cut)
    folded = ask is not None and window.folds(ask)
    shown = ask_excerpt(posted, ask, packed.ask) if ask is not None and folded else []
    chosen = [choice.span for choice in shown]
    share = float(budget - packed.kept.tokens)
    while True:
        first = max(packed.head, index.frontier.messages)
        spans = packing.decay(posted, first, packed.cut, int(share))
        older = [span for span in spans if window.folds(span.message)]
        quoted = tuple(merge((*chosen, *older)))
        plan = Plan(
            packed.cut,
            excerpts=quoted,
            head=packed.head,
            pinned=packed.pinned,
            kept=packed.kept,
        )
        text = render(plan, posted, {})
        size = tokens.count(text)
        if size <= budget or not older:
            return Unfolding(plan, text, size, 0)
        share *= min(0.9, budget / size)  # labels and ellipsis marks are not part of the shares

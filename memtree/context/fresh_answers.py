"""Answers for the present request alone: mode `fresh`, and cases that epochs cannot handle."""

from __future__ import annotations

from dataclasses import replace

from memtree.budget import packing
from memtree.context import injected_memories
from memtree.context.answer import AnswerLayout, CompressResult, assembled, with_index
from memtree.context.answer_state import State
from memtree.context.index_state import IndexState
from memtree.context.indexing_indexing import Indexing
from memtree.context.kept_parts import Keeper
from memtree.context.retrieval import EarlyVectors, RetrievedContext, Retriever
from memtree.context.turn_request import TurnRequest
from memtree.history.chat_history import History
from memtree.history.message import MESSAGE_OVERHEAD
from memtree.ports.clock import Clock
from memtree.process import tracing
from memtree.text import memory_lines, tokens
from memtree.unfolding.explain import Evidence
from memtree.unfolding.memory_message_memory_text import render
from memtree.unfolding.memory_plan import FoldWindow, Plan, merge
from memtree.unfolding.pinned_pins import ask_excerpt, asked_message
from memtree.unfolding.unfold import Unfolding


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
        lines, packed = injected_memories.in_memory_message(ask.memories, packed, self._clock.now())
        if index.whole:
            newest = await self._indexing.newest(posted, index)
            retrieved = await self._retriever.unfolded(
                posted, newest, packed, ask.query, limits.target, early=early
            )
        else:
            newest, retrieved = index, RetrievedContext(_decayed(posted, packed, index))
        unfolding = retrieved.unfolding
        shown = [line.memory for line in lines]
        text = injected_memories.beside(unfolding.text, shown, injected_memories.by_memory(lines))
        size = unfolding.tokens + packed.beside + injected_memories.size(lines)
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
